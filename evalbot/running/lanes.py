"""Which endpoints are asked side by side, and which in turns."""

from __future__ import annotations

from collections.abc import Sequence

from evalbot.domain.settings import EndpointSettings


def lanes_of(endpoints: Sequence[EndpointSettings]) -> list[list[EndpointSettings]]:
    """Endpoints of one group in one lane, every other endpoint in its own."""
    lanes: dict[tuple[str, str], list[EndpointSettings]] = {}
    for endpoint in endpoints:
        key = ("group", endpoint.group) if endpoint.group else ("endpoint", endpoint.name)
        lanes.setdefault(key, []).append(endpoint)
    return list(lanes.values())
