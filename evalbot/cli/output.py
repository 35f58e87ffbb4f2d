"""Data on stdout or into a file, in the format asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalbot.errors import InputError

if TYPE_CHECKING:
    from evalbot.formats.tables import Table

PEOPLE_FORMATS = frozenset({"md", "html", "latex", "xlsx"})
ENDINGS = {".md": "md", ".csv": "csv", ".json": "json", ".xlsx": "xlsx", ".html": "html",
           ".tex": "latex"}  # fmt: skip

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="md, csv, json, xlsx, html or latex.  "
        "[default: by --output's ending; else md on a terminal, csv otherwise]",
    ),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file.", metavar="FILE")
]


def choose_format(form: str | None, output: Path | None) -> str:
    """The format meant by the options and by where the output goes; InputError for another."""
    return choose_of(tuple(ENDINGS.values()), form, output, otherwise="csv")


def choose_of(
    formats: Sequence[str], form: str | None, output: Path | None, *, otherwise: str
) -> str:
    """The same of these formats; otherwise: where the output is piped elsewhere."""
    if form is not None:
        from evalbot.formats.problems import one_of, shown

        if form.lower() not in formats:
            raise InputError(f"--format: found {shown(form)}; expected {one_of(formats, form)}")
        return form.lower()
    endings = {ending: name for ending, name in ENDINGS.items() if name in formats}
    if output is not None and output.suffix:
        if output.suffix.lower() not in endings:
            raise InputError(
                f"--output: what format {output.suffix} is cannot be told; give --format, or an "
                f"ending of {', '.join(endings)}"
            )
        return endings[output.suffix.lower()]
    return "md" if output is None and sys.stdout.isatty() else otherwise


def refuse_unwritable(form: str, output: Path | None) -> None:
    """For long work: raises InputError where its tables could not be written at the end."""
    if output is None and form == "xlsx" and sys.stdout.isatty():
        raise InputError("a spreadsheet is no text: give --output FILE.xlsx")
    if output is not None and output.is_dir():
        raise InputError(f"{output} could not be written (it is a folder)")
    if output is not None and not output.parent.is_dir():
        raise InputError(f"{output} could not be written (there is no folder {output.parent})")


def write_tables(*tables: Table, form: str, output: Path | None) -> None:
    """Write tables; raises InputError where the format or the file does not work."""
    from evalbot.formats.tables import render

    data = render(*tables, form=form, to_file=output is not None)
    refuse_unwritable(form, output)
    _write(data, form, output)


def write_values(values: Mapping[str, Any], *, output: Path | None) -> None:
    """Write an object as JSON; raises InputError where the file does not work."""
    refuse_unwritable("json", output)
    text = json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    _write(text.encode(), "json", output)


def write_text(text: str, form: str, output: Path | None) -> None:
    """Write a text of this format; raises InputError where the file does not work."""
    refuse_unwritable(form, output)
    _write(text.encode(), form, output)


def _write(data: bytes, form: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise InputError(f"{output} could not be written ({error.strerror})") from error
    typer.echo(f"wrote {output} ({form})", err=True)
