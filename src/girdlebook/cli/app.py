"""The command line's top: global options, commands loaded when called, errors as one line."""

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from girdlebook._version import __version__
from girdlebook.cli.output import drop_unwritten_output, out, prepare_streams, report
from girdlebook.errors import GirdleError

_MODULES = (
    *("chat", "memory", "search", "sessions", "status", "config", "profile"),
    *("backup", "restore", "import", "doctor", "logs", "demo"),
)

# `import` is a word of the language.
_FILES = {"import": "imports"}

app = typer.Typer(name="girdle", rich_markup_mode=None)


class Commands(Mapping[str, Any]):
    """The commands by name; each one's module is imported when it is asked for, so that none pays for the others."""

    def __getitem__(self, name: str) -> Any:
        if name not in _MODULES:
            raise KeyError(name)
        return get_command(import_module(f"girdlebook.cli.{_FILES.get(name, name)}").app)

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


def _print_version(wanted: bool) -> None:
    if wanted:
        out(f"girdle {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def girdle(
    context: typer.Context,
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", metavar="NAME", help="Work in this profile, this once.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Bounded, curated memory for AI agents.

    Everything lies in $GIRDLE_HOME, else in ~/.girdlebook.  Without -p, the profile is $GIRDLE_PROFILE, else the one
    that `girdle profile use` chose, else the home itself.
    """
    context.obj = profile
    if context.invoked_subcommand is None:
        out(context.get_help())


def main() -> None:
    """Run the command that was typed, and leave with its exit code."""
    prepare_streams()
    try:
        code = run(sys.argv[1:])
    except BrokenPipeError:
        code = 0
    drop_unwritten_output()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; errors are reported, and everything ends in an exit code.

    Raises:
        BrokenPipeError: whoever read the output has gone.
    """
    as_json = "--json" in arguments
    try:
        return _group().main(arguments, prog_name="girdle", standalone_mode=False) or 0
    except SystemExit as left:  # Typer's answer to a closed pipe, or a signal's
        if isinstance(left.__context__, BrokenPipeError):
            raise left.__context__ from None
        raise
    except typer.TyperException as error:
        report(_with_hint(error), kind="Usage", details={}, as_json=as_json)
        return error.exit_code
    except typer.Abort:
        report("given up", kind="Abort", details={}, as_json=as_json)
    except GirdleError as error:
        details = {name: value for name, value in error.answer().items() if name not in ("success", "error")}
        report(str(error), kind=type(error).__name__, details=details, as_json=as_json)
    except BrokenPipeError:
        raise
    except OSError as error:
        report(_os_error(error), kind=type(error).__name__, details={}, as_json=as_json)
    return 1


def _group() -> TyperGroup:
    group = cast("TyperGroup", get_command(app))
    group.commands = cast("MutableMapping[str, Any]", Commands())
    return group


def _with_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "girdle"
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    return f"{message} (see: {command} --help)"


def _os_error(error: OSError) -> str:
    place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{place}{error.strerror or error}"
