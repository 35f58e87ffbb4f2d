"""What llama-bench's log lines say of models that failed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from evalbot.domain.speed import SpeedStatus
from evalbot.formats.speed_words import last_part, one_line, status_of

UNKNOWN_MODEL = "unknown model"

# llama-bench's own last words on a model: "main: error: failed to load model 'x.gguf'".
NAMED = re.compile(r"failed to (?:load model|create context with model),? +(['\"])(.+?)\1")
# With -v a crash that names no model comes after the line that says which one was loaded.
LOADED = re.compile(r"loaded meta data with .* tensors from (.+?) \(version ")
STARTED = re.compile(r"ggml_cuda_init: found|ggml_vulkan: Found|load_backend: loaded")
# After these no test of the same model comes.
FATAL = re.compile(
    r"error: failed to |failed to load model|terminate called|what\(\): |GGML_ASSERT"
    r"|\b(CUDA|ROCm|HIP|MUSA|SYCL|CANN) error\b|: fatal error\b"
    r"|Memory (access fault|critical error) by |HW Exception by GPU"
    r"|command buffer \d+ failed with status|failed to decode \w+ batch"
    r"|\b(Segmentation fault|Illegal instruction|Aborted|Abort trap|Killed)\b"
)
# Only slower, not failed: the memory is then taken without being pinned.
HARMLESS = re.compile(r"pinned memory", re.IGNORECASE)
FOLDERS = re.compile(r"(?<![\w.])([A-Za-z]:)?[\\/]([^\\/'\"\s:]+[\\/])+")
# What only llama.cpp's own log says: any other text may speak of memory too.
OWN_WORDS = re.compile(
    r"\b(ggml|llama|load|common|main)_?\w*: |ggml_|llama_|failed to (load model|create context)"
    r"|terminate called|GGML_ASSERT|print_info|(CUDA|ROCm|HIP|SYCL) error"
)
LONGEST_LINE = 2000


class LogLine(NamedTuple):
    """A line that is no result, with its number."""

    number: int
    text: str


class Failure(NamedTuple):
    """One failed model: where the log says so, what became of it and in which words."""

    line: int
    model: str
    status: SpeedStatus
    evidence: str


class _Trouble:
    """The failure lines that belong together, until it is known whose they are."""

    def __init__(self) -> None:
        self.lines: list[LogLine] = []
        self.fatal = False
        self.loaded: str | None = None

    def add(self, line: LogLine, fatal: bool) -> None:
        self.lines.append(line)
        self.fatal = self.fatal or fatal

    def close(self, model: str | None) -> Failure:
        """The failure; its words are the first that tell more than that something failed."""
        told = [(line, status_of(line.text)) for line in self.lines]
        first, status = next((one for one in told if one[1] is not SpeedStatus.FAILED), told[0])
        name = model or self.loaded or UNKNOWN_MODEL
        failure = Failure(self.lines[-1].number, name, status, _words(first.text))
        self.forget()
        self.loaded = None
        return failure

    def forget(self) -> None:
        """The run went on, so these lines were nobody's failure."""
        self.lines, self.fatal = [], False


def failures_in(log: Iterable[LogLine], results: Collection[int]) -> list[Failure]:
    """The failures that a log tells of, in its order.

    results: the numbers of lines that show a run at work: results and the last line of a
    finished run. An allocation that failed is no failure of the model when its run goes on.
    """
    found: list[Failure] = []
    trouble = _Trouble()
    marks = [LogLine(number, "") for number in results]
    for line in sorted([*log, *marks]):
        named = NAMED.search(line.text[:LONGEST_LINE])
        if line.number in results:
            if trouble.fatal:
                found.append(trouble.close(None))
            trouble.forget()
        elif named:
            trouble.add(line, True)
            found.append(trouble.close(stem(named[2])))
        else:
            found += _read(line, trouble)
    if trouble.lines:
        found.append(trouble.close(None))
    return found


def is_its_log(log: Iterable[LogLine]) -> bool:
    """Whether a file without any result is llama-bench's log all the same."""
    return any(OWN_WORDS.search(line.text[:LONGEST_LINE]) for line in log)


def each_once(failures: Sequence[Failure]) -> list[Failure]:
    """One failure a model, the first that tells why: a sweep meets it with every setting."""
    told: dict[tuple[str, ...], Failure] = {}
    for failure in failures:
        unknown = failure.model == UNKNOWN_MODEL
        key = (failure.model, failure.status, failure.evidence) if unknown else (failure.model,)
        before = told.get(key)
        if before is None:
            told[key] = failure
        elif before.status is SpeedStatus.FAILED and failure.status is not SpeedStatus.FAILED:
            told[key] = failure._replace(line=before.line)
    return list(told.values())


def stem(path: str) -> str:
    """A model file's name without folders and ending."""
    name = one_line(last_part(path))
    return re.sub(r"\.(gguf|ggml|bin)$", "", name, flags=re.IGNORECASE) or UNKNOWN_MODEL


def _read(line: LogLine, trouble: _Trouble) -> list[Failure]:
    """Take one line into the trouble; a new run's first line ends that of the run before."""
    text = line.text[:LONGEST_LINE]
    found = []
    if STARTED.search(text):
        found = [trouble.close(None)] if trouble.lines else []
        trouble.loaded = None
    loaded = LOADED.search(text)
    if loaded:
        trouble.loaded = stem(loaded[1])
    status = status_of(text)
    lost = status is SpeedStatus.DEVICE_LOST
    fatal = lost or FATAL.search(text) is not None
    if (fatal or status is SpeedStatus.OOM) and not HARMLESS.search(text):
        trouble.add(line, fatal)
    return found


def _words(text: str) -> str:
    """The line's words; whose folders a file lay in is nobody's business."""
    named = NAMED.search(text)
    if named:
        text = text.replace(named[2], last_part(named[2]))
    return one_line(FOLDERS.sub("", text[:LONGEST_LINE]))
