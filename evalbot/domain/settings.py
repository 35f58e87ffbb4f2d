"""What evalbot.yaml says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from evalbot.fingerprint import fingerprint

DEFAULT_MAX_TOKENS = 2048
"""Always sent: without a limit a model may fill its context and drop the prompt (cases.md, C4)."""


class Thinking(StrEnum):
    """Whether the model is asked to think; default leaves it to the server."""

    OFF = "off"
    ON = "on"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """One served model with its settings; timeout_s is the longest silence allowed."""

    name: str
    base_url: str
    model: str | None = None
    family: str | None = None
    quantisation: str | None = None
    hardware: str | None = None
    group: str | None = None
    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    api_key_env: str | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    thinking: Thinking = Thinking.DEFAULT
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int | None = None
    timeout_s: float = 300.0
    retries: int = 2

    @property
    def max_tokens(self) -> int:
        """The token limit that is sent with every request."""
        return int(self.sampling.get("max_tokens", DEFAULT_MAX_TOKENS))

    def answer_settings(self) -> dict[str, Any]:
        """What decides the answers; where the server stands and how patient we are does not."""
        return {
            "name": self.name,
            "model": self.model,
            "sampling": {**self.sampling, "max_tokens": self.max_tokens},
            "thinking": str(self.thinking),
            "extra_body": dict(self.extra_body),
        }

    def fingerprint(self) -> str:
        """Changes when the endpoint would be asked in another way."""
        return fingerprint(self.answer_settings())


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """One judge model, by its litellm name; price in USD per million tokens."""

    name: str
    model: str
    family: str | None = None
    api_base: str | None = None
    api_key_env: str | None = None
    votes: int = 1
    concurrency: int = 8
    timeout_s: float = 120.0
    retries: int = 2
    sampling: Mapping[str, Any] = field(default_factory=dict)
    price: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class HardwareSettings:
    """A machine: its devices, what it costs, what it draws, how long it lasts."""

    name: str
    devices: tuple[str, ...] = ()
    price: float | None = None
    currency: str | None = None
    watts: float | None = None
    lifetime_hours: float | None = None
    telemetry: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Electricity:
    """What a kilowatt-hour costs."""

    price_per_kwh: float
    currency: str


@dataclass(frozen=True, slots=True)
class Config:
    """evalbot.yaml as read; folder is where it lies, and where suites and rubrics are looked up."""

    folder: Path
    database: str = "sqlite:///evalbot.db"
    endpoints: tuple[EndpointSettings, ...] = ()
    judges: tuple[JudgeSettings, ...] = ()
    hardware: tuple[HardwareSettings, ...] = ()
    electricity: Electricity | None = None
