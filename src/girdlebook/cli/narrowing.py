"""The options that narrow lists and searches of conversations."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from girdlebook.cli.output import from_argument
from girdlebook.repository import project_of
from girdlebook.sessions.dates import end_of, start_of
from girdlebook.sessions.filters import SessionFilter
from girdlebook.sessions.rows import plain

Source = Annotated[str | None, typer.Option(metavar="NAME", help="Only those that took place there (cli, library, …).")]
Project = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Only those that took place in this folder or below it.")
]
Since = Annotated[str | None, typer.Option(metavar="DATE", help="Only from then on: 2026-11-30, 2026-11 or 2026.")]
Until = Annotated[str | None, typer.Option(metavar="DATE", help="Only up to then, that day, month or year included.")]


def narrowed(source: str | None, project: Path | None, since: str | None, until: str | None) -> SessionFilter:
    """What these options let through.

    Raises:
        typer.BadParameter: a date is none.
    """
    return SessionFilter(
        sources=(from_argument(source),) if source else (),
        project=None if project is None else _project(project),
        since=_date("--since", since, start_of),
        until=_date("--until", until, end_of),
    )


def _project(folder: Path) -> str:
    """The repository that the folder is in, since conversations are kept under it; else the folder."""
    return plain(str(project_of(folder.expanduser().resolve())))


def _date(option: str, text: str | None, read: Callable[[str], float]) -> float | None:
    try:
        return None if text is None else read(from_argument(text))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error
