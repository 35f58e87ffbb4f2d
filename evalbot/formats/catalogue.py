"""Where suites and rubrics are found: beside evalbot.yaml first, then among the shipped ones."""

from __future__ import annotations

from pathlib import Path

from evalbot.errors import NotFoundError
from evalbot.formats import rubrics, suites
from evalbot.formats.problems import nearest, shown


def shipped_folder() -> Path:
    """Holds the shipped datasets/, rubrics/ and migrations/: in the package, or the repository."""
    package = Path(__file__).parents[1]
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parent


def list_suites(config_folder: Path) -> dict[str, Path]:
    """The folder of every suite by its name; one's own hide shipped ones of the same name."""
    return {
        path.parent.name: path.parent
        for home in reversed(_homes(config_folder, suites.HOME))
        for path in sorted(home.glob(f"*/{suites.HEAD}"))
    }


def list_rubrics(config_folder: Path) -> dict[str, Path]:
    """The file of every rubric by its name; one's own hide shipped ones of the same name."""
    return {
        path.stem: path
        for home in reversed(_homes(config_folder, rubrics.HOME))
        for path in sorted(home.glob("*.yaml"))
    }


def find_suite(name_or_path: str, config_folder: Path) -> Path:
    """The suite's folder. Raises NotFoundError, which names the nearest one."""
    known = list_suites(config_folder)
    path = Path(name_or_path)
    if name_or_path in known:
        return known[name_or_path]
    if path.name == suites.HEAD and _is_file(path):
        return path.parent
    if _is_file(path / suites.HEAD):
        return path
    raise _not_found("suite", name_or_path, known, _homes(config_folder, suites.HOME))


def find_rubric(name_or_path: str, config_folder: Path) -> Path:
    """The rubric's file. Raises NotFoundError, which names the nearest one."""
    known = list_rubrics(config_folder)
    if name_or_path in known:
        return known[name_or_path]
    path = Path(name_or_path)
    if _is_file(path):
        return path
    raise _not_found("rubric", name_or_path, known, _homes(config_folder, rubrics.HOME))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long to be one
        return False


def _homes(config_folder: Path, home: str) -> list[Path]:
    return [config_folder / home, shipped_folder() / home]


def _not_found(kind: str, name: str, known: dict[str, Path], homes: list[Path]) -> NotFoundError:
    close = nearest(name, known)
    hint = f" (did you mean {close}?)" if close else ""
    looked = " and ".join(str(home) for home in dict.fromkeys(homes))
    return NotFoundError(f"there is no {kind} {shown(name)}{hint}; looked in {looked}")
