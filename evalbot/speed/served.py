"""What an endpoint serves, and whether that is still the same."""

from __future__ import annotations

from typing import NamedTuple

from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.runs import RunEndpoint
from evalbot.formats.words import count


class Served(NamedTuple):
    """What must stay the same for rounds to be of one sweep."""

    fingerprint: str | None
    model: str | None
    slots: int | None
    slot_context: int | None

    @classmethod
    def of_facts(cls, facts: EndpointFacts) -> Served:
        """As a look at the endpoint found it."""
        return cls(facts.loaded.fingerprint, facts.loaded.id, facts.slots, facts.slot_context)

    @classmethod
    def recorded(cls, endpoint: RunEndpoint) -> Served | None:
        """As it was found before; None where nobody has looked yet."""
        if endpoint.model_fingerprint is None:
            return None
        return cls(
            endpoint.model_fingerprint, endpoint.model_id, endpoint.slots, endpoint.slot_context
        )

    def __str__(self) -> str:
        parts = [str(self.model)]
        if self.slots is not None:
            parts.append(count(self.slots, "slot"))
        if self.slot_context is not None:
            parts.append(f"{self.slot_context} tokens each")
        return ", ".join(parts)


def changed(before: Served, now: Served) -> str | None:
    """What is not the same any more, in words; what one of them does not tell is no change."""
    if before.fingerprint != now.fingerprint:
        return "the loaded model"
    pairs = ((before.slots, now.slots), (before.slot_context, now.slot_context))
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return "the number of slots or their context"
    return None
