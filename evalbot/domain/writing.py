"""In which language a text is written, as far as its characters tell."""

from __future__ import annotations

import re

KANA = re.compile("[\u3041-\u30ff]")
HAN = re.compile("[\u3400-\u9fff]")


def language_of(text: str) -> str:
    """ja, zh or en: kana are Japanese, Chinese characters without kana Chinese, else English."""
    if KANA.search(text):
        return "ja"
    return "zh" if HAN.search(text) else "en"
