"""`evalbot`: every command, and the one place where errors become sentences.

Each command lives in a file of its own and imports what it needs when it is called, so
that `evalbot --help` stays quick.
"""

from __future__ import annotations

import gc
import os
import sys

import typer

from evalbot.cli import (
    assign,
    audit,
    check,
    compare,
    db,
    demo,
    export,
    importing,
    init,
    judge,
    plan,
    rates,
    report,
    run,
    runs,
    score,
    serve,
    show,
    speed,
    speeds,
    users,
)
from evalbot.errors import EvalbotError

DEBUG = "--debug"
STOPPED = 130
"""The exit code after Ctrl-C, as shells know it."""

app = typer.Typer(
    name="evalbot",
    help="Compare language models on your own machines: ask them side by side, score, "
    "and publish rates with honest error bars.",
    epilog="Example: evalbot init my-eval && cd my-eval && evalbot check && evalbot run my-suite. "
    "With --debug anywhere, errors show where in the code they come from.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    init,
    check,
    demo,
    run,
    runs,
    show,
    score,
    judge,
    assign,
    serve,
    rates,
    compare,
    audit,
    plan,
    report,
    speed,
    speeds,
    export,
)
for command in COMMANDS:
    command.register(app)
app.add_typer(importing.app, name="import")
app.add_typer(users.app, name="users")
app.add_typer(db.app, name="db")


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        from evalbot import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; exits 0, 1 (the work failed) or 2 (wrong usage or input)."""
    # Large runs make objects by the hundred thousand and hardly a cycle: look less often.
    gc.set_threshold(50_000, 20, 50)
    arguments = [argument for argument in sys.argv[1:] if argument != DEBUG]
    debug = len(arguments) < len(sys.argv) - 1
    try:
        app(args=arguments, prog_name="evalbot")
    except EvalbotError as error:
        if debug:
            raise
        typer.echo(f"evalbot: {error}", err=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as end:
        # typer turns Ctrl-C into an exit with this code, and says nothing.
        if isinstance(end, SystemExit) and end.code != STOPPED:
            raise
        typer.echo("evalbot: stopped", err=True)
        sys.exit(STOPPED)
    except BrokenPipeError:
        # The reader has gone (`| head`): nothing more can be said, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        typer.echo(
            f"evalbot: this is a bug in evalbot ({type(error).__name__}: {error}); "
            "please report it with what --debug shows",
            err=True,
        )
        sys.exit(1)
    finally:
        # The process ends here: going through all its objects once more would free nothing.
        gc.freeze()


if __name__ == "__main__":
    main()
