"""What the words of a failed speed test say."""

from __future__ import annotations

import re

from evalbot.domain.speed import SpeedStatus

# As CUDA, ROCm/HIP, Vulkan, Metal, ggml, PyTorch and people write it.
OUT_OF_MEMORY = re.compile(
    r"\boom\b|out[ _-]?of[ _-]?((device|host)[ _-]?)?memory|insufficient memory"
    r"|(failed|unable) to allocate|cannot allocate memory|bad_alloc"
    r"|memory allocation of size \d+ failed",
    re.IGNORECASE,
)
DEVICE_LOST = re.compile(r"device[ _-]?(is )?lost", re.IGNORECASE)
CONTEXT_OVERFLOW = re.compile(
    r"context[ _-]?(length |size |window )?_?(exceed|overflow)|maximum context length"
    r"|exceed\w* (the )?(available |maximum )?context",
    re.IGNORECASE,
)
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
NOT_TEXT = re.compile("[\x00-\x20\x7f\x85\u2028\u2029\ud800-\udfff]+")
LONGEST_WORDS = 200


def status_of(words: str) -> SpeedStatus:
    """What a failure's words say: oom, device_lost, context_overflow, or else only failed."""
    if OUT_OF_MEMORY.search(words):
        return SpeedStatus.OOM
    if DEVICE_LOST.search(words):
        return SpeedStatus.DEVICE_LOST
    if CONTEXT_OVERFLOW.search(words):
        return SpeedStatus.CONTEXT_OVERFLOW
    return SpeedStatus.FAILED


def one_line(words: str, longest: int = LONGEST_WORDS) -> str:
    """The words on one line, without colour codes and control characters, cut short."""
    line = NOT_TEXT.sub(" ", COLOURS.sub("", words)).strip()
    return line if len(line) <= longest else line[:longest] + "…"


def last_part(path: str) -> str:
    """The last part of a path or of a name such as org/model; "" where there is none."""
    return re.split(r"[\\/]", path.rstrip("\\/ "))[-1]
