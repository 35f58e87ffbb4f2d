"""Message batches of Anthropic's API: half the price, for whoever can wait up to a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalbot.domain.answers import Usage
from evalbot.domain.batches import BatchGoneError, BatchRequest, BatchResult, ListedBatch
from evalbot.domain.judging import SCHEMA, Price, ProviderError, ProviderReply, portable
from evalbot.domain.settings import JudgeSettings
from evalbot.errors import EvalbotError
from evalbot.providers.litellm_provider import (
    UNREADABLE,
    known_model,
    priced,
    provider_key,
    provider_words,
    refused_parameter,
    token_count,
)

PREFIX = "anthropic/"
BATCH_DISCOUNT = 0.5
CACHE_WRITE, CACHE_READ = 1.25, 0.1
"""Times the price of a token that is read without a cache."""

NOT_SAMPLING = ("seed",)
"""Parameters that this API has not."""

SAMPLING = ("temperature", "top_p", "top_k")
"""Parameters that newer models refuse, as litellm's list of models tells."""

OUTPUT_CONFIG = "output_config"
"""What holds a reply to its form is called so here."""


def can_batch(judge: JudgeSettings) -> bool:
    """Whether the judge is one of Anthropic's own."""
    return judge.model.startswith(PREFIX)


class AnthropicBatches:
    """One judge's batches. Raises EvalbotError where the provider cannot be asked at all."""

    def __init__(self, settings: JudgeSettings) -> None:
        from anthropic import AsyncAnthropic

        self._settings = settings
        self._key = provider_key(settings)
        self._known = known_model(settings.model)
        self.price = _in_batches(priced(settings))
        # Sending is never tried again by itself: a batch could be there twice.
        self._client = AsyncAnthropic(
            api_key=self._key,
            base_url=settings.api_base,
            timeout=settings.timeout_s,
            max_retries=settings.retries,
        )

    def params(self, sampling: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """What may be sent of these parameters, and what has to be left out."""
        refused = set(NOT_SAMPLING)
        if self._known.get("supports_sampling_params") is False:
            refused |= set(SAMPLING)
        kept = {name: value for name, value in sampling.items() if name not in refused}
        dropped = sorted(set(sampling) & refused)
        if self._known.get("supports_native_structured_output"):
            kept[SCHEMA] = "json_schema"
        else:
            dropped.append(SCHEMA)
        return kept, dropped

    def refused_in(self, error: str) -> str | None:
        """The parameter that an error says is not taken, if it says so."""
        if OUTPUT_CONFIG in error:
            return SCHEMA
        return refused_parameter(error)

    async def send(
        self,
        requests: Sequence[BatchRequest],
        model: str,
        params: Mapping[str, Any],
        schemas: Mapping[str, Mapping[str, Any]],
    ) -> str:
        """Send a batch; the provider's id. schemas: the form of each reply, by our ids.

        model: what it was written down for, which may be another than today's.

        ProviderError where it is not known whether the provider has it now; EvalbotError
        where it has refused it.
        """
        from anthropic import APIConnectionError, APIStatusError

        body: Any = [
            {
                "custom_id": one.custom_id,
                "params": self._request(one, model, params, schemas[one.custom_id]),
            }
            for one in requests
        ]
        try:
            once = self._client.with_options(max_retries=0)
            batch = await once.messages.batches.create(requests=body)
        except APIStatusError as error:
            if error.status_code >= 500:
                raise ProviderError(self._words(error)) from error
            raise self._failed("takes no batch", error) from error
        except APIConnectionError as error:
            raise ProviderError(self._words(error)) from error
        return str(batch.id)

    async def look(self, provider_id: str) -> ListedBatch:
        """How far a batch has come; BatchGoneError where there is none."""
        try:
            return _listed(await self._client.messages.batches.retrieve(provider_id))
        except Exception as error:  # of the network, the server, or its form
            raise self._gone_or_failed(f"does not tell of batch {provider_id}", error) from error

    async def listed(self) -> list[ListedBatch]:
        """All batches of this key, newest first."""
        try:
            return [_listed(batch) async for batch in self._client.messages.batches.list(limit=100)]
        except Exception as error:  # of the network, the server, or its form
            raise self._failed("does not list its batches", error) from error

    async def results(self, provider_id: str, price: Price | None) -> list[BatchResult]:
        """What became of each request of a batch that has ended, in any order.

        price: what it was sent for. BatchGoneError where there are no results any more.
        """
        try:
            stream = await self._client.messages.batches.results(provider_id)
            return [self._result(one, price) async for one in stream]
        except Exception as error:  # of the network, the server, or its form
            what = f"gives no results of batch {provider_id}"
            raise self._gone_or_failed(what, error) from error

    async def close(self) -> None:
        """Give back the connections."""
        await self._client.close()

    def _request(
        self,
        one: BatchRequest,
        model: str,
        params: Mapping[str, Any],
        schema: Mapping[str, Any],
    ) -> dict[str, Any]:
        sent = {name: value for name, value in params.items() if name != SCHEMA}
        if SCHEMA in params:
            sent[OUTPUT_CONFIG] = {"format": {"type": "json_schema", "schema": portable(schema)}}
        return {
            "model": model.removeprefix(PREFIX),
            "system": [{"type": "text", "text": one.rules, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": one.question}],
            **sent,
        }

    def _result(self, one: Any, price: Price | None) -> BatchResult:
        try:
            return self._read(one, price)
        except UNREADABLE as error:
            words = f"the result has another form than a message's ({type(error).__name__})"
            return BatchResult(str(one.custom_id), None, words)

    def _read(self, one: Any, price: Price | None) -> BatchResult:
        kind = one.result.type
        if kind != "succeeded":
            words = ""
            if kind == "errored":
                error = one.result.error
                words = getattr(getattr(error, "error", None), "message", None) or str(error)
            told = f"{kind}: {words}" if words else str(kind)
            return BatchResult(one.custom_id, None, provider_words(told, self._key))
        message = one.result.message
        text = "".join(block.text for block in message.content if block.type == "text")
        usage = message.usage
        counts = [
            token_count(count)
            for count in (
                usage.input_tokens,
                usage.cache_creation_input_tokens or 0,
                usage.cache_read_input_tokens or 0,
                usage.output_tokens,
            )
        ]
        known = [count for count in counts if count is not None]
        told_usage, cost = Usage(), None
        if len(known) == len(counts):
            fresh, written, cached, output = known
            told_usage = Usage(fresh + written + cached, cached, output)
            if price is not None:
                read = fresh + written * CACHE_WRITE + cached * CACHE_READ
                cost = price.of(0, output) + price.of(1, 0) * read
        reply = ProviderReply(
            text=text,
            finish_reason=message.stop_reason,
            refused=message.stop_reason == "refusal",
            usage=told_usage,
            cost_usd=cost,
        )
        return BatchResult(one.custom_id, reply, None)

    def _gone_or_failed(self, what: str, error: Exception) -> Exception:
        from anthropic import NotFoundError

        if isinstance(error, NotFoundError):
            return BatchGoneError(self._words(error))
        return self._failed(what, error)

    def _failed(self, what: str, error: Exception) -> EvalbotError:
        return EvalbotError(f"judge {self._settings.name}: {what}: {self._words(error)}")

    def _words(self, error: Exception) -> str:
        return provider_words(str(error) or type(error).__name__, self._key)


def _in_batches(usual: Price | None) -> Price | None:
    """USD per million tokens in a batch; None where it is not known."""
    if usual is None:
        return None
    return Price(usual.read * BATCH_DISCOUNT, usual.written * BATCH_DISCOUNT)


def _listed(batch: Any) -> ListedBatch:
    counts = batch.request_counts
    done = counts.succeeded + counts.errored + counts.canceled + counts.expired
    return ListedBatch(
        provider_id=batch.id,
        created_at=batch.created_at,
        is_ended=batch.processing_status == "ended",
        size=done + counts.processing,
        done=done,
    )
