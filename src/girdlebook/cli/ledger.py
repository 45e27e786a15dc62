"""The history of memory, for `girdle memory log|diff|blame|undo|search`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any, Literal

import typer

from girdlebook import settings
from girdlebook.cli.output import COLUMNS, Json, User, clip, from_argument, notice, out, out_json
from girdlebook.cli.times import clock, iso
from girdlebook.curated.ledger import Event, Ledger
from girdlebook.curated.store import MemoryStore
from girdlebook.errors import LedgerError, NoMatch
from girdlebook.memory import open_curated
from girdlebook.profiles import resolve

TargetName = Literal["memory", "user"]

Number = Annotated[int | None, typer.Argument(metavar="[ID]", help="The change's number; without it the latest.")]

_ORIGINS = {
    "user_said": "the person said it",
    "agent": "the agent concluded it",
    "local_tool": "after reading a local tool's output",
    "untrusted": "after reading something written by strangers",
    "provider": "from the external memory",
    "import": "imported",
    "owner": "by hand, with a command",
    "external_edit": "the file was edited outside",
}


def log(
    context: typer.Context,
    target: Annotated[TargetName | None, typer.Argument(metavar="[TARGET]", help="memory or user.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, metavar="N", help="The most.")] = 20,
    user: User = None,
    as_json: Json = False,
) -> None:
    """List the latest changes, each with where it came from."""
    with _reading(context, user) as (store, ledger):
        events = ledger.events(_scopes(store, target), limit=limit) if ledger else []
    if as_json:
        out_json({"count": len(events), "changes": [_event_json(event) for event in events]})
        return
    for event in events:
        _print_line(event)
    if not events:
        notice("no change is recorded yet")


def diff(context: typer.Context, number: Number = None, user: User = None, as_json: Json = False) -> None:
    """Show one change: the text before and after, who caused it, and what the scan said."""
    with _reading(context, user) as (store, ledger):
        event = _event(store, ledger, number)
    if as_json:
        out_json(_event_json(event))
        return
    _print_line(event)
    for sign, text in (("-", event.before), ("+", event.after)):
        for line in (text or "").splitlines():
            out(f"{sign} {line}")
    _print_source(event)
    if event.verdict not in (None, "allow"):
        out(f"  scan: {event.verdict}")


def blame(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The entry, or a piece of it.")],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Tell which conversation taught an entry, and what it was before."""
    wanted = from_argument(text)
    with _reading(context, user) as (store, ledger):
        entries = [entry for target in store.targets for entry in store.entries(target)]
        found = [entry for entry in entries if entry == wanted] or [entry for entry in entries if wanted in entry]
        histories = [(entry, ledger.history_of(entry) if ledger else []) for entry in found]
    if not found:
        raise NoMatch(f"no entry holds {wanted!r}; `girdle memory list` shows them")
    if as_json:
        rows = [{"entry": entry, "changes": [_event_json(event) for event in events]} for entry, events in histories]
        out_json({"entries": rows})
        return
    for entry, events in histories:
        out(entry)
        for event in events:
            _print_line(event)
            _print_source(event)
        if not events:
            out("  nobody recorded where it came from")


def undo(context: typer.Context, number: Number = None, user: User = None, as_json: Json = False) -> None:
    """Take a change back; the way back is a change too, and can be undone."""
    with changing(context, user) as store:
        with _reading(context, user) as (_, ledger):
            event = _event(store, ledger, number)
        change = store.undo(event.id)
    if as_json:
        edits = [{"action": edit.action, "before": edit.before, "after": edit.after} for edit in change.edits]
        out_json({"undone": event.id, "target": change.target, "edits": edits})
        return
    out(f"change {event.id} is taken back")
    for edit in change.edits:
        for sign, text in (("-", edit.before), ("+", edit.after)):
            if text is not None:
                out(clip(f"{sign} {text}", COLUMNS))


def search(
    context: typer.Context,
    words: Annotated[str, typer.Argument(help="What the entry holds.")],
    everything: Annotated[bool, typer.Option("--all", help="Entries that were removed or replaced, too.")] = False,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Find entries; with --all also those that are gone."""
    wanted = from_argument(words)
    with _reading(context, user) as (store, ledger):
        current = [entry for target in store.targets for entry in store.entries(target) if wanted in entry]
        events = ledger.events(store.scopes(), limit=1_000, words=wanted) if everything and ledger else []
    gone = dict.fromkeys(text for event in events for text in (event.before, event.after) if text and wanted in text)
    former = [text for text in gone if text not in current]
    if as_json:
        out_json({"entries": current, "former": former})
        return
    for entry in current:
        out(clip(entry, COLUMNS))
    for entry in former:
        out(clip(f"(gone) {entry}", COLUMNS))
    if not current and not former:
        notice("nothing found")


@contextmanager
def changing(context: typer.Context, user: str | None) -> Iterator[MemoryStore]:
    """Layer 1 of the home that was named, with its ledger open for writing."""
    home = resolve(context.obj)
    config = settings.load(home).config
    with Ledger.open(home.ledger_db) as ledger:
        yield open_curated(home, config, user, ledger)


@contextmanager
def _reading(context: typer.Context, user: str | None) -> Iterator[tuple[MemoryStore, Ledger | None]]:
    """Layer 1, and its ledger where there is one; nothing can be changed through either."""
    home = resolve(context.obj)
    store = open_curated(home, settings.load(home).config, user)
    if not home.ledger_db.exists():
        yield store, None
        return
    with Ledger.open_read_only(home.ledger_db) as ledger:
        yield store, ledger


def _scopes(store: MemoryStore, target: TargetName | None) -> Sequence[str]:
    return store.scopes() if target is None else [store.scope(target)]


def _event(store: MemoryStore, ledger: Ledger | None, number: int | None) -> Event:
    """The named change, else the latest."""
    if ledger is None:
        raise LedgerError("no change is recorded yet")
    if number is not None:
        return ledger.event(number)
    events = ledger.events(store.scopes(), limit=1)
    if not events:
        raise LedgerError("no change is recorded yet")
    return events[0]


def _print_line(event: Event) -> None:
    text = event.after if event.after is not None else event.before
    undone = f" (takes back {event.undoes})" if event.undoes else ""
    out(clip(f"{event.id:>5}  {clock(event.time)}  {event.scope:<7} {event.action:<8}{undone} {text}", COLUMNS))


def _print_source(event: Event) -> None:
    provenance = event.provenance
    where = f", in session {provenance.session_id}" if provenance.session_id else ""
    reason = f" ({provenance.reason})" if provenance.reason else ""
    out(f"  {_ORIGINS[provenance.origin]}{where}{reason}")


def _event_json(event: Event) -> dict[str, Any]:
    row = asdict(event)
    provenance: dict[str, Any] = row.pop("provenance")
    return {**row, **provenance, "when": iso(event.time)}
