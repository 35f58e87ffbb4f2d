"""What the server is called, and by whom requests may be passed on."""

from __future__ import annotations

import pytest

from evalbot.errors import InputError
from evalbot.ui.address import Address, checked_address


@pytest.mark.parametrize(
    ("address", "origins"),
    [
        (Address("127.0.0.1", 7860),
         {"http://127.0.0.1:7860", "http://localhost:7860", "http://[::1]:7860"}),
        (Address("192.168.1.5", 80), {"http://192.168.1.5"}),
        (Address("::1", 7860),
         {"http://[::1]:7860", "http://127.0.0.1:7860", "http://localhost:7860"}),
        (Address("0.0.0.0", 7860, "https://eval.example.org"),
         {"http://0.0.0.0:7860", "https://eval.example.org"}),
        (Address("10.0.0.1", 7860, "https://eval.example.org:8443"),
         {"http://10.0.0.1:7860", "https://eval.example.org:8443"}),
    ],
)  # fmt: skip
def test_where_pages_may_come_from(address: Address, origins: set[str]) -> None:
    assert address.origins == origins
    assert address.hosts == {origin.split("//")[1] for origin in origins}


@pytest.mark.parametrize(
    ("address", "is_loopback"),
    [
        (Address("127.0.0.1", 1), True), (Address("127.8.8.8", 1), True),
        (Address("localhost", 1), True), (Address("::1", 1), True), (Address("[::1]", 1), True),
        (Address("0.0.0.0", 1), False), (Address("192.168.1.5", 1), False),
        (Address("example.org", 1), False),
        (Address("127.0.0.1", 1, "https://eval.example.org"), False),
    ],
)  # fmt: skip
def test_who_can_reach_it(address: Address, is_loopback: bool) -> None:
    assert address.is_loopback is is_loopback


@pytest.mark.parametrize(
    "public_url", ["eval.example.org", "ftp://x", "https://", "https://x/evalbot", "https:x"]
)
def test_a_public_url_that_is_none_is_refused(public_url: str) -> None:
    with pytest.raises(InputError, match="expected the address that browsers use"):
        checked_address("127.0.0.1", 1, public_url, ())


def test_a_proxy_must_be_named() -> None:
    address = Address("127.0.0.1", 1)
    assert address.is_forwarded_unasked({"x-forwarded-for": "1"}, "10.0.0.1")
    assert not address.is_forwarded_unasked({"host": "1"}, "10.0.0.1")
    told = checked_address("127.0.0.1", 1, "https://eval.example.org/", ("10.0.0.1",))
    assert not told.is_forwarded_unasked({"forwarded": "1"}, "10.0.0.1")
    assert told.is_forwarded_unasked({"forwarded": "1"}, None)
    assert told.public_url == "https://eval.example.org"
