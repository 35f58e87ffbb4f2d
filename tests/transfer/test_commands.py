"""The commands as a shell sees them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from evalbot.cli.main import app

from .site import Site


@pytest.mark.parametrize("words", ["import answers", "import grades", "import run", "export"])
def test_help_has_an_example(words: str) -> None:
    result = CliRunner().invoke(app, [*words.split(), "--help"])
    assert result.exit_code == 0
    assert f"Example: evalbot {words} " in result.stdout


def shell(site: Site, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evalbot.cli.main", *words],
        cwd=site.folder,
        env={**os.environ, "EVALBOT_DATABASE": site.database},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_ids_stand_alone_on_stdout_and_problems_exit_with_2(site: Site) -> None:
    site.write("a.csv", "suite,case,model,answer\ns,q1,m,a1\n")
    site.write("wrong.csv", "suite,case,model,answer\ns,q7,m,a1\n")
    good = shell(site, "import", "answers", "a.csv")
    assert good.returncode == 0
    assert good.stdout == f"{good.stdout.strip()}\n"
    assert "1 of 1 answers are new" in good.stderr
    exported = shell(site, "export", good.stdout.strip(), "--output", "out")
    assert (exported.returncode, exported.stdout) == (0, "")
    wrong = shell(site, "import", "answers", "wrong.csv")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == (
        "evalbot: 1 problem, nothing was changed:\n"
        '  wrong.csv:2: case: found "q7"; expected a case of suite s\n'
    )
