"""The wheel carries what evalbot ships, and works where there is no repository."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(target.glob("*.whl"))


@pytest.mark.parametrize(
    "name",
    [
        "evalbot/shipped/rubrics/translation.yaml",
        "evalbot/shipped/datasets/translation/cases.jsonl",
        "evalbot/shipped/datasets/demo/suite.yaml",
        "evalbot/shipped/migrations/env.py",
        "evalbot/shipped/migrations/versions/0001_the_record.py",
        "evalbot/formats/templates/evalbot.yaml",
        "evalbot/ui/assets/review.js",
        "evalbot/ui/assets/sign_in.css",
    ],
)
def test_the_wheel_has(wheel: Path, name: str) -> None:
    assert name in zipfile.ZipFile(wheel).namelist()


def test_the_wheel_has_no_weights_databases_or_caches(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    bad = (".gguf", ".db", ".pyc", ".sqlite3")
    assert [name for name in names if name.endswith(bad)] == []


def test_an_unpacked_wheel_finds_its_suites_and_migrations(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "import evalbot, pathlib\n"
        "from evalbot.formats.catalogue import list_suites, shipped_folder\n"
        "from evalbot.store.database import connect, revision_of\n"
        "from evalbot.store.upgrades import upgrade\n"
        "assert 'shipped' in str(shipped_folder()), shipped_folder()\n"
        "print(sorted(list_suites(pathlib.Path('.'))))\n"
        "database = connect('sqlite:///a.db')\n"
        "upgrade(database, shipped_folder() / 'migrations')\n"
        "print(revision_of(database))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    suites = sorted(head.parent.name for head in (ROOT / "datasets").glob("*/suite.yaml"))
    assert {"demo", "translation"} <= set(suites)
    assert done.stdout.split("\n")[0] == str(suites)
