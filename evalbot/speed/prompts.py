"""Prompts of exactly a number of tokens, by the server's own tokeniser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

_TEXT = """\
air animal answer arm art ball bank base bed bird blood blue boat body book box boy bread bridge
brother building bus business call camp car card case center chance change child church city
class club coffee color company control corn cost country court cover cross culture cut dance
dark day death design dog door dream drink earth east edge egg end energy engine event eye face
family farm father field film fire fish flower food foot force forest form friend front future
game garden girl glass gold government ground group hair hall hand head heart heat help history
home horse hotel hour house idea image iron island job key king kitchen land language law leader
letter level life light line list love machine man map market meat member middle milk mind model
money month moon morning mother mountain mouth music name nature night north nose number office
oil order page paper park part party people person phone picture place plan plant point power
press price problem question radio rain reason record red rest result rice ring river road rock
room rule school science sea season seat sense service shape ship shop side sign silver size
skin sky sleep snow song sound south space speed spring star state station stone store story
street student summer sun system table teacher team test thing time town train travel tree truth
type uncle value view village voice wall war water way week west wheel white wife wind window
winter woman wood word work world year
"""

WORDS = tuple(_TEXT.split())
"""Common words: with a space before it, nearly each is one token of nearly every tokeniser."""

FILLERS = ("a", "I", ".", "1", "!", "?", "x", ",", "...", ":", "\n", "of the", "to be a")
"""Put at the end where one word more is already too much."""

MOST_WORDS = 4
"""Words for each token, beyond which no tokeniser goes."""

MOST_COUNTS = 24
"""How often a prompt is counted before the nearest length is taken."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text, and the tokens of the whole chat around it; None where the server cannot count."""

    text: str
    tokens: int | None


class PromptMaker:
    """Makes prompts for one endpoint, none of them twice.

    count gives the tokens of a chat with this one turn, template included, or None. mark
    goes into the choice of all words: with another one, all texts are others.
    """

    def __init__(self, count: Callable[[str], Awaitable[int | None]], mark: str) -> None:
        self._count = count
        self._mark = mark
        self._made = 0
        self._template = 0
        self._sizes: dict[int, int] = {}

    def learn(self, prompt: Prompt, tokens: int) -> None:
        """For a server that does not count beforehand: what it counted afterwards."""
        self._template = tokens - len(prompt.text.split())

    async def make(self, tokens: int) -> Prompt:
        """A prompt of exactly so many tokens; the nearest shorter one where words do not fit.

        One made after another begins with another word. Never shorter than one word.
        """
        words = _Words(self._mark, self._made)
        self._made += 1
        size: int | None = self._sizes.get(tokens, max(1, tokens - self._template))
        tried: dict[int, int] = {}
        while size is not None and len(tried) < MOST_COUNTS:
            if size > MOST_WORDS * tokens:
                # This server's count does not grow with the text: it does not count at all.
                return Prompt(words.first(tokens), None)
            counted = await self._count(words.first(size))
            if counted is None:
                return Prompt(words.first(size), None)
            tried[size] = counted
            if counted == tokens:
                self._note(tokens, size, counted)
                return Prompt(words.first(size), counted)
            size = _next_size(tried, tokens)
        below = max((size for size, counted in tried.items() if counted < tokens), default=None)
        if below is None:
            shortest = min(tried)
            return Prompt(words.first(shortest), tried[shortest])
        self._note(tokens, below, tried[below])
        return await self._filled(Prompt(words.first(below), tried[below]), tokens)

    def _note(self, tokens: int, size: int, counted: int) -> None:
        self._sizes[tokens] = size
        self._template = counted - size

    async def _filled(self, short: Prompt, tokens: int) -> Prompt:
        """The prompt with what brings it to its length, where anything does."""
        for filler in FILLERS:
            text = f"{short.text} {filler}"
            if await self._count(text) == tokens:
                return Prompt(text, tokens)
        return short


class _Words:
    """One endless sequence of words, of which the first few make a text."""

    def __init__(self, mark: str, number: int) -> None:
        self._random = Random(f"{mark}/{number}")
        # Not drawn: neighbours must differ from their first word on.
        self._words = [WORDS[number % len(WORDS)]]

    def first(self, count: int) -> str:
        missing = count - len(self._words)
        if missing > 0:
            self._words += self._random.choices(WORDS, k=missing)
        return " ".join(self._words[:count])


def _next_size(tried: dict[int, int], tokens: int) -> int | None:
    """How many words to try next; None where no untried number can have that many tokens."""
    below = max((size for size, counted in tried.items() if counted < tokens), default=None)
    above = min((size for size, counted in tried.items() if counted > tokens), default=None)
    if above is None:
        assert below is not None
        return below + tokens - tried[below]
    if below is None:
        return None if above == 1 else max(1, above - (tried[above] - tokens))
    if above - below <= 1:
        return None
    share = (tokens - tried[below]) / (tried[above] - tried[below])
    return min(max(below + round(share * (above - below)), below + 1), above - 1)
