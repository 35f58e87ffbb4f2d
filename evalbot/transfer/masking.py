"""Servers' words and settings without what tells where the servers stand.

Masking is safe to repeat: what has been masked once stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import urlsplit

from evalbot.domain.settings import Config
from evalbot.formats.secrets import KEY_PREFIXES, is_secret_name

ADDRESS = "[address]"
PATH = "[path]"
SECRET = "[secret]"
STAND_INS = (ADDRESS, PATH, SECRET)

_URL = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://(?:\[[\w:.%]+\])?[^\s'\"<>\[\]]*")
_NUMERIC = re.compile(r"(?<![\w.:])\[?[0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*(?:%\w+)?\]?(?::\d+)?(?!\w)")
_HOST_AND_PORT = re.compile(r"(?<![\w.-])(?=[\d.-]*[^\W\d])[\w-]+(?:\.[\w-]+)*:\d{2,5}(?!\w)")
_LOCAL_HOST = re.compile(
    r"(?<![\w.-])(?:[\w-]+\.)+(?:local|localdomain|lan|home|internal|intranet|corp)(?![\w-])"
    r"|(?<![\w.-])localhost(?![\w-])",
    re.IGNORECASE,
)
_QUOTED_PATH = re.compile(r"(?P<quote>['\"`])(?:~?/|[A-Za-z]:[\\/]|\\\\)[^\n]*?(?P=quote)")
_PATH = re.compile(
    r"(?<![\w/.~\]])~?/[\w@+~-][\w@+~-]*[/.][^\s'\"`,;:()<>\[\]]*"
    r"|(?<!\w)[A-Za-z]:[\\/][^\s'\"`,;:()<>\[\]]*"
    r"|(?<![\w\\])\\\\[\w.-]+\\[^\s'\"`,;:()<>\[\]]*"
)
_SECRET_WORD = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, KEY_PREFIXES))})[\w-]{{12,}}|(?<=Bearer )[^\s\[\]]+"
)


class Mask:
    """Takes addresses, paths and keys out of texts; hosts are names to be taken out as well."""

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        # A host called like a stand-in would have the stand-ins replaced for ever.
        words = {host for host in hosts if host and f"[{host.lower()}]" not in STAND_INS}
        names = sorted((re.escape(word) for word in words), key=len, reverse=True)
        self._hosts = (
            re.compile(rf"(?<![\w-])(?:{'|'.join(names)})(?![\w-])", re.I) if names else None
        )

    def text(self, text: str) -> str:
        """A server's words, what could be an address, a path or a key replaced."""
        before = None
        while text != before:
            before, text = text, self._once(text)
        return text

    def _once(self, text: str) -> str:
        text = _SECRET_WORD.sub(SECRET, text)
        text = _URL.sub(ADDRESS, text)
        text = _QUOTED_PATH.sub(rf"\g<quote>{PATH}\g<quote>", text)
        text = _PATH.sub(PATH, text)
        text = _NUMERIC.sub(_without_ip, text)
        text = _HOST_AND_PORT.sub(ADDRESS, text)
        text = _LOCAL_HOST.sub(ADDRESS, text)
        return text if self._hosts is None else self._hosts.sub(ADDRESS, text)

    def optional(self, text: str | None) -> str | None:
        """The same; None stays None."""
        return None if text is None else self.text(text)

    def value(self, value: Any, name: str = "") -> Any:
        """A setting of any shape; a text under a key's name is a secret."""
        if isinstance(value, str):
            return SECRET if value and is_secret_name(name) else self.text(value)
        if isinstance(value, dict):
            return {key: self.value(inner, key) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner, name) for inner in value]
        return value

    def model(self, name: str | None) -> str | None:
        """A model's name; of a path to its file only the file's name."""
        if name is None:
            return None
        if re.match(r"[A-Za-z]:[\\/]|\\\\", name):
            return PureWindowsPath(name).name
        if name.startswith(("/", "~/")):
            return PurePosixPath(name).name
        return ADDRESS if "://" in name else name


def mask_for(config: Config) -> Mask:
    """A mask that knows the hosts of the config."""
    urls = [endpoint.base_url for endpoint in config.endpoints]
    urls += [judge.api_base for judge in config.judges if judge.api_base is not None]
    return Mask(urlsplit(url).hostname or "" for url in urls)


def _without_ip(match: re.Match[str]) -> str:
    words = match[0]
    address = words
    if words.startswith("["):
        address = words[1:].partition("]")[0]
    elif words.count(":") == 1:
        address = words.partition(":")[0]
    try:
        ip_address(address.rstrip("."))
    except ValueError:
        return words
    return ADDRESS
