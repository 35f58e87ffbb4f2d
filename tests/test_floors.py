"""Imports only ever go down: edges → services → pure code and the two adapters."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "evalbot"

EDGES = {"cli", "ui"}
SERVICES = {
    "running", "grading", "judging", "reviewing", "chatting", "speed", "auditing", "reporting",
    "transfer", "demo",
}  # fmt: skip
ADAPTERS = {"store", "endpoints", "providers"}
PURE = {"scoring", "stats", "formats", "domain", "errors", "fingerprint"}

MAY_IMPORT = {
    **dict.fromkeys(EDGES, EDGES | SERVICES | ADAPTERS | PURE),
    **dict.fromkeys(SERVICES, SERVICES | ADAPTERS | PURE),
    **dict.fromkeys(ADAPTERS | PURE, PURE),
}
ONLY_IN = {
    "sqlalchemy": {"store"},
    "alembic": {"store"},
    "aiohttp": {"endpoints"},
    "litellm": {"providers"},
    "anthropic": {"providers"},
    "typer": {"cli"},
    "rich": {"cli"},
    "gradio": {"ui"},
    "fastapi": {"ui"},
    "starlette": {"ui"},
    "uvicorn": {"ui"},
    "markupsafe": {"ui"},
    "argon2": {"reviewing"},
}
FILES = sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "evalbot" and len(parts) > 1 and parts[1] in MAY_IMPORT:
            assert parts[1] == part or parts[1] in MAY_IMPORT[part], f"{part} imports {name}"
        if parts[0] in ONLY_IN:
            assert part in ONLY_IN[parts[0]], f"{part} imports {name}"


def test_every_part_has_its_floor() -> None:
    parts = {part_of(path) for path in FILES} - {"__init__"}
    assert parts <= set(MAY_IMPORT)


def test_migrations_stay_outside_the_package() -> None:
    assert not (PACKAGE / "migrations").exists()
