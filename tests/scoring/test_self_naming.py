"""Answers that tell whose they are, and answers that only speak of the same things."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.scoring.self_naming import COVER, MODELS, SelfNaming, cover, names_of_endpoints

FINDER = SelfNaming(
    names_of_endpoints(["zebra-canary-7b", "models/Okapi-Q4.gguf", "m1", "35", None])
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("私はQwenです。訳：扉を閉めて", ("Qwen",)),  # cases.md, H4
        ("I'm ChatGPT, a model trained by OpenAI.", ("ChatGPT", "OpenAI")),
        ("我是阿里云开发的通义千问。", ("阿里云", "通义千问")),
        ("作为由谷歌训练的语言模型，我认为……", ("谷歌",)),
        ("As an AI developed by Google, I cannot do that.", ("Google",)),
        ("As a large language model made by Meta", ("Meta",)),
        ("QWEN2.5-72B says hello", ("QWEN",)),
        ("Hello from zebra-canary-7b!", ("zebra-canary-7b",)),
        ("okapi-q4 at your service", ("okapi-q4",)),
        ("I am Falcon, built by TII", ("Falcon",)),
    ],
)
def test_names_are_found(text: str, names: tuple[str, ...]) -> None:
    assert FINDER.find(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "请关门",
        "Google で検索してください。",
        "A falcon is a bird; granite is a stone.",
        "Metadata is data about data.",
        "The llamas grazed.",  # an animal
        "m1 is a motorway, 35 a number",
        "微软的股价上涨了。",
        "",
    ],
)
def test_other_texts_tell_nothing(text: str) -> None:
    assert FINDER.find(text) == ()


def test_a_name_that_the_question_brings_up_counts_only_where_the_answer_speaks_of_itself() -> None:
    question = "Who made Qwen?"
    assert FINDER.find("Qwen was made in Hangzhou.", question) == ()
    assert FINDER.find("I am Qwen.", question) == ("Qwen",)
    assert FINDER.find("Gemma knows.", question) == ("Gemma",)


def test_covering_takes_every_spelling() -> None:
    assert cover("Qwen, qwen and QWEN2", ["Qwen"]) == f"{COVER}, {COVER} and {COVER}2"
    assert cover("nothing", []) == "nothing"


@given(
    st.text(max_size=80), st.sampled_from(["Qwen", "通义千问", "DeepSeek"]), st.text(max_size=80)
)
def test_a_covered_text_names_nothing_of_what_was_found(before: str, name: str, after: str) -> None:
    text = f"{before} {name} {after}"
    found = FINDER.find(text)
    assert name in found
    assert name.casefold() not in cover(text, found).casefold()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("私はＱｗｅｎです", "Ｑｗｅｎ"),
        ("我是Q\u200bwen。", "Q\u200bwen"),
        ("これはｚｅｂｒａ－7bの訳", "ｚｅｂｒａ"),
        ("\u202eGem\u00adma\u202c が訳しました", "Gem\u00adma"),
    ],
)
def test_names_in_wide_letters_or_with_unseen_ones_between_are_names(text: str, name: str) -> None:
    found = SelfNaming(("zebra",)).find(text)
    assert found == (name,)
    assert cover(text, found) == text.replace(name, COVER)


@pytest.mark.parametrize("name", [one for found in MODELS.values() for one in found])
def test_every_model_is_found_however_it_is_written(name: str) -> None:
    for written in (name, name.upper(), name.lower()):
        assert written in "".join(SelfNaming().find(f"私は{written}です"))
