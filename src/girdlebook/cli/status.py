"""`girdle status`: which home is worked in, why, and how full everything is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from girdlebook import settings
from girdlebook.cli.output import COLUMNS, Json, clip, out, out_json, size
from girdlebook.cli.times import clock
from girdlebook.curated.snapshot import FILE_NAMES
from girdlebook.errors import GirdleError
from girdlebook.memory import open_curated
from girdlebook.profiles import Choice, choose
from girdlebook.sessions.sqlite import SQLiteSessionStore

_NAME_COLUMNS = 14

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("status")
def status(context: typer.Context, as_json: Json = False) -> None:
    """Tell which profile is active and why, what it remembers, and what its files weigh.  Nothing is written."""
    choice = choose(context.obj)
    rows = dict(_rows(choice))
    if as_json:
        out_json(rows)
        return
    for name, value in rows.items():
        out(f"{name:<{_NAME_COLUMNS}} {clip(value or 'none', COLUMNS - _NAME_COLUMNS - 1)}")


def _rows(choice: Choice) -> Iterator[tuple[str, Any]]:
    home = choice.home
    yield "profile", choice.name
    yield "why", choice.why
    yield "home", str(home.path)
    known = settings.load(home)
    changed = [key for key in known.layers[1].values if known.origin(key) != settings.DEFAULT]
    yield "settings", f"{home.config_file.name}, {len(changed)} set" if changed else "defaults"
    yield "model", known.config.chat.model or "the embedded responder"
    yield "provider", known.config.memory.provider or None
    store = open_curated(home, known.config, None)
    for target in store.targets:
        try:
            yield FILE_NAMES[target], f"{len(store.entries(target))} entries, {store.usage(target)}"
        except GirdleError as error:
            yield FILE_NAMES[target], f"unreadable: {error}"
    yield from _conversations(home.state_db)


def _conversations(path: Path) -> Iterator[tuple[str, Any]]:
    if not path.exists():
        yield "conversations", "none yet"
        return
    with SQLiteSessionStore.open_read_only(path) as store:
        totals = store.totals()
        latest = f", the latest of {clock(totals.last_active)}" if totals.last_active else ""
        yield "conversations", f"{totals.sessions:,} with {totals.messages:,} messages{latest}"
        yield "search", store.limits or "the index is there"
        yield "journal", store.database.journal_mode
    log = Path(f"{path}-wal")
    yield "file", f"{path.name} {size(path.stat().st_size)}, log {size(log.stat().st_size if log.exists() else 0)}"
