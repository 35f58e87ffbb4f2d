"""Speed of one answer from the client's clock and the server's own figures.

Formulas: statistics.md, section g. A number that cannot be known is None, never 0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from evalbot.domain.answers import Timing, Usage
from evalbot.endpoints.chunks import ServerTimings

FEWEST_PREFILL_TOKENS = 64
"""Fewer processed tokens than this say nothing about prefill speed."""


@dataclass(slots=True)
class StreamClock:
    """When things arrived, in seconds on one monotonic clock.

    pieces: of text, each one or more tokens; first_pieces: those that came with the first.
    """

    sent: float
    first_event: float | None = None
    last_event: float | None = None
    first_token: float | None = None
    last_token: float | None = None
    pieces: int = 0
    first_pieces: int = 0
    _lengths: list[int] = field(default_factory=list)
    _times: list[float] = field(default_factory=list)

    def event(self, at: float) -> None:
        """An event of any kind came."""
        if self.first_event is None:
            self.first_event = at
        self.last_event = at

    def token(self, at: float) -> None:
        """Text came, reasoning or content."""
        if self.first_token is None:
            self.first_token = at
        self.pieces += 1
        self.first_pieces += at == self.first_token
        self.last_token = at

    def rate(self, tokens: int | None) -> float | None:
        """Tokens per second after the first piece; None where the pieces do not tell.

        Of several tokens in a piece the first piece has its share: with one token a piece
        this is (tokens - 1) / (last - first).
        """
        if tokens is None or tokens < 2 or self.first_token is None or self.last_token is None:
            return None
        seconds = self.last_token - self.first_token
        later = tokens * (self.pieces - self.first_pieces) / self.pieces
        if self.pieces >= tokens and self.first_pieces == 1:
            later = tokens - 1
        return later / seconds if seconds > 0 else None

    def content(self, at: float, length: int) -> None:
        """Content came; length is its total number of characters so far."""
        self._lengths.append(length)
        self._times.append(at)

    def content_at(self, position: int) -> float | None:
        """When the character at this position of the content arrived."""
        index = bisect_right(self._lengths, position)
        return self._times[index] if index < len(self._times) else None


def visible_start(raw: str, text: str) -> int | None:
    """Where the text shown begins inside the raw content; None where nothing is shown.

    Text that thinking interrupts stands in pieces: then its longest beginning that stands
    somewhere is looked for.
    """
    shown = text.strip()
    if not shown:
        return None
    whole = raw.rfind(shown)
    if whole >= 0:
        return whole
    longest = bisect_left(range(len(shown)), True, key=lambda n: shown[: n + 1] not in raw)
    return max(raw.find(shown[:longest]), 0)


def timing_of(
    clock: StreamClock,
    ended: float,
    visible_at: float | None,
    usage: Usage,
    server: ServerTimings | None,
) -> Timing:
    """All speed figures of one answer; visible_at is when the first visible text came."""
    decode, source = _decode(clock, usage, server)
    prefill = _prefill(server)
    if prefill is not None:
        source = "server"

    def since(moment: float | None) -> float | None:
        return None if moment is None else 1000 * (moment - clock.sent)

    return Timing(
        ttfr_ms=since(clock.first_event),
        ttft_ms=since(clock.first_token),
        ttfot_ms=since(visible_at),
        total_ms=since(ended),
        prefill_tps=prefill,
        decode_tps=decode,
        source=source,
    )


def _prefill(server: ServerTimings | None) -> float | None:
    if server is None or server.cache_n or not server.prompt_n or not server.prompt_ms:
        return None
    if server.prompt_n < FEWEST_PREFILL_TOKENS:
        return None
    return 1000 * server.prompt_n / server.prompt_ms


def _decode(
    clock: StreamClock, usage: Usage, server: ServerTimings | None
) -> tuple[float | None, str]:
    if server is not None and server.predicted_n is not None and server.predicted_ms:
        if server.predicted_n < 2:
            return None, "server"
        return 1000 * (server.predicted_n - 1) / server.predicted_ms, "server"
    rate = clock.rate(usage.completion_tokens)
    known = usage.completion_tokens is not None and clock.first_token is not None
    return rate, "client" if known else "none"
