"""The published results of the alternative annotator test, over the folder EVALBOT_REFERENCE."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalbot.stats.alt_test import alt_test

pytestmark = pytest.mark.reference

PUBLISHED = {
    "wax": {
        "gemini_flash": (0.38, 0.69),
        "gemini_pro": (0.50, 0.74),
        "gpt-4o": (0.50, 0.73),
        "llama-31": (0.00, 0.57),
        "gpt-4o-mini": (0.00, 0.59),
        "mistral-v03": (0.00, 0.50),
    },
    "mtbench": {
        "gemini_flash": (0.00, 0.72),
        "gemini_pro": (0.00, 0.76),
        "gpt-4o": (0.00, 0.77),
        "llama-31": (0.00, 0.69),
        "gpt-4o-mini": (0.00, 0.74),
        "mistral-v03": (0.00, 0.68),
    },
}


@pytest.mark.parametrize(("data", "epsilon"), [("wax", 0.1), ("mtbench", 0.2)])
def test_published_winning_rates_and_advantage_probabilities(data: str, epsilon: float) -> None:
    folder = Path(os.environ["EVALBOT_REFERENCE"]) / "agreement" / data
    humans = json.loads((folder / "human_annotations.json").read_text("utf-8"))
    judges = json.loads((folder / "llm_annotations.json").read_text("utf-8"))
    found = {}
    for name, judge in judges.items():
        test = alt_test(humans, judge, epsilon=epsilon, score="accuracy")
        assert test.winning_rate is not None
        assert test.advantage_probability is not None
        found[name] = (round(test.winning_rate, 2), round(test.advantage_probability, 2))
    assert found == PUBLISHED[data]
