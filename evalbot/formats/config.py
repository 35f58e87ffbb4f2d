"""evalbot.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalbot.domain.settings import (
    Config,
    Electricity,
    EndpointSettings,
    HardwareSettings,
    JudgeSettings,
    Thinking,
)
from evalbot.errors import NotFoundError
from evalbot.formats.fields import (
    ABOVE_ZERO,
    COUNT,
    COUNT_OR_ZERO,
    NOT_NEGATIVE,
    Fields,
    check_unique,
    root_fields,
)
from evalbot.formats.problems import Problems, one_of, shown
from evalbot.formats.sampling import read_extra_body, read_sampling
from evalbot.formats.secrets import is_variable_name
from evalbot.formats.textfile import read_text
from evalbot.formats.urls import Unfit, http_url, resolve_database
from evalbot.formats.yaml_tree import parse_yaml

ENDPOINT = EndpointSettings(name="", base_url="")
JUDGE = JudgeSettings(name="", model="")
PANEL = "panel"


def read_config(path: Path) -> Config:
    """Read evalbot.yaml. Raises NotFoundError, and ProblemsError with everything that is wrong."""
    if not path.exists():
        raise NotFoundError(f"there is no {path}; `evalbot init` writes one")
    problems = Problems()
    text = read_text(path, path.name, problems)
    problems.raise_if_any()
    return parse_config(text or "", path.parent, path.name)


def parse_config(text: str, folder: Path, place: str = "evalbot.yaml") -> Config:
    """What a config's text says; folder is where it lies, place its name in problems."""
    problems = Problems()
    fields = root_fields(parse_yaml(text, place, problems), place, problems)
    hardware = tuple(
        _hardware(name, inner) for name, inner in fields.named_mappings("hardware").items()
    )
    for box in hardware:
        if not box.name.strip() or "," in box.name:
            found, expected = f"a machine called {shown(box.name)}", "a name without commas"
            fields.fault("hardware", found, expected)
    endpoints, judges = fields.mappings("endpoints"), fields.mappings("judges")
    config = Config(
        folder=folder,
        database=_database(fields, folder),
        endpoints=tuple(_endpoint(inner, [box.name for box in hardware]) for inner in endpoints),
        judges=tuple(_judge(inner) for inner in judges),
        hardware=hardware,
        electricity=_electricity(fields),
    )
    fields.finish()
    check_unique(endpoints, "name", [one.name for one in config.endpoints])
    check_unique(judges, "name", [one.name for one in config.judges])
    problems.raise_if_any()
    return config


JUDGES_OWN_KEYS = frozenset(
    {"model", "messages", "stream", "stream_options", "n", "tools", "tool_choice", "functions",
     "response_format", "api_key", "api_base", "base_url", "timeout", "num_retries", "max_retries"}
)  # fmt: skip
"""What a judge's calls set by themselves."""


def _database(fields: Fields, folder: Path) -> str:
    text = fields.optional_text("database") or Config(folder).database
    try:
        return resolve_database(text, folder)
    except Unfit as unfit:
        fields.fault("database", unfit.found, unfit.expected)
        return text


def _endpoint(fields: Fields, hardware: list[str]) -> EndpointSettings:
    name = fields.model_name("name")
    settings = EndpointSettings(
        name=name,
        base_url=_url(fields, "base_url", required=True) or "",
        model=fields.optional_text("model"),
        family=fields.optional_text("family"),
        quantisation=fields.optional_text("quantisation"),
        hardware=_hardware_name(fields, hardware),
        group=fields.optional_text("group"),
        start=fields.arguments("start"),
        stop=fields.arguments("stop"),
        api_key_env=_variable(fields),
        sampling=read_sampling(fields),
        thinking=Thinking(fields.choice("thinking", list(Thinking), ENDPOINT.thinking)),
        extra_body=read_extra_body(fields),
        concurrency=fields.integer("concurrency", COUNT),
        timeout_s=fields.number("timeout_s", ABOVE_ZERO, ENDPOINT.timeout_s),
        retries=fields.integer("retries", COUNT_OR_ZERO, ENDPOINT.retries),
    )
    fields.finish()
    return settings


def _judge(fields: Fields) -> JudgeSettings:
    name = fields.listed_name()
    if "#" in name or name == PANEL:
        fields.fault("name", shown(name), f"a name without # that is not {PANEL!r}")
    settings = JudgeSettings(
        name=name,
        model=fields.text("model", "a litellm model name, e.g. anthropic/some-model"),
        family=fields.optional_text("family"),
        api_base=_url(fields, "api_base"),
        api_key_env=_variable(fields),
        votes=fields.integer("votes", COUNT, JUDGE.votes),
        concurrency=fields.integer("concurrency", COUNT, JUDGE.concurrency),
        timeout_s=fields.number("timeout_s", ABOVE_ZERO, JUDGE.timeout_s),
        retries=fields.integer("retries", COUNT_OR_ZERO, JUDGE.retries),
        sampling=read_sampling(fields),
        price=_price(fields),
    )
    if settings.api_base is not None and settings.model and "/" not in settings.model:
        expected = f"openai/{settings.model}: how the server at api_base is spoken to, and a name"
        fields.fault("model", shown(settings.model), expected)
    for key in JUDGES_OWN_KEYS & settings.sampling.keys():
        fields.fault(f"sampling.{key}", "a parameter of evalbot's own", "sampling parameters only")
    fields.finish()
    return settings


def _hardware(name: str, fields: Fields) -> HardwareSettings:
    settings = HardwareSettings(
        name=name,
        devices=fields.texts("devices"),
        price=fields.number("price", ABOVE_ZERO),
        currency=fields.optional_text("currency"),
        watts=fields.number("watts", ABOVE_ZERO),
        lifetime_hours=fields.number("lifetime_hours", ABOVE_ZERO),
        telemetry=fields.arguments("telemetry"),
    )
    fields.finish()
    return settings


def _electricity(fields: Fields) -> Electricity | None:
    inner = fields.mapping("electricity")
    if inner is None:
        return None
    inner.require("price_per_kwh", NOT_NEGATIVE.words)
    settings = Electricity(
        price_per_kwh=inner.number("price_per_kwh", NOT_NEGATIVE, 0.0),
        currency=inner.text("currency", "a currency, e.g. EUR"),
    )
    inner.finish()
    return settings


def _price(fields: Fields) -> dict[str, Any] | None:
    inner = fields.mapping("price")
    if inner is None:
        return None
    for key in ("input", "output"):
        inner.require(key, "USD per million tokens")
    price = {key: inner.number(key, NOT_NEGATIVE, 0.0) for key in ("input", "output")}
    inner.finish()
    return price


def _url(fields: Fields, name: str, *, required: bool = False) -> str | None:
    text = fields.text(name, "an address") if required else fields.optional_text(name)
    if not text:
        return None
    try:
        return http_url(text)
    except Unfit as unfit:
        fields.fault(name, unfit.found, unfit.expected)
        return None


def _variable(fields: Fields) -> str | None:
    name = fields.optional_text("api_key_env")
    if name is not None and not is_variable_name(name):
        expected = "an environment variable's name such as MY_KEY, never the key itself"
        fields.fault("api_key_env", "something that is no variable name", expected)
    return name


def _hardware_name(fields: Fields, known: list[str]) -> str | None:
    name = fields.optional_text("hardware")
    if name is not None and name not in known:
        expected = one_of(known, name) if known else "a name that stands under hardware"
        fields.fault("hardware", shown(name), expected)
    return name
