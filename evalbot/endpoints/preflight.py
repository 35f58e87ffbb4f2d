"""What an endpoint is, before it is asked: reachable, which model, how much room.

llama.cpp's routes are tried and each is optional: any OpenAI-compatible server works
with what it offers.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any
from urllib.parse import quote

import aiohttp

from evalbot.domain.cases import Message
from evalbot.domain.endpoints import EndpointFacts, LoadedModel
from evalbot.domain.settings import EndpointSettings, Thinking
from evalbot.endpoints.counting import count_tokens
from evalbot.endpoints.request import root_url, without_key
from evalbot.endpoints.words import error_words
from evalbot.errors import EndpointError
from evalbot.fingerprint import fingerprint
from evalbot.formats.received import shorten

FAMILIES = (
    "qwen", "qwq", "llama", "gemma", "mistral", "mixtral", "phi", "glm", "gpt-oss", "gpt",
    "deepseek", "smollm", "granite", "falcon", "command", "yi", "internlm", "nemotron", "claude",
)  # fmt: skip
LONGEST_LOOK_S = 30.0
HEALTH_PAUSE_S = 0.5
NOT_IMPLEMENTED = 501
"""llama.cpp's reply for a route that was switched off."""
MOST_TOKENS = 2**31 - 1
_LOADING = "loading the model"


async def inspect(session: aiohttp.ClientSession, settings: EndpointSettings) -> EndpointFacts:
    """Look at an endpoint; raises EndpointError where it cannot be reached at all."""
    models, props = await _look(session, settings)
    models, props = models or {}, props or {}
    warnings: list[str] = []
    if not models and not props:
        warnings.append(
            "nothing at this address looks like a model server (neither models nor props); "
            "does base_url end in /v1?"
        )
    entry = _entry(models, settings, warnings)
    loaded = _loaded(entry, props, settings)
    slots = _whole(props.get("total_slots"))
    generation = props.get("default_generation_settings")
    context = _whole(generation.get("n_ctx")) if isinstance(generation, dict) else None
    context = context or _whole(entry.get("max_model_len"))
    template_tokens = await count_tokens(session, settings, [Message("user", "x")])
    switch = _thinking_switch(props)
    if settings.thinking is not Thinking.DEFAULT and switch is False:
        warnings.append(
            f"thinking is set to {settings.thinking}, but the model's chat template has no such "
            "switch; set thinking: default, or it may be ignored"
        )
    if context is not None and settings.max_tokens >= context:
        warnings.append(
            f"max_tokens {settings.max_tokens} is not below the context per slot ({context}): "
            "answers may fill it; lower sampling.max_tokens or give the server more context (-c)"
        )
    return EndpointFacts(
        loaded=loaded,
        slots=slots,
        slot_context=context,
        template_tokens=template_tokens,
        can_count=template_tokens is not None,
        thinking_switch=switch,
        warnings=tuple(warnings),
    )


async def loaded_model(session: aiohttp.ClientSession, settings: EndpointSettings) -> LoadedModel:
    """Which model the server holds now; raises EndpointError where it does not say."""
    models, props = await _look(session, settings)
    if models is None or props is None:
        raise EndpointError(f"endpoint {settings.name}: the server does not tell its model now")
    return _loaded(_entry(models, settings, []), props, settings)


async def is_answering(session: aiohttp.ClientSession, settings: EndpointSettings) -> bool:
    """Whether anybody is at the endpoint's address, ready or not."""
    limit = aiohttp.ClientTimeout(total=min(LONGEST_LOOK_S, settings.timeout_s))
    try:
        async with session.get(root_url(settings) + "/health", timeout=limit):
            return True
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False


async def wait_until_healthy(
    session: aiohttp.ClientSession,
    settings: EndpointSettings,
    longest_s: float,
    *,
    starting: bool,
) -> None:
    """Wait for a server that loads its model, and with `starting` for one that is not up yet.

    Raises EndpointError when time is up, or at once where nobody is there to wait for.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + longest_s
    while True:
        state = await _health(session, settings)
        if state is None:
            return
        if loop.time() >= deadline or not (starting or state is _LOADING):
            raise EndpointError(
                f"endpoint {settings.name}: the server is not ready ({state}); "
                "is it running? Its own log may tell more"
            )
        await asyncio.sleep(HEALTH_PAUSE_S)


async def _health(session: aiohttp.ClientSession, settings: EndpointSettings) -> str | None:
    """None when the server is ready, else why not. Without /health, a reply is enough."""
    limit = aiohttp.ClientTimeout(total=min(LONGEST_LOOK_S, settings.timeout_s))
    try:
        async with session.get(root_url(settings) + "/health", timeout=limit) as reply:
            if reply.status == 503:
                return _LOADING
            return f"HTTP {reply.status}" if reply.status >= 500 else None
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return error_words(error)


async def _look(
    session: aiohttp.ClientSession, settings: EndpointSettings
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """What the server says of its models and of itself, as `_get` gives it."""
    models = await _get(session, settings, settings.base_url.rstrip("/") + "/models")
    return models, await _get(session, settings, _props_url(settings))


async def _get(
    session: aiohttp.ClientSession, settings: EndpointSettings, url: str
) -> dict[str, Any] | None:
    """A route's JSON object; empty where there is no such route, None where it fails just now."""
    limit = aiohttp.ClientTimeout(total=min(LONGEST_LOOK_S, settings.timeout_s))
    try:
        async with session.get(url, timeout=limit) as reply:
            if reply.status in (401, 403):
                raise EndpointError(
                    f"endpoint {settings.name}: the server refused the key (HTTP {reply.status}); "
                    "check api_key_env",
                    "http",
                )
            if reply.status == 503:
                raise EndpointError(
                    f"endpoint {settings.name}: the server is not ready (HTTP 503, loading the "
                    "model?); try again when it is",
                    "http",
                )
            if reply.status == 429 or (reply.status >= 500 and reply.status != NOT_IMPLEMENTED):
                return None
            if reply.status != 200:
                return {}
            value = await reply.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        words = error_words(error)
        raise EndpointError(
            f"endpoint {settings.name}: no connection to its base_url ({words}); "
            "is the server running?"
        ) from error
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _props_url(settings: EndpointSettings) -> str:
    query = f"?model={quote(settings.model)}" if settings.model else ""
    return f"{root_url(settings)}/props{query}"


def _entry(
    models: dict[str, Any], settings: EndpointSettings, warnings: list[str]
) -> dict[str, Any]:
    """The served model that requests will reach, of those the server lists."""
    listed = models.get("data")
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    names = [str(one.get("id", "")) for one in entries]
    for one in entries:
        if settings.model is not None and settings.model in (one.get("id"), *_aliases(one)):
            return one
    if len(entries) == 1:
        if settings.model is not None:
            warnings.append(f"the server calls its model {names[0]!r}, not {settings.model!r}")
        return entries[0]
    if len(entries) > 1:
        raise EndpointError(
            f"endpoint {settings.name}: the server has several models and none is "
            f"{settings.model!r}; set model to one of: {', '.join(names[:20])}",
            "http",
        )
    return {}


def _aliases(entry: dict[str, Any]) -> list[Any]:
    aliases = entry.get("aliases")
    return aliases if isinstance(aliases, list) else []


def _loaded(
    entry: dict[str, Any], props: dict[str, Any], settings: EndpointSettings
) -> LoadedModel:
    meta = entry.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    path = re.split(r"[\\/]", str(props.get("model_path") or ""))[-1]
    name = str(entry.get("id") or path or settings.model or "unknown")
    name = shorten(without_key(name, settings))
    ftype = meta.get("ftype") or props.get("model_ftype")
    identity = {
        "id": name,
        "file": path,
        "ftype": ftype,
        "meta": {key: meta.get(key) for key in ("n_vocab", "n_embd", "n_params", "size")},
        "template": props.get("chat_template"),
    }
    words = f"{name} {path}".lower()
    return LoadedModel(
        id=name,
        fingerprint=fingerprint(identity),
        family=settings.family or next((one for one in FAMILIES if one in words), None),
        quantisation=settings.quantisation or (shorten(str(ftype)) if ftype else None),
        parameters=_positive(meta.get("n_params")),
        build=shorten(str(props["build_info"])) if props.get("build_info") else None,
    )


def _thinking_switch(props: dict[str, Any]) -> bool | None:
    template = props.get("chat_template")
    if not isinstance(template, str) or not template:
        return None
    return "enable_thinking" in template or "reasoning_effort" in template


def _whole(value: Any) -> int | None:
    number = _positive(value)
    return number if number is not None and number <= MOST_TOKENS else None


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
