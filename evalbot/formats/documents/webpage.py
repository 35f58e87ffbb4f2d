"""A document as one HTML file that loads nothing from anywhere."""

from __future__ import annotations

import base64
from html import escape

from evalbot.formats.documents.document import Block, Bullets, Code, Document, Figure, Paragraph
from evalbot.formats.tables import Table
from evalbot.formats.tables.webpage import table_html

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may do with the file: show it."""

STYLE = """\
:root { color-scheme: light dark; --line: #d0d4da; --soft: #f4f5f7; --ink: #1c1e21;
  --faint: #5c6470; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3a4048; --soft: #20242a; --ink: #e6e8eb; --faint: #a2abb8; --paper: #15181c; }
}
body { font: 16px/1.55 system-ui, "Noto Sans CJK SC", sans-serif; margin: 0 auto;
  padding: 2rem 1.25rem; max-width: 68rem; background: var(--paper); color: var(--ink); }
h1 { font-size: 1.9rem; line-height: 1.2; }
h2 { font-size: 1.35rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin-top: 1.75rem; }
p, li { max-width: 46rem; }
.weighty { font-weight: 600; }
nav ul { columns: 2; padding: 0; list-style: none; }
nav .part { padding-left: 1.25rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; }
caption { font-weight: 600; text-align: left; padding: 0.4rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.7rem; text-align: left;
  vertical-align: top; }
thead th { background: var(--soft); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
.note { font-size: 0.8rem; color: var(--faint); overflow-wrap: anywhere; margin: 0.25rem 0;
  max-width: none; }
pre { background: var(--soft); padding: 0.8rem; white-space: pre-wrap; overflow-wrap: anywhere;
  font-size: 0.85rem; }
figure { margin: 1.25rem 0; }
figure img { max-width: 100%; background: #fff; }
figcaption { font-size: 0.85rem; color: var(--faint); }
@media print { nav { display: none; } body { max-width: none; } .scroll { overflow: visible; } }"""


def to_html(document: Document) -> str:
    """The document with a table of its contents."""
    contents = "\n".join(
        f'<li class="{"chapter" if section.level == 2 else "part"}">'
        f'<a href="#s{place}">{escape(section.heading)}</a></li>'
        for place, section in enumerate(document.sections)
    )
    sections = "\n".join(
        f'<h{section.level} id="s{place}">{escape(section.heading)}</h{section.level}>\n'
        + "\n".join(map(_block, section.blocks))
        for place, section in enumerate(document.sections)
    )
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(document.title)}</title>
<style>
{STYLE}
</style>
</head>
<body>
<h1>{escape(document.title)}</h1>
{"".join(map(_block, document.foreword))}
{"".join(map(_paragraph, document.lead))}
<nav><ul>
{contents}
</ul></nav>
{sections}
</body>
</html>
"""


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return _paragraph(block)
        case Bullets():
            items = "".join(f"<li>{escape(item)}</li>" for item in block.items)
            return f"<ul>{items}</ul>"
        case Code():
            return f"<pre>{escape(block.text)}</pre>"
        case Figure():
            # As a picture, so that nothing in it can act.
            data = base64.b64encode(block.svg.encode()).decode()
            caption = escape(block.caption)
            return (
                f'<figure><img src="data:image/svg+xml;base64,{data}" alt="{caption}">'
                f"<figcaption>{caption}</figcaption></figure>"
            )
        case Table():
            return f'<div class="scroll">{table_html(block)}</div>'


def _paragraph(paragraph: Paragraph) -> str:
    mark = ' class="weighty"' if paragraph.is_weighty else ""
    return f"<p{mark}>{escape(paragraph.text)}</p>"
