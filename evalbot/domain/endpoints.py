"""What is known of a served model before it is asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """The model a server says it holds; fingerprint changes when it holds another."""

    id: str
    fingerprint: str
    family: str | None = None
    quantisation: str | None = None
    parameters: int | None = None
    build: str | None = None


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """What a pre-flight found; None is unknown.

    slots: requests served at once. slot_context: tokens each of them may hold.
    template_tokens: tokens a one-letter chat takes, so what the template adds to a turn.
    can_count: the server counts the tokens of a chat.
    """

    loaded: LoadedModel
    slots: int | None = None
    slot_context: int | None = None
    template_tokens: int | None = None
    can_count: bool = False
    thinking_switch: bool | None = None
    warnings: tuple[str, ...] = ()
