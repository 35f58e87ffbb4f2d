"""A judge through litellm on a real llama.cpp server, by the OpenAI and the Anthropic route."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from evalbot.domain.cases import Case
from evalbot.domain.settings import JudgeSettings
from evalbot.formats.catalogue import find_rubric, find_suite, shipped_folder
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.judging.asking import Judgement, judge_answer
from evalbot.judging.prompt import judge_sheet
from evalbot.providers.litellm_provider import LitellmProvider

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def judged(model: str, api_base: str, max_tokens: int) -> Judgement:
    suite = read_suite(find_suite("demo", shipped_folder()))
    rubric = read_rubric(find_rubric(suite.rubric, shipped_folder()))
    case = Case("sky", "What colour is a clear sky?", references=("blue",))
    prompt = judge_sheet(rubric, replace(suite, cases=(case,)), case).prompt("It is blue.")
    provider = LitellmProvider(JudgeSettings("small", model, api_base=api_base, retries=0))
    sampling = {"temperature": 0, "max_tokens": max_tokens}
    return asyncio.run(judge_answer(provider, prompt, "It is blue.", sampling))


def test_a_grammar_holds_a_small_judge_to_the_scale(smollm2: str) -> None:
    done = judged("openai/smollm2", smollm2, 120)
    assert done.params["response_format"] == "json_schema"
    assert done.reading.verdict in ("correct", "wrong") or (
        done.reading.unscored_reason == "judge_truncated"
    )
    assert (done.usage.prompt_tokens or 0) > 100


def test_prose_from_a_small_judge_is_unscored_with_its_words(smollm2: str) -> None:
    """On this route llama.cpp does not enforce the form of the reply."""
    done = judged("anthropic/smollm2", smollm2.removesuffix("/v1"), 24)
    assert done.raw
    assert (done.reading.verdict is None) != (done.reading.unscored_reason is None)
    if done.reading.unscored_reason is not None:
        assert done.reading.unscored_reason.startswith("judge_")
