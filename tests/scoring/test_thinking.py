from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.scoring import split_thinking
from tests.growth import grows_with_its_size

OPEN_AND_CLOSED = [
    ("<think>候補は「窓」か「扉」</think>窓を開けてください", "窓を開けてください"),  # K1
    ("<thinking>hm</thinking>\n\n请关门", "请关门"),
    ("[THINK]hm[/THINK]请关门", "请关门"),
    ("<Think>hm</THINK>请关门", "请关门"),
    ("<reasoning>hm</reasoning>请关门", "请关门"),
    ("<thought>hm</thought>请关门", "请关门"),
    ("◁think▷hm◁/think▷请关门", "请关门"),
    ("<think></think>请关门", "请关门"),
    ("<think>a</think>请<think>b</think>关门", "请关门"),
    ("<think>a<think>b</think>c</think>请关门", "请关门"),
    ("<think>a </reasoning> b</think>请关门", "请关门"),
    ("先分析一下…</think>请关门", "请关门"),  # K2
    ("the template opened it\n</thinking>\n请关门", "请关门"),
    ("a<think>b</think>c</think>请关门", "请关门"),
    ("hm[/THINK]请关门", "请关门"),
    ("<think>hm</think>请关门</think>", "请关门"),
    (
        "<|channel|>analysis<|message|>hm<|end|>"
        "<|start|>assistant<|channel|>final<|message|>请关门",
        "请关门",
    ),
    ("analysis<|message|>hm<|end|><|channel|>final<|message|>请关门<|return|>", "请关门"),
    ("<|channel|>final<|message|>请关门", "请关门"),
    ("analysisThe user wantsassistantfinal请关门", "请关门"),
]


@pytest.mark.parametrize(("raw", "text"), OPEN_AND_CLOSED)
def test_thinking_is_taken_out(raw: str, text: str) -> None:
    split = split_thinking(raw)
    assert (split.text, split.unclosed) == (text, False)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<think>答案大概是请关门，不过", ""),  # K3
        ("请关门。<think>再想想", "请关门。"),
        ("<think>a</think>请关门<reasoning>b", "请关门"),
        ("<think>a <think> b", ""),
        ("<|channel|>analysis<|message|>still at it", ""),
    ],
)
def test_unclosed_thinking_leaves_what_stood_before(raw: str, text: str) -> None:
    split = split_thinking(raw)
    assert (split.text, split.unclosed) == (text, True)


@pytest.mark.parametrize(
    "raw",
    [
        "Write `<think>` and `</think>` around it.",
        "例：\n```xml\n<think>x</think>\n```\n完",
        "  空白保留\n\n ",
        "a < b > c",
        "analysis of the text",
    ],
)
def test_text_about_tags_and_text_without_them_stays_as_it_is(raw: str) -> None:
    assert split_thinking(raw) == (raw, "", False)


def test_a_closing_tag_quoted_inside_thinking_does_not_end_it() -> None:
    assert split_thinking("<think>I must write `</think>` last</think>好").text == "好"


def test_code_left_open_in_thinking_does_not_hide_its_end() -> None:
    assert split_thinking("<think>```\ncode</think>请关门").text == "请关门"


def test_white_space_inside_the_text_stays() -> None:
    assert split_thinking("<think>x</think>\n\n一\n\n  二\n").text == "一\n\n  二"


def test_reasoning_is_kept_apart() -> None:
    assert split_thinking("<think> a </think>x<think>b</think>y").reasoning == "a\n\nb"


def test_an_end_without_an_answer_is_an_empty_text() -> None:
    assert split_thinking("only thoughts</think>\n").text == ""


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "[THINK]",
        "[/THINK]",
        "`",
        "```\n",
        "\n",
        "a",
        " ",
        "请",
        "analysis",
        "<|channel|>",
        "final",
        "<|message|>",
        "<|end|>",
        "assistantfinal",
        "</reasoning>",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_splitting_never_invents_text(raw: str) -> None:
    rest = iter(raw)
    assert all(character in rest for character in split_thinking(raw).text)


@pytest.mark.parametrize(
    "unit", ["<think>", "</think>", "```\n", "`", "<think>a</think>b", "<|channel|>", "\n"]
)
def test_what_it_takes_grows_with_the_length_only(unit: str) -> None:
    def split(length: int) -> None:
        split_thinking(unit * (length // len(unit)))

    assert grows_with_its_size(split, 500_000)
