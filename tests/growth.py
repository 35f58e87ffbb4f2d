"""How a cost grows with what is worked on: the same on every machine, however slow or busy."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMES = 8
ATTEMPTS = 3


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times as long `work` takes for `TIMES` times the size: about `TIMES` where its cost
    is linear, and `TIMES` squared where it is quadratic."""
    return _least_s(work, TIMES * size) / _least_s(work, size)


def grows_with_its_size(work: Callable[[int], object], size: int) -> bool:
    """Whether the cost is about linear: nearer to it than to quadratic, by their geometric mean."""
    return growth(work, size) < TIMES**1.5


def _least_s(work: Callable[[int], object], size: int) -> float:
    """Seconds of processor time of the best attempt: what a busy machine adds is left out."""
    attempts = []
    for _ in range(ATTEMPTS):
        begin = time.process_time()
        work(size)
        attempts.append(time.process_time() - begin)
    return min(attempts)
