"""The page's own style sheets and scripts, and reading them."""

from __future__ import annotations

from importlib.resources import files


def asset_text(name: str) -> str:
    """The text of one of these files."""
    return (files(__package__ or __name__) / name).read_text(encoding="utf-8")
