"""Charts as files, PNG and SVG, made without a browser and without a network."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evalbot.errors import InputError

if TYPE_CHECKING:
    import altair as alt

VEGA_LITE = "6.4"
"""The version of the grammar that the pinned altair writes."""

PNG_SCALE = 2
LONGEST_NAME = 80


def write_figures(folder: Path, charts: Mapping[str, alt.TopLevelMixin]) -> list[Path]:
    """Write NAME.png and NAME.svg for each chart, making the folder; the paths in order.

    What does not belong in a file's name becomes `_`, and a name that is there already gets
    a number. Raises InputError where the folder or a file cannot be written.
    """
    import vl_convert

    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, chart in zip(file_names(charts), charts.values(), strict=True):
            spec = json.dumps(chart.to_dict())
            png = vl_convert.vegalite_to_png(
                spec, vl_version=VEGA_LITE, scale=PNG_SCALE, allowed_base_urls=[]
            )
            for path, data in (
                (folder / f"{name}.png", png),
                (folder / f"{name}.svg", svg_of(chart).encode("utf-8")),
            ):
                path.write_bytes(data)
                written.append(path)
    except OSError as error:
        raise InputError(f"{folder} could not be written ({error.strerror})") from error
    return written


def svg_of(chart: alt.TopLevelMixin) -> str:
    """The chart as SVG, which loads nothing."""
    import vl_convert

    spec = json.dumps(chart.to_dict())
    svg: str = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    return svg


def file_names(names: Mapping[str, object]) -> list[str]:
    """A name for a file for each name, of letters, digits, `.`, `-` and `_`; no two alike."""
    found: list[str] = []
    for name in names:
        kept = "".join(letter if _fits(letter) else "_" for letter in name)
        stem = kept.strip("._")[:LONGEST_NAME] or "figure"
        number, unused = 1, stem
        while unused.casefold() in (one.casefold() for one in found):
            number += 1
            unused = f"{stem}-{number}"
        found.append(unused)
    return found


def _fits(letter: str) -> bool:
    return letter in "-_." or unicodedata.category(letter)[0] in "LN"
