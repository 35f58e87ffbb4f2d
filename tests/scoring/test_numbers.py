from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.scoring.normalise import nfkc
from evalbot.scoring.numbers import number_changed, numbers_in
from evalbot.scoring.numerals import value_of


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("3500", "3500"),
        ("三千五百", "3500"),
        ("3500万", "35000000"),
        ("三千五百万", "35000000"),
        ("35,000,000", "35000000"),
        ("三千五百亿", "350000000000"),
        ("2億5000万", "250000000"),
        ("一亿二千万", "120000000"),
        ("1.5亿", "150000000"),
        ("万亿", "1000000000000"),
        ("二〇二四", "2024"),
        ("十", "10"),
        ("二十", "20"),
        ("三点五", "3.5"),
        ("壱万弐千", "12000"),
        ("三百零五", "305"),
        ("3.50", "3.50"),
        ("007", "007"),
        ("09", "9"),
        ("12345678901234567890123456789万", "123456789012345678901234567890000"),
    ],
)
def test_numerals_have_their_value(numeral: str, value: str) -> None:
    assert value_of(numeral) == value


def test_a_last_digit_without_unit_counts_tens_in_chinese_and_ones_in_japanese() -> None:
    assert value_of("三百五", colloquial=True) == "350"
    assert value_of("三百五", colloquial=False) == "305"


CHANGED = [
    ("zh", "订单金额为3500元", "订单金额为8500元"),  # F3
    ("zh", "三千五百万元", "三千五百亿元"),
    ("zh", "发票号码是88213", "发票号码是88231"),
    ("zh", "3.5", "35"),
    ("zh", "−5度", "5度"),
    ("zh", "零下五度", "五度"),
    ("zh", "50 %", "50"),
    ("zh", "百分之五", "五"),
    ("zh", "5%", "5‰"),
    ("zh", "10:30", "1030"),
    ("zh", "1,2,3", "123"),
    ("zh", "买一个苹果", "买两个苹果"),
    ("zh", "买两个苹果", "买苹果"),
    ("zh", "第一章", "第二章"),
    ("zh", "星期一", "星期天"),
    ("zh", "几百万", "几千万"),
    ("zh", "从3点到5点", "从5点到3点"),
    ("zh", "半年", "一年"),
    ("zh", "三点五分", "三点五十分"),
    ("ja", "千円", "百円"),
    ("ja", "ふたつ", "みっつ"),
    ("ja", "3月5日", "5月3日"),
    ("en", "two of three", "three of two"),
    ("en", "3.5 million", "3.5 billion"),
    ("en", "twenty-one", "twelve"),
    ("en", "March 5", "May 5"),
    ("en", "5k", "5"),
    (None, "五 five", "五 six"),
]


@pytest.mark.parametrize(("language", "one", "other"), CHANGED)
def test_a_changed_number_is_noticed(language: str | None, one: str, other: str) -> None:
    assert number_changed(nfkc(one), nfkc(other), language)
    assert number_changed(nfkc(other), nfkc(one), language)


SAME = [
    ("zh", "3500万", "三千五百万"),
    ("zh", "三千五百", "３５００"),
    ("zh", "两个", "二个"),
    ("zh", "50%", "百分之五十"),
    ("zh", "零下五度", "-5度"),
    ("zh", "2024-03-05", "2024年3月5日"),
    ("zh", "3点半", "3点30分"),
    ("zh", "等一下", "等等"),
    ("zh", "有一个人", "有个人"),
    ("zh", "1个", "一个"),
    ("zh", "十分重要", "非常重要"),
    ("zh", "万一下雨", "如果下雨"),
    ("zh", "千万别忘", "别忘"),
    ("zh", "三明治", "面包"),
    ("zh", "老百姓", "人民"),
    ("zh", "统一", "一致"),
    ("zh", "第1章", "第一章"),
    ("zh", "3月-5月", "3月～5月"),
    ("ja", "五人", "5人"),
    ("ja", "一緒に行く", "ともに行く"),
    ("en", "twenty-one", "21"),
    ("en", "one hundred and five", "105"),
    ("en", "3.5 million", "3,500,000"),
    ("en", "five percent", "5%"),
    ("en", "one day", "a day"),
    ("en", "you may go", "you can go"),
    ("en", "the first", "the 1st"),
]


@pytest.mark.parametrize(("language", "one", "other"), SAME)
def test_the_same_number_in_another_spelling_is_no_change(
    language: str, one: str, other: str
) -> None:
    assert not number_changed(nfkc(one), nfkc(other), language)
    assert not number_changed(nfkc(other), nfkc(one), language)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_two_integers_are_one_number_only_when_equal(one: int, other: int) -> None:
    assert number_changed(f"共{one}元", f"共{other}元", "zh") == (one != other)


@given(st.integers(0, 10**12))
def test_separators_change_nothing(value: int) -> None:
    assert not number_changed(f"{value:,}", str(value), "zh")


@given(st.text(), st.sampled_from([None, "zh", "ja", "en"]))
def test_any_text_can_be_read(text: str, language: str | None) -> None:
    assert not number_changed(nfkc(text), nfkc(text), language)
    assert all(0 <= number.start < number.end for number in numbers_in(text, language))
