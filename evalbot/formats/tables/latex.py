"""LaTeX: a table environment with the booktabs rules that journals ask for."""

from __future__ import annotations

from evalbot.formats.tables.table import DASH, Kind, Table

SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}\allowbreak{}",
        '"': r"\textquotedbl{}",
        DASH: "--",
        "−": "$-$",
        "→": r"$\to$",
    }
)


def to_latex(table: Table) -> str:
    """Needs \\usepackage{booktabs}; Chinese and Japanese need a LaTeX that knows them."""
    sides = "".join("l" if column.kind is Kind.TEXT else "r" for column in table.columns)
    head = _line([column.title for column in table.columns])
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escape(table.title)}}}",
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        head,
        r"\midrule",
        *(_line(row) for row in table.shown_rows()),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {_escape(note)}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    # A row that begins with a bracket would be read as an argument of the line before.
    row = " & ".join(
        f"{{{text}}}" if text.startswith("[") else text for text in map(_escape, cells)
    )
    return rf"{row} \\"


def _escape(text: str) -> str:
    return " ".join(text.split()).translate(SPECIAL)
