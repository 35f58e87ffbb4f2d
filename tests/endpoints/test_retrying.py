from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.answers import Retry
from evalbot.endpoints.outcome import Failure
from evalbot.endpoints.retrying import RetryPolicy

POLICY = RetryPolicy(retries=2, first_pause_s=1.0, longest_pause_s=100.0)
ONCE = [Retry(S.CONNECTION, "x", 1.0)]
REFUSED = Failure(S.CONNECTION, "refused")


def http(status: int, retry_after_s: float | None = None) -> Failure:
    return Failure(S.HTTP, "x", status, retry_after_s)


@pytest.mark.parametrize("failure", [REFUSED, http(429), http(503)])
def test_connection_errors_and_busy_servers_are_tried_again_with_growing_pauses(
    failure: Failure,
) -> None:
    assert [POLICY.pause(failure, ONCE * n) for n in range(4)] == [1.0, 2.0, None, None]


@pytest.mark.parametrize(
    "failure",
    [
        *(http(status) for status in (400, 401, 403, 404, 408, 500, 502, 504)),
        *(Failure(status, "x") for status in S if status is not S.CONNECTION),
        Failure(S.SERVER_ERROR, "x", 503),
    ],
)
def test_nothing_else_is(failure: Failure) -> None:
    assert POLICY.pause(failure, []) is None


def test_a_context_that_slots_share_is_tried_once_more() -> None:
    full = Failure(S.CONTEXT_OVERFLOW, "x", 500, shared_context=True)
    assert POLICY.pause(full, []) == 1.0
    assert POLICY.pause(full, [Retry(S.CONTEXT_OVERFLOW, "x", 1.0)]) is None
    assert RetryPolicy(retries=0).pause(full, []) is not None


def test_what_the_server_asks_to_wait_is_waited() -> None:
    assert POLICY.pause(http(429, 7.0), []) == 7.0
    assert POLICY.pause(http(429, 0.0), []) == 0.0


def test_a_server_that_asks_for_too_long_is_not_waited_for() -> None:
    assert POLICY.pause(http(429, 100.5), []) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), (" 1.5 ", 1.5), ("-3", 0.0), ("0", 0.0), ("", None), ("soon", None)],
)
def test_retry_after_as_a_number(value: str, seconds: float | None) -> None:
    assert RetryPolicy.asked_pause({"Retry-After": value}) == seconds


def test_retry_after_as_a_date() -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    pause = RetryPolicy.asked_pause({"Retry-After": format_datetime(later, usegmt=True)})
    assert pause is not None
    assert 3500 < pause <= 3600
    assert RetryPolicy.asked_pause({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert RetryPolicy.asked_pause({"Retry-After": "Wed, 21 Oct 2015 07:28:00 -0000"}) == 0.0


def test_no_header_asks_for_nothing() -> None:
    assert RetryPolicy.asked_pause({}) is None


@given(st.text(max_size=40))
def test_any_header_is_read_without_a_fault(value: str) -> None:
    pause = RetryPolicy.asked_pause({"Retry-After": value})
    assert pause is None or pause >= 0
