"""Help is quick and has an example for every command."""

import subprocess
import sys

import pytest

from evalbot.cli.main import app
from tests.cli.calling import evalbot

HEAVY = (
    "sqlalchemy", "aiohttp", "alembic", "psycopg", "opencc", "sacrebleu", "rapidfuzz", "yaml",
    "numpy", "pandas", "scipy", "gradio", "litellm", "anthropic", "openpyxl", "xlsxwriter",
)  # fmt: skip


def commands() -> list[list[str]]:
    names = [[command.name] for command in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        names += [[group.name, one.name] for one in group.typer_instance.registered_commands]
    return [[str(part) for part in name] for name in names]


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nsys.argv = ['evalbot', '--help']\n"
        "from evalbot.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_has_an_example(command: list[str]) -> None:
    done = evalbot(*command, "--help")
    assert done.returncode == 0
    assert f"Example: evalbot {' '.join(command)}" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run", "--nonsense"], ["rates", "--layer", "juge"], ["run"]]
)
def test_wrong_usage_exits_with_two_and_a_sentence(arguments: list[str]) -> None:
    done = evalbot(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_mistyped_layer_is_guessed() -> None:
    assert "judge" in evalbot("rates", "--layer", "juge").stderr


def test_version() -> None:
    from evalbot import __version__

    assert evalbot("--version").stdout.strip() == __version__
