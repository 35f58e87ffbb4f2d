"""Charts as specifications: what is drawn, joined, left out and said."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.reporting.charts import (
    QualityPoint,
    first_token_chart,
    quality_speed_charts,
    throughput_chart,
)
from evalbot.reporting.charts.first_token import round_ticks
from evalbot.reporting.charts.look import COLOURS, SHAPES, looks
from evalbot.reporting.charts.placing import Point, place_names

HOSTILE = [
    "__proto__",
    "constructor",
    "a.b[0]'\"\\",
    "datum.x",
    "datum['y']",
    "null",
    "123",
    "{{expr}}",
    "<script>alert(1)</script>&amp;",
    "x" * 300,
]
OURS = {
    "panel", "name", "setting", "stretch", "x", "drawn_x", "y", "top", "flag", "evidence", "sign",
    "left", "right", "bottom", "name_x", "name_y", "align", "lead_x", "lead_y", "lead",
}  # fmt: skip


def row(model: str = "a", **values: Any) -> SpeedRow:
    return SpeedRow(**{"source": SpeedSource.EVALBOT, "model": model, **values})


def sweep(model: str = "a", *speeds: float, **values: Any) -> list[SpeedRow]:
    """A row for 1, 2, 4 … streams each."""
    return [
        row(model, **{"concurrency": 2**n, "aggregate_tps": tps, "context_label": "5K", **values})
        for n, tps in enumerate(speeds)
    ]


def spec(chart: Any) -> dict[str, Any]:
    assert chart is not None
    found: dict[str, Any] = chart.to_dict()
    return found


def panels(found: dict[str, Any]) -> list[dict[str, Any]]:
    return found.get("concat") or [found]


def layers(found: dict[str, Any], mark: str, **properties: Any) -> Iterator[list[dict[str, Any]]]:
    """The values of each layer with this mark."""
    for panel in panels(found):
        for layer in panel["layer"]:
            if layer["mark"]["type"] == mark and properties.items() <= layer["mark"].items():
                yield found["datasets"][layer["data"]["name"]]


def drawn(found: dict[str, Any], mark: str, **properties: Any) -> list[tuple[str, float, float]]:
    values = [value for layer in layers(found, mark, **properties) for value in layer]
    return [(value["name"], value["x"], value["y"]) for value in values]


def subtitle(found: dict[str, Any]) -> str:
    return "\n".join(found["title"]["subtitle"])


def colour_scale(found: dict[str, Any]) -> dict[str, str]:
    encoding = panels(found)[0]["layer"][0]["encoding"]["color"]
    assert encoding["scale"]["domain"] == list(dict.fromkeys(encoding["scale"]["domain"]))
    return dict(zip(encoding["scale"]["domain"], encoding["scale"]["range"], strict=True))


def fields(node: Any) -> Iterator[str]:
    """Every field that a specification names."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "field":
                yield value
            if key != "datasets":
                yield from fields(value)
    elif isinstance(node, list):
        for one in node:
            yield from fields(one)


def keys(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from node
        for value in node.values():
            yield from keys(value)
    elif isinstance(node, list):
        for one in node:
            yield from keys(one)


def test_nothing_to_draw() -> None:
    failed = row(concurrency=1, context_tokens=9, status=SpeedStatus.OOM)
    assert throughput_chart([]) is None
    assert first_token_chart([]) is None
    assert quality_speed_charts([]) == {}
    assert throughput_chart([failed, row(decode_tps_p50=3.0)]) is None
    assert first_token_chart([failed, row(ttft_ms_p50=3.0)]) is None
    assert quality_speed_charts([QualityPoint("s", "a", "Rate", "lower", None)]) == {}


def test_lines_join_good_rows_and_open_marks_are_the_flagged_ones() -> None:
    rows = sweep("a", 10.0, 15.0, 0.1)
    rows[2] = replace(rows[2], status=SpeedStatus.COLLAPSED, evidence="memory full")
    found = spec(throughput_chart(rows))
    good = [("a", 1, 10), ("a", 2, 15)]
    assert drawn(found, "line") == good
    assert drawn(found, "point", filled=True, size=55) == good
    assert drawn(found, "point", filled=False, fill="white") == [("a", 4, 0.1)]
    assert list(colour_scale(found)) == ["a", "collapsed (not joined)"]


def test_a_line_does_not_pass_over_a_flagged_row() -> None:
    rows = sweep("a", 10.0, 20.0, 30.0, 40.0)
    rows[1] = replace(rows[1], status=SpeedStatus.SUSPECT)
    values = next(layers(spec(throughput_chart(rows)), "line"))
    assert [(value["x"], value["stretch"]) for value in values] == [(1, 0), (4, 1), (8, 1)]


def test_rows_without_figures_are_counted() -> None:
    rows = [
        *sweep("a", 10.0),
        row("b", concurrency=1, status=SpeedStatus.OOM),
        row("b", concurrency=2, status=SpeedStatus.OOM),
        row("c", status=SpeedStatus.CONTEXT_OVERFLOW),
        row("d", aggregate_tps=3.0),
        row("d", concurrency=4),
        row("d", concurrency=4, aggregate_tps=float("nan")),
    ]
    assert subtitle(spec(throughput_chart(rows))).endswith(
        "Not drawn: 1 beyond the context, 2 out of memory, 1 without concurrency, "
        "2 without throughput"
    )


def test_a_panel_for_each_context_from_short_to_long() -> None:
    rows = [
        *sweep("a", 8.0, context_label="~100K"),
        *sweep("a", 9.0, context_label="5K"),
        *sweep("a", 10.0, context_label="short"),
        *sweep("a", 9.5, context_label=None, context_tokens=2048),
        *sweep("a", 7.0, context_label=None),
    ]
    titles = [panel["title"]["text"] for panel in panels(spec(throughput_chart(rows)))]
    assert titles == [
        "Context not told",
        "Context short",
        "Context 2,048 tokens",
        "Context 5K",
        "Context ~100K",
    ]


def tops(found: dict[str, Any]) -> list[float]:
    return [
        panel["layer"][0]["encoding"]["y"]["scale"]["domain"][1] for panel in panels(found)
    ]  # fmt: skip


def test_panels_share_a_scale_from_zero_while_all_can_be_read() -> None:
    rows = sweep("a", 100.0, context_label="1K") + sweep("a", 25.0, context_label="8K")
    shared = spec(throughput_chart(rows))
    assert tops(shared) == [106.0, 106.0]
    assert "own scale" not in subtitle(shared)
    own = spec(throughput_chart([*rows, *sweep("a", 10.0, context_label="64K")]))
    assert tops(own) == pytest.approx([106.0, 26.5, 10.6])
    assert "Each panel has its own scale" in subtitle(own)


def test_a_panel_of_collapsed_rows_is_not_blown_up() -> None:
    rows = sweep("a", 100.0, context_label="1K")
    rows += sweep("a", 0.1, context_label="64K", status=SpeedStatus.COLLAPSED)
    assert tops(spec(throughput_chart(rows))) == [106.0, 106.0]


def test_flagged_marks_on_each_other_stand_side_by_side() -> None:
    rows = [one for name in "ab" for one in sweep(name, 0.1, status=SpeedStatus.COLLAPSED)]
    found = spec(throughput_chart([*rows, *sweep("c", 50.0)]))
    values = next(layers(found, "point", filled=False))
    assert [value["x"] for value in values] == [1, 1]
    assert values[0]["drawn_x"] < 1 < values[1]["drawn_x"]
    assert "side by side" in subtitle(found)


def test_dashes_tell_settings_of_one_model_apart() -> None:
    rows = [*sweep("a", 1.0, 2.0, label="first"), *sweep("a", 2.0, 3.0, label="retest")]
    several = spec(throughput_chart([*rows, *sweep("b", 3.0, 4.0, label="first")]))
    line = next(layer for layer in panels(several)[0]["layer"] if layer["mark"]["type"] == "line")
    assert line["encoding"]["strokeDash"]["scale"]["domain"] == ["first", "retest"]
    assert list(colour_scale(several)) == ["a", "b"]
    alone = spec(throughput_chart(rows))
    assert list(colour_scale(alone)) == ["a (first)", "a (retest)"]


def settings_told(*rows: SpeedRow) -> list[str]:
    """What legends tell lines of one model apart by."""
    names = colour_scale(spec(throughput_chart(rows)))
    return sorted(name.removeprefix("a ") for name in names)


def test_a_label_that_each_machine_has_its_own_of_is_not_in_legends() -> None:
    pc = sweep("a", 1.0, 2.0, label="first", hardware="pc")
    mac = sweep("a", 2.0, 3.0, label="second", hardware="mac")
    vulkan = sweep("a", 3.0, label="third", hardware="mac", backend="Vulkan")
    assert settings_told(*pc, *mac) == ["(mac)", "(pc)"]
    assert settings_told(*pc, *mac, *vulkan) == ["(mac, Vulkan)", "(mac, no backend)",
                                                 "(pc, no backend)"]  # fmt: skip
    # Two backends of one machine are enough too.
    assert settings_told(*mac, *vulkan) == ["(Vulkan)", "(no backend)"]
    # One machine measured twice: only the label tells.
    again = sweep("a", 2.0, label="again", hardware="pc")
    assert settings_told(*pc, *mac, *again) == ["(again, pc)", "(first, pc)", "(second, mac)"]
    assert settings_told(*pc, *again) == ["(again)", "(first)"]


def test_of_several_models_each_must_be_told_apart_by_its_machines() -> None:
    def dashes(*rows: SpeedRow) -> list[str]:
        found = spec(throughput_chart(rows))
        [line] = [one for one in panels(found)[0]["layer"] if one["mark"]["type"] == "line"]
        told: list[str] = line["encoding"]["strokeDash"]["scale"]["domain"]
        return told

    rows = [
        *sweep("a", 1.0, 2.0, label="first", hardware="pc"),
        *sweep("a", 2.0, 3.0, label="second", hardware="mac"),
        *sweep("b", 3.0, 4.0, label="third", hardware="pc"),
    ]
    assert dashes(*rows) == ["mac", "pc"]
    rows += sweep("b", 4.0, 5.0, label="fourth", hardware="pc")
    assert dashes(*rows) == ["first, pc", "fourth, pc", "second, mac", "third, pc"]


def test_a_line_goes_through_the_mean_of_several_rows_at_one_place() -> None:
    found = spec(throughput_chart([*sweep("a", 10.0, 30.0), *sweep("a", 20.0)]))
    assert drawn(found, "line") == [("a", 1, 15), ("a", 2, 30)]
    assert len(drawn(found, "point")) == 3


def test_a_model_looks_the_same_in_every_figure_of_a_set() -> None:
    rows = [
        *sweep("b", 10.0),
        row("a", context_tokens=9, ttft_ms_p50=3.0),
        row("b", context_tokens=9, ttft_ms_p50=3.0),
    ]
    throughput = colour_scale(spec(throughput_chart(rows)))
    first = colour_scale(spec(first_token_chart(rows)))
    assert throughput == {"b": COLOURS[1]}
    assert first == {"a": COLOURS[0], "b": COLOURS[1]}
    assert colour_scale(spec(throughput_chart(rows, models=["0", "a", "b"])))["b"] == COLOURS[2]


def test_looks_come_again_only_after_all_pairs() -> None:
    names = [f"{number:03}" for number in range(len(COLOURS) * len(SHAPES))]
    assert len(set(looks(names).values())) == len(names)


def test_first_token_takes_medians_at_the_lowest_concurrency() -> None:
    rows = [
        row(context_tokens=1000, concurrency=1, ttft_ms_p50=500.0, ttft_ms_mean=9e9),
        row(context_tokens=2000, concurrency=1, ttft_ms_mean=900.0),
        row(context_tokens=4000, concurrency=1, ttft_ms_p50=2000.0, ttft_ms_p90=2500.0),
        row(context_tokens=4000, concurrency=2, ttft_ms_p50=3000.0),
        row(context_label="32K", concurrency=1, ttft_ms_p50=3000.0),
        row(context_tokens=8000, concurrency=1),
    ]
    found = spec(first_token_chart(rows))
    assert drawn(found, "line") == [("a", 1000, 0.5), ("a", 2000, 0.9), ("a", 4000, 2.0)]
    assert [value["top"] for value in next(layers(found, "rule"))] == [2.5]
    assert subtitle(found) == (
        "Concurrency 1; medians (1 of 3 are means); whiskers end at the 90th percentile\n"
        "Not drawn: 1 at another concurrency, 1 without a count of context tokens, "
        "1 without time to first token"
    )
    axis = found["layer"][0]["encoding"]["y"]
    assert axis["title"] == "Time to first token (s, logarithmic)"
    assert axis["scale"]["type"] == "log"


def test_first_token_where_no_concurrency_is_told() -> None:
    found = spec(first_token_chart([row(context_tokens=10, ttft_ms_mean=5.0)]))
    assert subtitle(found) == "Concurrency not told; means"


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.3, 30, [0.5, 1, 2, 5, 10, 20]),
        (400, 150_000, [500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]),
        (3, 150_000, [10, 100, 1000, 10_000, 100_000]),
    ],
)
def test_ticks_are_round(low: float, high: float, ticks: list[float]) -> None:
    assert round_ticks(low, high) == ticks


def point(model: str = "a", **values: Any) -> QualityPoint:
    given = {"suite": "s", "rate_title": "Mistranslation rate", "direction": "lower", "rate": 0.25}
    return QualityPoint(**{**given, "model": model, "decode_tps": 20.0, **values})


def test_quality_says_which_direction_is_better() -> None:
    charts = quality_speed_charts(
        [
            point(),
            point(suite="t", rate_title="Pass rate", direction="higher"),
        ]
    )
    titles = {
        suite: (layer["encoding"]["x"]["title"], layer["encoding"]["y"]["title"])
        for suite, chart in charts.items()
        for layer in spec(chart)["layer"][:1]
    }
    speed = "Decode speed (tok/s), higher is better"
    assert titles == {
        "s": (speed, "Mistranslation rate (%), lower is better"),
        "t": (speed, "Pass rate (%), higher is better"),
    }


def test_two_measures_of_a_suite_do_not_share_an_axis() -> None:
    charts = quality_speed_charts([point(), point(rate_title="Pass rate", direction="higher")])
    assert list(charts) == [
        "s, Mistranslation rate, lower is better",
        "s, Pass rate, higher is better",
    ]


def test_quality_in_percent_with_intervals_where_known() -> None:
    points = [
        point("a", low=0.2, high=0.4, decode_low=18.0, decode_high=21.0),
        point("b", rate=1.0, decode_tps=60.0),
        point("c", rate=None),
        point("d", decode_tps=None),
    ]
    found = spec(quality_speed_charts(points)["s"])
    a, b = next(layers(found, "point"))
    assert (a["y"], a["bottom"], a["top"], a["left"], a["right"]) == (25, 20, 40, 18, 21)
    assert (b["y"], b["bottom"], b["top"], b["left"], b["right"]) == (100, 100, 100, 60, 60)
    assert subtitle(found) == (
        "Lines are 95 % intervals, where known\n"
        "Not drawn: 1 without a decode speed, 1 without a rate"
    )
    assert found["layer"][0]["encoding"]["x"]["scale"]["domain"][0] == 0
    assert found["layer"][0]["encoding"]["y"]["scale"]["domain"][1] == 100


def test_an_axis_of_speed_that_does_not_begin_at_zero_says_so() -> None:
    found = spec(quality_speed_charts([point("a"), point("b", decode_tps=21.0)])["s"])
    assert found["layer"][0]["encoding"]["x"]["scale"]["domain"][0] > 0
    assert "The axis of speed does not begin at 0" in subtitle(found)


def test_names_cover_neither_points_nor_each_other() -> None:
    points = [
        Point(x, y, x - 20, x + 20, y - 60, y + 60, name_width=90)
        for x, y in [(300, 200), (310, 206), (322, 195), (305, 230), (340, 210), (5, 5), (598, 398)]
    ]
    places = place_names(points, 600, 400)
    for one, place in enumerate(places):
        assert place.box.left >= 0
        assert place.box.right <= 600
        assert not any(place.box.shared(other.box) for other in points)
        assert not any(place.box.shared(other.box) for other in places[one + 1 :])


def hostile_charts() -> dict[str, Any]:
    rows = [
        row(
            name,
            label=name,
            hardware=name,
            context_label="constructor",
            context_tokens=10**n,
            concurrency=n,
            aggregate_tps=float(n),
            ttft_ms_p50=float(n),
            evidence=name,
            status=status,
        )
        for name in HOSTILE
        for n, status in ((1, SpeedStatus.OK), (2, SpeedStatus.OK), (4, SpeedStatus.CACHED))
    ]
    points = [point(name, suite="s", rate_title="constructor") for name in HOSTILE]
    return {
        "throughput": throughput_chart(rows),
        "first token": first_token_chart(rows),
        **quality_speed_charts(points),
    }


def test_names_from_outside_are_never_fields_or_expressions() -> None:
    for chart in hostile_charts().values():
        found = spec(chart)
        assert set(fields(found)) <= OURS
        assert not {"expr", "signal", "transform", "params", "url", "href"} & set(keys(found))
        names = {value["name"] for values in found["datasets"].values() for value in values}
        assert names == set(HOSTILE)


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("", "(no name)"),
        (" ", "(no name)"),
        ("a\nb\x00\ud800\uffff", "a\ufffdb\ufffd\ufffd\ufffd"),
        ("a\u202eb", "a\ufffdb"),
        ("日本語 \u3000モデル", "日本語 \u3000モデル"),
    ],
)
def test_names_that_no_chart_can_hold(name: str, seen: str) -> None:
    assert list(colour_scale(spec(throughput_chart(sweep(name, 1.0))))) == [seen]


def test_a_long_name_is_whole_in_the_data_and_cut_in_the_legend() -> None:
    found = spec(throughput_chart(sweep("x" * 300, 1.0)))
    assert drawn(found, "point")[0][0] == "x" * 300
    assert found["config"]["legend"]["labelLimit"] == 300


def test_charts_are_on_white_with_fonts_for_japanese_and_chinese() -> None:
    found = spec(throughput_chart(sweep("a", 1.0)))
    assert found["background"] == "white"
    assert "Noto Sans CJK JP" in found["config"]["font"]
