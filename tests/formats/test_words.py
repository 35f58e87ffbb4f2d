import pytest

from evalbot.formats.words import count, duration, in_a_sentence, pace


@pytest.mark.parametrize(
    ("title", "inside"),
    [
        ("Pass rate", "pass rate"),
        ("Accuracy", "accuracy"),
        ("BLEU score", "BLEU score"),
        ("F1 of names", "F1 of names"),
        ("JP→ZH rate", "JP→ZH rate"),
        ("Score by IFEval", "score by IFEval"),
        ("误译率", "误译率"),
        ("", ""),
    ],
)
def test_a_title_inside_a_sentence_loses_its_capital_and_nothing_else(
    title: str, inside: str
) -> None:
    assert in_a_sentence(title) == inside


def test_one_is_not_many() -> None:
    assert [count(n, "case") for n in (0, 1, 2)] == ["0 cases", "1 case", "2 cases"]


def test_durations_are_told_by_their_size_and_unknown_ones_by_a_dash() -> None:
    told = [duration(seconds) for seconds in (None, 0.4, 59.6, 125, 3720)]
    assert told == ["–", "0 s", "1 min 00 s", "2 min 05 s", "1 h 02 min"]


def test_a_slow_pace_is_told_by_the_minute() -> None:
    assert [pace(per_second) for per_second in (None, 2.41, 0.2)] == ["–", "2.4/s", "12.0/min"]
