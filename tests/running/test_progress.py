from __future__ import annotations

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.running.progress import EndpointProgress, Progress


def test_answers_are_counted_by_how_they_ended() -> None:
    progress = EndpointProgress("e", total=5)
    for status in (S.OK, S.TIMEOUT, S.OK):
        progress.answered(status)
    assert (progress.done, progress.failures) == (3, 1)
    assert progress.statuses == {S.OK: 2, S.TIMEOUT: 1}


@pytest.mark.parametrize("count", [0, 1])
def test_before_two_answers_no_rate_is_told(count: int) -> None:
    progress = EndpointProgress("e", total=5)
    for _ in range(count):
        progress.answered(S.OK)
    assert (progress.per_second, progress.seconds_left) == (None, None)


def test_the_time_left_is_told_by_the_rate_of_late(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = EndpointProgress("e", total=9)
    with monkeypatch.context() as clock:
        for now in (10.0, 11.0, 12.0):
            clock.setattr("evalbot.running.progress.time.monotonic", lambda now=now: now)
            progress.answered(S.OK)
        assert (progress.per_second, progress.seconds_left) == (1.0, 6.0)
        clock.setattr("evalbot.running.progress.time.monotonic", lambda: 14.0)
        assert (progress.per_second, progress.seconds_left) == (0.5, 12.0)  # it has stalled


def test_each_message_is_kept_until_it_is_shown() -> None:
    progress = Progress("run r", "answers")
    progress.say("a")
    progress.say("b")
    assert [progress.messages.popleft(), *progress.messages] == ["a", "b"]
