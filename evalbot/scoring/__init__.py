"""Scoring without a model: thinking and wrappers taken off, texts folded, bands applied."""

from evalbot.scoring.chrf import chrf
from evalbot.scoring.scorer import SCORERS, Scorer
from evalbot.scoring.thinking import Split, split_thinking
from evalbot.scoring.wrapper import Unwrapped, unwrap

__all__ = ["SCORERS", "Scorer", "Split", "Unwrapped", "chrf", "split_thinking", "unwrap"]
