"""Text of models and files as HTML: always as text, with nothing that hides or turns it."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

UNSEEN = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Characters that turn the direction of what follows, or have no width: shown by their number."""

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CONTROL_PICTURES = 0x2400


def as_text(text: str) -> Markup:
    """Safe HTML that reads as the text does; control characters are seen, and do nothing."""
    shown = text.replace("\r\n", "\n")
    shown = CONTROL.sub(_picture, shown)
    return escape(UNSEEN.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", shown))


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(CONTROL_PICTURES + code) if code < 0x20 else f"⟦U+{code:04X}⟧"
