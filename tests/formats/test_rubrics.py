from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.cases import Checkpoint
from evalbot.domain.rubrics import (
    AutoRule,
    Band,
    JudgeRule,
    RateRule,
    Rubric,
    ScaleStep,
    ScorerName,
)
from evalbot.errors import NotFoundError, ProblemsError
from evalbot.formats.rubric_rules import RESERVED, VERDICT_ENDS
from evalbot.formats.rubrics import CAPS, FOLDINGS, parse_rubric, read_rubric, write_rubric

from .texts import names, problems_of, written

GOOD = """\
name: r
version: 1.10
title: R
scale:
  - {verdict: correct, credit: 1, key: 1, symbol: ✅, means: right, examples: [a, b]}
  - {verdict: wrong, credit: 0, key: 2, means: no}
rate: {name: error_rate, title: Error rate, direction: lower, weights: {correct: 0, wrong: 1}}
auto:
  scorer: fuzzy
  folding: [nfkc, casefold]
  bands:
    - {max_length: 20, correct: 100}
    - {correct: 98, acceptable: 90}
  wrong_below: 30
  caps: [numbers]
  undecided: by_ratio
  acceptable_from: 60
checkpoints: [{id: i, text: t}]
judge: {instructions: strictly, min_votes: 3}
"""


def test_a_rubric_is_read_with_every_field() -> None:
    assert parse_rubric(GOOD, "r.yaml") == Rubric(
        name="r",
        version="1.10",
        title="R",
        scale=(
            ScaleStep("correct", 1.0, "right", "✅", "1", ("a", "b")),
            ScaleStep("wrong", 0.0, "no", "", "2"),
        ),
        rate=RateRule("error_rate", "Error rate", "lower", {"correct": 0.0, "wrong": 1.0}),
        auto=AutoRule(
            scorer=ScorerName.FUZZY,
            folding=("nfkc", "casefold"),
            bands=(Band(20, 100.0), Band(None, 98.0, 90.0)),
            wrong_below=30.0,
            caps=("numbers",),
            undecided="by_ratio",
            acceptable_from=60.0,
        ),
        checkpoints=(Checkpoint("i", "t"),),
        judge=JudgeRule("strictly", 3),
    )


def test_a_nominal_scale_has_no_credits() -> None:
    text = GOOD.replace("credit: 1", "credit: null").replace("credit: 0, ", "")
    assert [step.credit for step in parse_rubric(text, "r.yaml").scale] == [None, None]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("name: r", "name: a/b", 'r.yaml:1: name: found "a/b"; expected a name of the letters'),
        ("version: 1.10", "version: ", "r.yaml:2: version: found nothing; expected text"),
        ("credit: 1,", "credit: 1.5,", 'r.yaml:5: scale[0].credit: found "1.5"; expected a number'),
        ("credit: 1,", "", "r.yaml:5: scale: found a credit on some verdicts; expected a credit"),
        ("credit: 0,", "credit: 1,", None),
        ("credit: 1,", "credit: 0,", None),
        ("verdict: wrong", "verdict: Correct", 'r.yaml:6: scale[1].verdict: found "correct" twice'),
        ("verdict: wrong", "verdict: tie", 'scale[1].verdict: found "tie"; expected another word'),
        ("verdict: wrong", "verdict: not. good", "expected a word without . , ; ( and |"),
        ("key: 2", "key: 1", 'r.yaml:6: scale[1].key: found "1" twice; expected each key once'),
        ("key: 2", "key: F2", 'r.yaml:6: scale[1].key: found "F2"; expected one character'),
        ("means: no", "mean: no", 'found unknown key "mean"; expected a known key: did you mean m'),
        ("direction: lower", "direction: down", 'direction: found "down"; expected one of lower'),
        (", wrong: 1}", "}", "rate.weights.wrong: found nothing; expected a number from 0 to 1"),
        (", wrong: 1}", ", wrong: 2}", 'rate.weights.wrong: found "2"; expected a number from 0'),
        (", wrong: 1}", ", wrong: 1, bad: 1}", 'rate.weights: found unknown key "bad"; expected a'),
        ("scorer: fuzzy", "scorer: fuzy", "(did you mean fuzzy?)"),
        ("[nfkc, casefold]", "[nfkd]", 'auto.folding: found "nfkd"; expected one of nfkc, casef'),
        ("[nfkc, casefold]", "[nfkc, nfkc]", "auto.folding: found nfkc twice; expected each word"),
        (
            "caps: [numbers]",
            "caps: numbers",
            'auto.caps: found "numbers"; expected a list of texts',
        ),
        ("max_length: 20, ", "", "auto.bands: found a band for any length before others; expected"),
        ("{correct: 98,", "{max_length: 5, correct: 98,", "found max_length 20, 5; expected grow"),
        ("acceptable: 90", "acceptable: 99", "bands[1].acceptable: found 99; expected at most cor"),
        ("correct: 100", "correct: 101", 'bands[0].correct: found "101"; expected a number from 0'),
        ("wrong_below: 30", "wrong_below: 95", "bands[1].acceptable: found 90; expected at least"),
        ("acceptable_from: 60", "", "auto.acceptable_from: found nothing; expected a number from"),
        ("by_ratio", "needs_review", "acceptable_from: found 60; expected undecided: by_ratio wi"),
        ("by_ratio", "by_luck", 'auto.undecided: found "by_luck"; expected one of needs_review'),
        ("min_votes: 3", "min_votes: 0", 'judge.min_votes: found "0"; expected a whole number of'),
        ("[{id: i, text: t}]", "[{id: i}]", "checkpoints[0].text: found nothing; expected text"),
    ],
)
def test_a_wrong_rubric_names_line_field_found_and_expected(
    before: str, after: str, expected: str | None
) -> None:
    text = GOOD.replace(before, after, 1)
    assert text != GOOD
    if expected is None:
        parse_rubric(text, "r.yaml")
        return
    assert any(expected in problem for problem in problems_of(lambda: parse_rubric(text, "r.yaml")))


def test_the_best_verdict_comes_first() -> None:
    text = GOOD.replace("credit: 0,", "credit: 0.5,").replace("credit: 1,", "credit: 0.25,")
    assert problems_of(lambda: parse_rubric(text, "r.yaml")) == [
        "r.yaml:5: scale: found a credit above the one before it; expected the best verdict first"
    ]


def test_what_must_be_there() -> None:
    assert problems_of(lambda: parse_rubric("", "r.yaml")) == [
        "r.yaml:1: scale: found 0 verdicts; expected two or more, best first",
        "r.yaml:1: name: found nothing; expected a name of the letters A-Z a-z, digits, . _ and -",
        "r.yaml:1: version: found nothing; expected text",
        "r.yaml:1: title: found nothing; expected text",
        "r.yaml:1: rate: found nothing; expected name, title, direction and weights",
    ]


def test_under_rubrics_a_rubric_is_called_as_its_file(tmp_path: Path) -> None:
    path = tmp_path / "rubrics" / "t.yaml"
    path.parent.mkdir()
    path.write_text(GOOD, encoding="utf-8")
    assert problems_of(lambda: read_rubric(path)) == [
        't.yaml: name: found "r"; expected t, as its file is called'
    ]
    elsewhere = path.rename(tmp_path / "rubric.yaml")
    assert read_rubric(elsewhere) == parse_rubric(GOOD, "rubric.yaml")


def test_a_missing_rubric_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_rubric(tmp_path / "r.yaml")


RATIOS = st.none() | st.floats(50, 100)


@st.composite
def rubrics(draw: st.DrawFn) -> Rubric:
    words = names().filter(lambda word: not VERDICT_ENDS & set(word) and word not in RESERVED)
    verdicts = draw(st.lists(words, min_size=2, max_size=4, unique_by=str.casefold))
    falling = sorted((draw(st.floats(0, 1)) for _ in verdicts), reverse=True)
    credits_ = draw(st.sampled_from([falling, [None] * len(verdicts)]))
    by_ratio = draw(st.booleans())
    lengths: list[int | None] = [*sorted(draw(st.sets(st.integers(1, 99), max_size=2))), None]
    examples = st.lists(written(), max_size=2).map(tuple)
    return Rubric(
        name=draw(st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", fullmatch=True)),
        version=draw(names()),
        title=draw(written()),
        scale=tuple(
            ScaleStep(
                verdict=verdict,
                credit=credit,
                means=draw(written()),
                symbol=draw(st.just("") | written()),
                key=draw(st.sampled_from(["", str(at)])),
                examples=draw(examples),
            )
            for at, (verdict, credit) in enumerate(zip(verdicts, credits_, strict=True))
        ),
        rate=RateRule(
            name=draw(names()),
            title=draw(written()),
            direction=draw(st.sampled_from(["lower", "higher"])),
            weights={verdict: draw(st.floats(0, 1)) for verdict in verdicts},
        ),
        auto=AutoRule(
            scorer=draw(st.sampled_from(ScorerName)),
            folding=tuple(draw(st.lists(st.sampled_from(FOLDINGS), unique=True))),
            bands=tuple(Band(length, correct=draw(RATIOS)) for length in lengths),
            wrong_below=draw(st.none() | st.floats(0, 50)),
            caps=tuple(draw(st.lists(st.sampled_from(CAPS), unique=True))),
            undecided="by_ratio" if by_ratio else "needs_review",
            acceptable_from=draw(st.floats(0, 100)) if by_ratio else None,
        ),
        checkpoints=tuple(
            draw(
                st.lists(
                    st.builds(Checkpoint, names(), written(), st.floats(0, 9)),
                    max_size=2,
                    unique_by=lambda line: line.id,
                )
            )
        ),
        judge=JudgeRule(draw(st.just("") | written()), draw(st.integers(1, 9))),
    )


@given(rubrics())
def test_a_written_rubric_reads_back_the_same(rubric: Rubric) -> None:
    assert parse_rubric(write_rubric(rubric), "r.yaml") == rubric


PARTS = st.sampled_from(
    [
        "scale: [{verdict: a}]",
        "scale: [a]",
        "scale: {}",
        "rate: {weights: {a: 1}}",
        "rate: 1",
        "auto: {bands: [{correct: 1, acceptable: 2}, 3]}",
        "auto: {bands: x, wrong_below: 9}",
        "auto: {caps: [a, b]}",
        "judge: {min_votes: x}",
        "checkpoints: [{}, 1]",
        "name: 1",
        "x: y",
    ]
)


@given(st.lists(PARTS, unique=True).map("\n".join) | st.text(max_size=30))
def test_any_text_is_a_rubric_or_has_problems(text: str) -> None:
    try:
        parse_rubric(text, "r.yaml")
    except ProblemsError as error:
        str(error).encode()
