"""Agreement: worked numbers, second ways, and where a measure is undefined."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.agreement import Agreement, Confusion, agreement, alpha, confusion

LABELS = ("wrong", "acceptable", "correct")
CREDITS = (0, 0.5, 1)
TABLE = Confusion(LABELS, ((8, 3, 1), (2, 9, 5), (0, 2, 20)))
MEASURES = [
    "raw", "kappa", "kappa_linear", "kappa_quadratic", "alpha_nominal", "alpha_interval",
    "ac1", "ac2_linear", "ac2_quadratic",
]  # fmt: skip
WEIGHTED = {name for name in MEASURES if "linear" in name or "quadratic" in name} | {
    "alpha_interval"
}


def values(found: Agreement) -> dict[str, float | None]:
    return {name: getattr(found, name) for name in MEASURES}


def undefined(found: Agreement) -> set[str]:
    """What has no value; each of it has a reason, and nothing else has."""
    missing = {name for name, value in values(found).items() if value is None}
    assert set(found.reasons) == missing
    return missing


def table_of(*counts: tuple[int, ...]) -> Confusion:
    return Confusion(LABELS[: len(counts)], counts)


def test_all_measures_of_fifty_answers() -> None:
    found = agreement(TABLE, CREDITS)
    assert found.n == 50
    assert values(found) == pytest.approx(
        {
            "raw": 0.74,
            "kappa": 0.5896464646,
            "kappa_linear": 0.6691871456,
            "kappa_quadratic": 0.7484276730,
            "alpha_nominal": 0.5922053232,
            "alpha_interval": 0.7495256167,
            "ac1": 0.6201052016,
            "ac2_linear": 0.7046413502,
            "ac2_quadratic": 361 / 461,
        },
        abs=6e-11,
    )
    assert found.reasons == {}


def test_kappa_is_low_where_nearly_all_is_right_and_ac1_is_not() -> None:
    found = agreement(table_of((1, 2), (2, 45)), (0, 1))
    assert found.raw == 0.92
    assert found.kappa == pytest.approx(0.2907801418, abs=6e-11)
    assert found.ac1 == pytest.approx(0.9098286745, abs=6e-11)


def test_missing_ratings_are_left_out_of_alpha() -> None:
    ratings = [
        [1, 1, 0.5, 0, 1, None],
        [1, 0.5, 0.5, 0, 1, 1],
        [1, 1, None, 0, 0.5, 1],
    ]
    assert alpha(ratings, "interval") == pytest.approx(0.8076923077, abs=6e-11)
    assert alpha(ratings, "interval") == pytest.approx(21 / 26)


def test_pairs_are_counted_with_people_in_rows() -> None:
    pairs = [("correct", "wrong"), ("correct", "wrong"), ("wrong", "wrong")]
    assert confusion(pairs, ("wrong", "correct")) == Confusion(
        ("wrong", "correct"), ((1, 0), (2, 0))
    )
    assert confusion([], LABELS).counts == ((0, 0, 0),) * 3
    with pytest.raises(ValueError, match="perfect"):
        confusion([("perfect", "wrong")], LABELS)


def test_without_answers_nothing_is_defined() -> None:
    assert undefined(agreement(confusion([], LABELS), CREDITS)) == set(MEASURES)


def test_one_and_the_same_verdict_throughout_leaves_kappa_and_alpha_undefined() -> None:
    found = agreement(table_of((0, 0, 0), (0, 0, 0), (0, 0, 7)), CREDITS)
    expected = {"kappa", "kappa_linear", "kappa_quadratic", "alpha_nominal", "alpha_interval"}
    assert undefined(found) == expected
    assert "without variation" in found.reasons["kappa"]
    assert (found.raw, found.ac1, found.ac2_linear) == (1, 1, 1)


@pytest.mark.parametrize(
    "counts", [((0, 0, 0), (0, 0, 0), (1, 2, 4)), ((0, 0, 3), (0, 0, 0), (0, 0, 5))]
)
def test_one_constant_side_has_kappa_0(counts: tuple[tuple[int, ...], ...]) -> None:
    found = agreement(table_of(*counts), (0.1, 0.3, 0.7))
    assert (found.kappa, found.kappa_linear, found.kappa_quadratic) == (0, 0, 0)
    assert undefined(found) == set()


@pytest.mark.parametrize(
    ("on_scale", "why"),
    [(None, "credit"), ((0, None, 1), "credit"), ((1, 1, 1), "same credit"), ((), "credit")],
)
def test_without_distances_only_the_plain_measures_stand(
    on_scale: tuple[float | None, ...] | None, why: str
) -> None:
    found = agreement(TABLE, on_scale)
    assert undefined(found) == WEIGHTED
    assert all(why in reason for reason in found.reasons.values())
    assert found.kappa == pytest.approx(0.5896464646, abs=6e-11)


def test_verdicts_that_differ_in_name_alone_have_no_weighted_measure() -> None:
    found = agreement(table_of((3, 1, 0), (2, 4, 0), (0, 0, 0)), (1, 1, 0))
    assert undefined(found) == {"kappa_linear", "kappa_quadratic", "alpha_interval"}
    assert "same credit" in found.reasons["kappa_linear"]
    assert found.ac2_linear == 1


def test_a_scale_of_one_verdict() -> None:
    found = agreement(Confusion(("seen",), ((4,),)), (1,))
    assert undefined(found) == set(MEASURES) - {"raw"}


def test_credits_weigh_by_their_distance_on_the_scale() -> None:
    uneven, shifted = agreement(TABLE, (0, 0.9, 1)), agreement(TABLE, (2, 3.8, 4))
    assert values(uneven) == pytest.approx(values(shifted))
    assert uneven.kappa_linear != pytest.approx(agreement(TABLE, CREDITS).kappa_linear)


@pytest.mark.parametrize(
    ("ratings", "level"),
    [
        ([], "nominal"),
        ([[], []], "interval"),
        ([[1.0, None], [None, 0.0]], "interval"),
        ([["a", "a"], ["a", "a"]], "nominal"),
        # The one that differs has no partner.
        ([["a", "a", "b"], ["a", "a", None]], "nominal"),
    ],
)
def test_alpha_without_variation_or_pairs_is_undefined(
    ratings: list[list[float | str | None]], level: str
) -> None:
    assert alpha(ratings, level) is None


def test_alpha_refuses_what_it_cannot_read() -> None:
    with pytest.raises(ValueError):
        alpha([[1.0], [1.0]], "ratio")
    with pytest.raises(ValueError):
        alpha([[1.0], [1.0, 2.0]], "interval")


def by_definition(ratings: list[list[float | None]], level: str) -> float | None:
    """1 − observed/expected disagreement, pair by pair."""

    def apart(a: float, b: float) -> float:
        return (a - b) ** 2 if level == "interval" else float(a != b)

    units = [[r for r in unit if r is not None] for unit in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    everything = [one for unit in units for one in unit]
    n = len(everything)
    observed = sum(
        sum(apart(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    expected = sum(apart(a, b) for a, b in permutations(everything, 2))
    return 1 - observed * (n - 1) / expected if expected else None


RATING = st.sampled_from([None, 0, 0.5, 1])


@given(
    st.integers(1, 8).flatmap(
        lambda items: st.lists(
            st.lists(RATING, min_size=items, max_size=items), min_size=2, max_size=4
        )
    ),
    st.sampled_from(["nominal", "interval"]),
)
def test_alpha_is_its_definition(ratings: list[list[float | None]], level: str) -> None:
    expected = by_definition(ratings, level)
    found = alpha(ratings, level)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-12))
    names = [[None if r is None else f"v{r}" for r in row] for row in ratings]
    if level == "nominal":
        assert alpha(names, level) == found


def test_weighted_ac_falls_below_minus_one_where_two_never_agree() -> None:
    # seen 3/20; chance 1 · (.4·.6 + .1·.9 + .5·.5) = .58; (.15 − .58)/.42
    found = agreement(table_of((0, 0, 0), (0, 0, 0), (4, 1, 0)), CREDITS)
    assert found.ac2_quadratic == pytest.approx(-43 / 42, abs=1e-15)


TABLES = st.lists(st.integers(0, 6), min_size=9, max_size=9).map(
    lambda cells: table_of(*(tuple(cells[i : i + 3]) for i in (0, 3, 6)))
)


@given(TABLES)
def test_measures_stay_in_range_and_do_not_mind_who_is_who(table: Confusion) -> None:
    found = agreement(table, CREDITS)
    undefined(found)
    turned = Confusion(LABELS, tuple(zip(*table.counts, strict=True)))
    assert values(agreement(turned, CREDITS)) == pytest.approx(values(found), abs=1e-12)
    assert all(value is None or value <= 1 for value in values(found).values())
    assert all(value is None or value >= -1 for name, value in values(found).items()
               if not name.startswith("ac2"))  # fmt: skip
    reversed_scale = Confusion(LABELS, tuple(row[::-1] for row in table.counts[::-1]))
    assert values(agreement(reversed_scale, CREDITS)) == pytest.approx(values(found), abs=1e-12)


def test_agreement_of_many_answers_is_that_of_few() -> None:
    many = Confusion(LABELS, tuple(tuple(c * 2400 for c in row) for row in TABLE.counts))
    few, found = agreement(TABLE, CREDITS), agreement(many, CREDITS)
    assert found.n == 120_000
    assert found.kappa_quadratic == few.kappa_quadratic
    assert found.alpha_interval == pytest.approx(few.kappa_quadratic, abs=0.002)
    assert not math.isnan(found.alpha_interval or math.nan)
