"""What the server is called: which Host and Origin a request may name, and who may forward it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from evalbot.errors import InputError

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
FORWARDED = frozenset(
    {
        "cf-connecting-ip",
        "forwarded",
        "true-client-ip",
        "via",
        "x-client-ip",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-port",
        "x-forwarded-prefix",
        "x-forwarded-proto",
        "x-forwarded-scheme",
        "x-forwarded-server",
        "x-real-ip",
    }
)
"""Headers that a proxy adds; a browser never sends them."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens and what it is called.

    public_url: as browsers know it where that differs, e.g. behind a proxy. trusted_proxies:
    peers whose forwarded requests are taken.
    """

    host: str
    port: int
    public_url: str | None = None
    trusted_proxies: tuple[str, ...] = ()

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it, as far as we were told."""
        return is_loopback(self.host) and self.public_url is None

    @property
    def url(self) -> str:
        """What to type into a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What a request's Host may say."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def origins(self) -> frozenset[str]:
        """Where a request's page may come from."""
        names = [f"[{self.host}]" if ":" in self.host else self.host]
        if is_loopback(self.host):
            names += LOOPBACK_NAMES
        found = {_origin("http", name, self.port) for name in names}
        if self.public_url is not None:
            parts = urlsplit(self.public_url)
            found.add(_origin(parts.scheme, parts.hostname or "", parts.port))
        return frozenset(found)

    def is_forwarded_unasked(self, headers: Iterable[str], peer: str | None) -> bool:
        """Whether a request came through a proxy that we were not told of."""
        return bool(FORWARDED & set(headers)) and peer not in self.trusted_proxies


def is_loopback(host: str) -> bool:
    """Whether this names the machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def checked_address(
    host: str, port: int, public_url: str | None, trusted_proxies: tuple[str, ...]
) -> Address:
    """The address; InputError where it cannot be told what requests will call us."""
    if public_url is not None:
        parts = urlsplit(public_url)
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or parts.path not in ("", "/")
        ):
            raise InputError(
                f"--public-url: found {public_url!r}; expected the address that browsers use, "
                "such as https://evalbot.example.org"
            )
        public_url = public_url.rstrip("/")
    if host in ("0.0.0.0", "::", "") and public_url is None:
        raise InputError(
            f"--host {host}: every address of this machine; add --public-url, the address that "
            "browsers will use, so that requests made for others are told apart"
        )
    for proxy in trusted_proxies:
        try:
            ipaddress.ip_address(proxy)
        except ValueError:
            raise InputError(
                f"--trusted-proxy: found {proxy!r}; expected the proxy's IP address"
            ) from None
    return Address(host, port, public_url, trusted_proxies)


def _origin(scheme: str, host: str, port: int | None) -> str:
    usual = {"http": 80, "https": 443}.get(scheme)
    return f"{scheme}://{host}" if port in (None, usual) else f"{scheme}://{host}:{port}"
