"""Comparisons as tables for people and values for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalbot.auditing.comparing import Comparison
from evalbot.auditing.pairs import ALPHA, NOISE, Pair
from evalbot.formats.tables import Column, Kind, Table, Value
from evalbot.formats.tables.table import DASH
from evalbot.formats.words import count
from evalbot.stats.paired import fewest_one_way
from evalbot.stats.rounding import half_up

TEXT, COUNT, NUMBER, RATE = Kind.TEXT, Kind.COUNT, Kind.NUMBER, Kind.RATE
PAIR_FIELDS = (
    "a", "b", "n", "difference", "p", "p_holm", "wins", "losses", "ties", "separable",
    "cases_needed", "swap_after", "run_a", "run_b", "decode_tps_difference",
    "ttfot_ms_difference", "method", "after_one",
)  # fmt: skip
SMALLEST_P = 0.0001


def comparison_values(found: Comparison) -> dict[str, Any]:
    """contract.md's object of `compare`."""
    return {
        "suite": found.suite,
        "runs": list(found.runs),
        "layer": str(found.layer),
        "judge": found.judge,
        "n": found.n,
        "pairs": [{name: getattr(pair, name) for name in PAIR_FIELDS} for pair in found.pairs],
        "changed": [
            {
                "case": one.case,
                "model": one.model,
                "repeat": one.repeat,
                "before": one.before,
                "after": one.after,
                "verdict_before": one.verdict_before,
                "verdict_after": one.verdict_after,
            }
            for one in found.changed
        ],
        "ranks": {model: list(ranks) for model, ranks in found.ranks.items()},
        "letters": dict(found.letters),
        "notes": list(found.notes),
    }


def pairs_machine_table(found: Comparison) -> Table:
    """The pairs with every field."""
    return Table(
        "Pairs",
        tuple(Column(name, name) for name in PAIR_FIELDS),
        tuple(tuple(_plain(getattr(pair, name)) for name in PAIR_FIELDS) for pair in found.pairs),
    )


def comparison_tables(found: Comparison) -> list[Table]:
    """What people read: the pairs, the ranks, and of a retest what has changed."""
    return [
        pairs_table(found),
        *([ranks_table(found)] if found.ranks else []),
        *([_changed_table(found)] if len(found.runs) == 2 else []),
    ]


def pairs_table(found: Comparison) -> Table:
    """Each pair, with what can be said of it in words."""
    retest = len(found.runs) == 2
    timed = any(pair.decode_tps_difference is not None for pair in found.pairs)
    minus = "before − after" if retest else "a − b"
    first_text = any(pair.ttfot_ms_difference is not None for pair in found.pairs)
    columns = [
        *([Column("a", "model")] if retest else [Column("a", "a"), Column("b", "b")]),
        Column("n", "n", COUNT),
        Column("difference", minus if retest else "rate a − rate b", NUMBER),
        Column("wins", "better before" if retest else "a better", COUNT),
        Column("losses", "better after" if retest else "b better", COUNT),
        Column("ties", "alike", COUNT),
        Column("p_holm", "p (Holm)", NUMBER),
        Column("words", "told apart?"),
        Column("swap_after", "changed verdicts that swap them", COUNT),
        *([Column("tps", f"tok/s {minus}", NUMBER)] if timed else []),
        *([Column("first", f"first text ms {minus}", NUMBER, 0)] if first_text else []),
    ]
    return Table(
        _title(found),
        tuple(columns),
        tuple(_pair_row(pair, columns) for pair in found.pairs),
        tuple(_notes(found)),
    )


def in_words(pair: Pair) -> str:
    """Whether the two can be told apart, and what it would take."""
    if pair.p_holm is None:
        return "no case that both have a verdict on"
    if pair.separable:
        return "yes"
    if pair.wins == pair.losses == 0:
        return "no: alike on every case"
    if pair.cases_needed is None:
        is_even = abs(pair.difference or 0.0) <= NOISE
        return f"no: {'no difference so far' if is_even else 'too few cases or documents'}"
    return f"no: about {_about(pair.cases_needed)} cases would tell"


def ranks_table(found: Comparison) -> Table:
    """By model, how often it holds each rank when the cases are drawn anew."""
    order = sorted(found.ranks, key=lambda name: [-share for share in found.ranks[name]])
    return Table(
        f"{found.suite}: probability of each rank ({count(found.n, 'case')})",
        (
            Column("model", "model"),
            Column("letters", "alike"),
            *(Column(f"rank_{place}", f"rank {place}", RATE) for place in range(1, len(order) + 1)),
        ),
        tuple((name, found.letters.get(name), *found.ranks[name]) for name in order),
        (
            "the share of redrawn sets of cases in which a model holds the rank, ties shared: how "
            "much the order hangs on which cases were asked, not a test",
            "alike: models that share a letter cannot be told apart",
        ),
    )


def _changed_table(found: Comparison) -> Table:
    return Table(
        f"{found.suite}: answers whose verdict changed, {found.runs[0]} → {found.runs[1]}",
        (
            Column("case", "case"),
            Column("model", "model"),
            Column("repeat", "repeat", COUNT),
            Column("verdict_before", "was"),
            Column("verdict_after", "is"),
            Column("before", "said before"),
            Column("after", "says now"),
        ),
        tuple(
            (one.case, one.model, one.repeat, one.verdict_before, one.verdict_after,
             _short(one.before), _short(one.after))
            for one in found.changed
        ),
        () if found.changed else ("no answer has another verdict than before",),
    )  # fmt: skip


def _pair_row(pair: Pair, columns: Sequence[Column]) -> tuple[Value, ...]:
    cells: Mapping[str, Value] = {
        "a": pair.a,
        "b": pair.b,
        "n": pair.n,
        "difference": None if pair.difference is None else points(pair.difference),
        "wins": pair.wins,
        "losses": pair.losses,
        "ties": pair.ties,
        "p_holm": p_shown(pair.p_holm),
        "words": in_words(pair),
        "swap_after": pair.swap_after,
        "tps": pair.decode_tps_difference,
        "first": pair.ttfot_ms_difference,
    }
    return tuple(cells[column.name] for column in columns)


def _notes(found: Comparison) -> Iterator[str]:
    rate = found.rubric.rate
    yield from found.notes
    tested = sum(pair.p is not None for pair in found.pairs)
    if tested:
        adjusted = f"adjusted for {tested} comparisons (Holm), " if tested > 1 else ""
        comparisons = f"{tested} comparison" + ("s" if tested > 1 else "")
        yield (
            f"{rate.title}, {rate.direction} is better; exact paired sign-flip test on each "
            f"pair's shared cases, {adjusted}told apart at {ALPHA * 100:g} %"
        )
        together = "; cases of one document count as one" if found.in_documents else ""
        yield (
            f"with {comparisons}, at least {fewest_one_way(tested)} cases must differ, all "
            f"in one direction, before any two can be told apart{together}"
        )
        yield (
            "changed verdicts that swap them: so few other verdicts would put the one behind "
            "ahead; 1 means that a single verdict decides the order"
        )
    if any(pair.method == "normal" for pair in found.pairs):
        yield (
            "pairs with more than 2,000 differing cases, or 100 whose weights share no scale: by "
            "the normal approximation"
        )


def _title(found: Comparison) -> str:
    whose = f"{found.layer} layer" + (f", judge {found.judge}" if found.judge else "")
    if len(found.runs) == 2:
        return f"{found.suite}: {found.runs[0]} asked again as {found.runs[1]}, {whose}"
    return f"{found.suite}: which models can be told apart, {whose} ({found.runs[0]})"


def points(difference: float) -> str:
    """A difference of two rates in percentage points, with its sign."""
    shown = half_up(abs(difference) * 100, 1)
    sign = "" if float(shown) == 0 else "−" if difference < 0 else "+"
    return f"{sign}{shown}"


def p_shown(p: float | None) -> str | None:
    """A probability with as many digits as tell something."""
    if p is None:
        return None
    return f"< {SMALLEST_P}" if p < SMALLEST_P else half_up(p, 4 if p < 0.01 else 3)


def _about(count: int) -> str:
    """Two digits are all that such a forecast holds."""
    unit = 10 ** max(0, len(str(count)) - 2)
    return f"{-(-count // unit) * unit:,}"


def _short(text: str, longest: int = 120) -> str:
    line = " ".join(text.split()) or DASH
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _plain(value: object) -> Value:
    if isinstance(value, bool):
        return str(value).lower()
    assert value is None or isinstance(value, (str, int, float))
    return value
