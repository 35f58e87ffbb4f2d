"""A judge model through litellm."""

from __future__ import annotations

import asyncio
import os
import re
import time
import warnings
from collections.abc import Mapping
from typing import Any

from evalbot.domain.answers import Usage
from evalbot.domain.judging import (
    PER_PRICE,
    SCHEMA,
    JudgeRequest,
    Price,
    ProviderError,
    ProviderReply,
    portable,
)
from evalbot.domain.settings import JudgeSettings
from evalbot.errors import InputError
from evalbot.formats.received import clean_text

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
OWN_NAMES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?::| -) ?)+")
"""What litellm puts before a server's own words."""

TRACEBACK = "Traceback (most recent call last)"
UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError)
MOST_TOKENS = 10**9
LONGEST_DETAIL = 500
CACHES_WHAT_IS_MARKED = ("anthropic/",)
NO_KEY = "none"
"""For servers that ask for no key: litellm wants some word."""

# As OpenAI, Anthropic, llama.cpp and litellm itself say that they do not take a parameter.
REFUSED_PARAMETER = re.compile(
    r"(?:unsupported|unknown|unrecognized|invalid|not support(?:ed)?)\b.{0,60}?"
    r"\b(?P<name>temperature|top_p|top_k|seed|response_format|presence_penalty|frequency_penalty|"
    r"reasoning_effort|min_p)\b"
    r"|\b(?P<named>temperature|top_p|top_k|seed|response_format|presence_penalty|"
    r"frequency_penalty|reasoning_effort|min_p)\b.{0,60}?"
    r"\b(?:unsupported|not supported|not allowed|does not support|deprecated)\b",
    re.IGNORECASE | re.DOTALL,
)


class LitellmProvider:
    """One judge. Retries what another try can help: connections, limits, busy servers.

    price: by the config, else by litellm's list; None where neither tells.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._key = provider_key(settings)
        self._litellm = _quiet_litellm()
        self.price = priced(settings)

    async def complete(self, request: JudgeRequest) -> ProviderReply:
        """One reply; ProviderError where none comes after all retries."""
        tried = 0
        while True:
            began = time.perf_counter()
            try:
                reply = await self._litellm.acompletion(**self._arguments(request))
                return self._read(reply, time.perf_counter() - began)
            except Exception as error:  # litellm lets errors of every layer through
                if isinstance(error, self._litellm.exceptions.ContentPolicyViolationError):
                    return ProviderReply(self._words(error), "content_filter", refused=True)
                if not self._can_help(error) or tried >= self._settings.retries:
                    raise self._told(error) from error
                await asyncio.sleep(_pause(error, tried))
                tried += 1

    def _arguments(self, request: JudgeRequest) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._settings.model,
            "messages": [
                {"role": "system", "content": self._rules(request.rules)},
                {"role": "user", "content": request.question},
            ],
            "api_key": self._key,
            "timeout": self._settings.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            **request.sampling,
        }
        if self._settings.api_base is not None:
            arguments["api_base"] = self._settings.api_base
        if request.schema is not None:
            # A server of one's own holds a weak model to the letter of it.
            is_own = self._settings.api_base is not None
            schema = request.schema if is_own else portable(request.schema)
            form = {"name": "grade", "schema": schema, "strict": True}
            arguments[SCHEMA] = {"type": "json_schema", "json_schema": form}
        return arguments

    def _rules(self, rules: str) -> str | list[dict[str, Any]]:
        """Marked for the prompt cache where a provider wants that; others cache by themselves."""
        if not self._settings.model.startswith(CACHES_WHAT_IS_MARKED):
            return rules
        return [{"type": "text", "text": rules, "cache_control": {"type": "ephemeral"}}]

    def _can_help(self, error: Exception) -> bool:
        errors = self._litellm.exceptions
        return isinstance(
            error,
            (
                errors.APIConnectionError,
                errors.RateLimitError,
                errors.ServiceUnavailableError,
                errors.InternalServerError,
                errors.BadGatewayError,
                errors.Timeout,
            ),
        )

    def _told(self, error: Exception) -> ProviderError:
        words = self._words(error)
        is_refusal = isinstance(error, self._litellm.exceptions.BadRequestError)
        return ProviderError(
            words, refused_parameter(words) if is_refusal else None, is_about_request=is_refusal
        )

    def _words(self, error: Exception) -> str:
        words = str(error)
        if isinstance(error, UNREADABLE):
            words = f"the reply has another form than a chat's ({type(error).__name__}: {words})"
        return provider_words(words, self._key)

    def _read(self, reply: Any, seconds: float) -> ProviderReply:
        """Raises one of UNREADABLE where it is no reply of a chat."""
        choice = reply.choices[0]
        refusal = getattr(choice.message, "refusal", None)
        usage = _usage(getattr(reply, "usage", None))
        return ProviderReply(
            text=str(choice.message.content or refusal or ""),
            finish_reason=choice.finish_reason,
            refused=bool(refusal) or choice.finish_reason in ("content_filter", "refusal"),
            usage=usage,
            cost_usd=self._cost(reply, usage),
            latency_s=seconds,
        )

    def _cost(self, reply: Any, usage: Usage) -> float | None:
        """By the config's price, else by litellm's; None where neither knows the model."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        if self._settings.price is not None:
            return price_in(self._settings.price).of(usage.prompt_tokens, usage.completion_tokens)
        try:
            return float(
                self._litellm.completion_cost(completion_response=reply, model=self._settings.model)
            )
        except Exception:  # a model that its list does not have
            return None


def refused_parameter(words: str) -> str | None:
    """The parameter that a refusal names; None where it names none."""
    found = REFUSED_PARAMETER.search(words)
    return (found["name"] or found["named"]).lower() if found else None


def priced(settings: JudgeSettings) -> Price | None:
    """A judge's price by its config, else by litellm's list; None where neither tells."""
    if settings.price is not None:
        return price_in(settings.price)
    known = known_model(settings.model)
    read, written = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    if read is None or written is None:
        return None
    return Price(read * PER_PRICE, written * PER_PRICE)


def known_model(model: str) -> Mapping[str, Any]:
    """What litellm's list says of a model; nothing where it is not there."""
    listed = _quiet_litellm().model_cost
    found = listed.get(model) or listed.get(model.partition("/")[2])
    return found if isinstance(found, dict) else {}


def price_in(config: Mapping[str, float]) -> Price:
    """The price as the config gives it."""
    return Price(config["input"], config["output"])


def _usage(usage: Any) -> Usage:
    """Token counts; unknown where there is none, also where litellm has put a 0 for it."""
    details = getattr(usage, "prompt_tokens_details", None)
    read = token_count(getattr(usage, "prompt_tokens", None))
    if not read:
        return Usage()
    cached = token_count(getattr(details, "cached_tokens", None))
    return Usage(read, cached, token_count(getattr(usage, "completion_tokens", None)))


def token_count(value: Any) -> int | None:
    """A number of tokens that can be one; None for another."""
    return value if isinstance(value, int) and 0 <= value <= MOST_TOKENS else None


def provider_words(words: str, key: str) -> str:
    """A provider's words on one line, short, without the key and without anybody's traceback."""
    told = OWN_NAMES.sub("", " ".join(words.partition(TRACEBACK)[0].split()))
    if key and key != NO_KEY:
        told = told.replace(key, "[key]")
    return clean_text(told[:LONGEST_DETAIL])


def _pause(error: Exception, tried: int) -> float:
    """What the provider asks for, else twice as long each time."""
    response = getattr(error, "response", None)
    asked = getattr(response, "headers", {}).get("retry-after") if response is not None else None
    doubled = float(FIRST_PAUSE_S * 2**tried)
    try:
        seconds = float(asked) if asked else doubled
    except ValueError:
        return doubled
    return min(seconds, LONGEST_PAUSE_S) if seconds >= 0 else doubled


def provider_key(settings: JudgeSettings) -> str:
    """The judge's key; raises InputError where its variable is not set."""
    if settings.api_key_env is None:
        return NO_KEY
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key:
        raise InputError(
            f"judge {settings.name}: the environment variable {settings.api_key_env} is not set; "
            "set it to the provider's API key, or remove api_key_env"
        )
    return key


def _quiet_litellm() -> Any:
    """litellm without its price list from the internet, its reports and its advertisements."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # litellm imports parts of itself at the first call, and pydantic then speaks of their types.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic(\.|$)")
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    return litellm
