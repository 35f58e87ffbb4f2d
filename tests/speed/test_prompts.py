"""Prompts of a given length, by whatever tokeniser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbot.speed.prompts import FILLERS, MOST_COUNTS, WORDS, Prompt, PromptMaker

TEMPLATE = 11
Size = Callable[[str], int]


def one_each(text: str) -> int:
    return TEMPLATE + len(text.split())


def two_each(text: str) -> int:
    """An old tokeniser: each word is two tokens, whatever is added one."""
    return TEMPLATE + sum(2 if word in WORDS else 1 for word in text.split())


def by_letters(text: str) -> int:
    """A token for every three letters of a word, begun ones included."""
    return TEMPLATE + sum(-(-len(word) // 3) for word in text.split(" "))


def by_characters(text: str) -> int:
    """Bytes as tokens: the space before a word is one of its own."""
    return TEMPLATE + len(text)


def by_fours(text: str) -> int:
    """Lengths are multiples of four: most cannot be met."""
    return TEMPLATE + 4 * len(text.split())


class Counting:
    """A server that counts, and how often it was asked."""

    def __init__(self, size: Size | None) -> None:
        self._size = size
        self.asked = 0

    async def __call__(self, text: str) -> int | None:
        self.asked += 1
        return None if self._size is None else self._size(text)


def make(count: Callable[[str], Awaitable[int | None]], *lengths: int, mark: str = "m",
         ) -> list[Prompt]:  # fmt: skip
    async def each() -> list[Prompt]:
        maker = PromptMaker(count, mark)
        return [await maker.make(tokens) for tokens in lengths]

    return asyncio.run(each())


@pytest.mark.parametrize("size", [one_each, two_each, by_letters])
@given(lengths=st.lists(st.integers(TEMPLATE + 2, 3000), min_size=1, max_size=6))
@settings(max_examples=30)
def test_prompts_have_exactly_the_tokens_asked_for(size: Size, lengths: list[int]) -> None:
    for prompt, tokens in zip(make(Counting(size), *lengths), lengths, strict=True):
        assert size(prompt.text) == prompt.tokens == tokens


@given(tokens=st.integers(TEMPLATE + 7, 5000))
@settings(max_examples=30)
def test_what_words_cannot_meet_is_filled_up_or_the_nearest_shorter(tokens: int) -> None:
    [prompt] = make(Counting(by_characters), tokens)
    assert by_characters(prompt.text) == prompt.tokens
    # No word is longer than eight letters, and one with its space is never more than nine.
    assert tokens - 9 < (prompt.tokens or 0) <= tokens


@given(tokens=st.integers(TEMPLATE + 4, 4000))
def test_a_length_that_cannot_be_met_gives_the_nearest_shorter_one(tokens: int) -> None:
    count = Counting(by_fours)
    [prompt] = make(count, tokens)
    assert prompt.tokens == tokens - (tokens - TEMPLATE) % 4
    assert count.asked <= MOST_COUNTS + len(FILLERS)


@pytest.mark.parametrize("tokens", [1, TEMPLATE - 1, TEMPLATE, TEMPLATE + 1])
def test_a_template_longer_than_the_length_leaves_one_word(tokens: int) -> None:
    count = Counting(one_each)
    [prompt] = make(count, tokens)
    assert len(prompt.text.split()) == 1
    assert prompt.tokens == TEMPLATE + 1
    assert count.asked <= MOST_COUNTS


@given(
    table=st.lists(st.integers(0, 5000), min_size=1, max_size=40),
    lengths=st.lists(st.integers(1, 5000), min_size=1, max_size=5),
)
def test_any_counts_at_all_end_the_search_soon(table: list[int], lengths: list[int]) -> None:
    """Also those of a server that counts at random: nothing is asked for ever."""

    def size(text: str) -> int:
        return table[len(text) % len(table)]

    count = Counting(size)
    for prompt in make(count, *lengths):
        assert prompt.text
        assert prompt.tokens in (None, size(prompt.text))
    assert count.asked <= len(lengths) * (MOST_COUNTS + len(FILLERS))


def test_a_server_that_counts_every_text_alike_does_not_count() -> None:
    """Else prompts would grow until they filled its context."""
    [prompt] = make(Counting(lambda _: 10), 100)
    assert (prompt.tokens, len(prompt.text.split())) == (None, 100)


def test_a_length_met_once_is_met_again_with_few_counts() -> None:
    for size, most in ((one_each, 1), (two_each, 3)):
        count = Counting(size)
        make(count, *[3000] * 5)
        first = count.asked
        count = Counting(size)
        make(count, *[3000] * 25)
        assert count.asked - first <= most * 20


@given(
    mark=st.text(max_size=8),
    lengths=st.lists(st.integers(TEMPLATE + 5, 200), min_size=2, max_size=40),
)
def test_no_prompt_begins_as_its_neighbour_and_none_comes_twice(
    mark: str, lengths: list[int]
) -> None:
    texts = [prompt.text for prompt in make(Counting(one_each), *lengths, mark=mark)]
    assert len(set(texts)) == len(texts)
    assert all(a.split()[0] != b.split()[0] for a, b in pairwise(texts))
    # A cache that knows all earlier prompts knows the beginning of none, but for a word or two.
    for number, text in enumerate(texts):
        for earlier in texts[:number]:
            assert text.split()[:3] != earlier.split()[:3]


def test_many_prompts_of_one_length_are_all_different() -> None:
    texts = [prompt.text for prompt in make(Counting(one_each), *[TEMPLATE + 4] * 2000)]
    assert len(set(texts)) == 2000


@given(st.lists(st.text(max_size=12), min_size=2, max_size=2, unique=True))
def test_another_mark_gives_other_texts(marks: list[str]) -> None:
    lengths = [TEMPLATE + 30] * 5
    one, other = (make(Counting(one_each), *lengths, mark=mark) for mark in marks)
    assert {prompt.text for prompt in one}.isdisjoint(prompt.text for prompt in other)
    # And they part soon: what one process sent before is no use to the next one's cache.
    for a, b in zip(one, other, strict=True):
        assert a.text.split()[:4] != b.text.split()[:4]


def test_a_server_that_does_not_count_gets_as_many_words_as_tokens() -> None:
    count = Counting(None)
    [prompt] = make(count, 500)
    assert (len(prompt.text.split()), prompt.tokens, count.asked) == (500, None, 1)


def test_what_such_a_server_counted_afterwards_makes_the_next_ones_exact() -> None:
    async def learned() -> list[int]:
        maker = PromptMaker(Counting(None), "m")
        first = await maker.make(300)
        maker.learn(first, one_each(first.text))
        return [one_each((await maker.make(tokens)).text) for tokens in (300, 5000, 20)]

    assert asyncio.run(learned()) == [300, 5000, 20]


def test_a_server_that_stops_counting_half_way_is_not_asked_for_ever() -> None:
    class Failing(Counting):
        async def __call__(self, text: str) -> int | None:
            counted = await super().__call__(text)
            return counted if self.asked < 4 else None

    count = Failing(two_each)
    prompts = make(count, 2000, 2000, 2000)
    assert [prompt.tokens for prompt in prompts[1:]] == [None, None]
    assert count.asked <= 6
