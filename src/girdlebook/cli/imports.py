"""`girdle import`: what other agents remember."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from girdlebook import settings
from girdlebook.cli.output import Json, notice, out, out_json
from girdlebook.cli.progress import Advance, progress
from girdlebook.cli.search import SPOKEN, print_hits
from girdlebook.curated.ledger import Ledger
from girdlebook.files import private_folder
from girdlebook.importers.hermes import HermesHome
from girdlebook.memory import open_curated
from girdlebook.profiles import Home, resolve
from girdlebook.sessions.sqlite import SQLiteSessionStore

app = typer.Typer(
    name="import", help="Take over what other agents remember.", add_completion=False, rich_markup_mode=None
)

T = TypeVar("T")

_OUTCOMES = ("imported", "skipped", "refused")


@app.callback()
def imports() -> None:
    """Take over what other agents remember."""


@app.command("hermes")
def hermes(
    context: typer.Context,
    home: Annotated[
        Path | None, typer.Argument(metavar="[HOME]", help="Its home; without it $HERMES_HOME, else ~/.hermes.")
    ] = None,
    attach: Annotated[
        str | None, typer.Option("--attach", metavar="WORDS", help="Take nothing in; only search its conversations.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="With --attach, the most results.")] = 10,
    as_json: Json = False,
) -> None:
    """Read the memory files and the conversations of Hermes Agent.  Nothing in its home is changed.

    What is here already is skipped, so it can be done again.
    """
    theirs = HermesHome(home)
    if attach is not None:
        _search(theirs, attach, limit, as_json=as_json)
    else:
        _take_in(theirs, resolve(context.obj), as_json=as_json)


def _search(theirs: HermesHome, words: str, limit: int, *, as_json: bool) -> None:
    """Search its conversations with our index, in a copy that is gone afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="girdle-") as folder,
        SQLiteSessionStore.open(Path(folder) / "state.db") as store,
    ):
        with progress("reading") as advance:
            for _ in _counted(theirs.import_sessions(store), theirs.count(), advance):
                pass
        hits = store.search(words, limit=limit, roles=SPOKEN)
    print_hits(words, hits, as_json=as_json)


def _take_in(theirs: HermesHome, home: Home, *, as_json: bool) -> None:
    config = settings.load(home).config
    private_folder(home.path)
    with Ledger.open(home.ledger_db) as ledger:
        entries = list(theirs.import_entries(open_curated(home, config, None, ledger)))
    with SQLiteSessionStore.open(home.state_db) as store, progress("importing") as advance:
        sessions = list(_counted(theirs.import_sessions(store), theirs.count(), advance))
    counts = {
        "entries": _counts([entry.outcome for entry in entries]),
        "sessions": _counts([session.outcome for session in sessions]),
    }
    refused = [f"{entry.target}: {entry.reason}" for entry in entries if entry.outcome == "refused"]
    refused += [
        f"conversation {session.line}: {session.reason}" for session in sessions if session.outcome == "refused"
    ]
    if as_json:
        out_json(counts | {"errors": refused})
    else:
        for reason in refused:
            notice(reason)
        for what, number in counts.items():
            out(f"{what}: " + ", ".join(f"{number[word]} {word}" for word in _OUTCOMES))
    raise typer.Exit(1 if refused else 0)


def _counts(outcomes: list[str]) -> dict[str, int]:
    counted = Counter(outcomes)
    return {word: counted[word] for word in _OUTCOMES}


def _counted(items: Iterator[T], total: int, advance: Advance) -> Iterator[T]:
    for number, item in enumerate(items, 1):
        advance(number, max(number, total))
        yield item
