"""What a failed connection says."""

from __future__ import annotations

import re

from evalbot.formats.received import shorten


def error_words(error: BaseException) -> str:
    """What a failed connection says, without the library's own words around it."""
    cause = getattr(error, "os_error", None) or error
    words = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    refused = re.match(r"Connect call failed|Connection refused", words)
    return "connection refused" if refused else shorten(words)
