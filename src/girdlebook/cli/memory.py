"""`girdle memory`: look at MEMORY.md and USER.md, and change them."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from girdlebook import settings
from girdlebook.cli import ledger
from girdlebook.cli.output import Json, User, from_argument, notice, out, out_json
from girdlebook.curated.document import CharUsage
from girdlebook.curated.snapshot import FILE_NAMES, shown
from girdlebook.curated.store import Change, MemoryStore
from girdlebook.errors import GirdleError
from girdlebook.files import create_private_file, private_folder
from girdlebook.memory import open_curated
from girdlebook.profiles import resolve

app = typer.Typer(
    name="memory",
    help="Look at what is remembered, and change it.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=False,
)

TargetName = Literal["memory", "user"]
Target = Annotated[TargetName, typer.Argument(metavar="TARGET", help="memory or user.")]
AnyTarget = Annotated[
    TargetName | None, typer.Argument(metavar="[TARGET]", help="memory or user; both where it is left out.")
]
Old = Annotated[str, typer.Argument(help="The entry, or a piece of it that no other entry holds.")]

_RULE = "─" * 60
_BAR_CELLS = 20


@app.command("show")
def show(context: typer.Context, target: AnyTarget = None, user: User = None, as_json: Json = False) -> None:
    """Show each block with its usage, and what the threat scan holds back."""
    store = _store(context, user)
    if as_json:
        out_json(_listing(store, target))
        return
    for chosen in _chosen(store, target):
        out(block(store, chosen) + "\n")
        _warn(chosen, store.usage(chosen))


@app.command("list")
def list_entries(context: typer.Context, target: AnyTarget = None, user: User = None, as_json: Json = False) -> None:
    """Print the entries as they are in the files, and nothing else."""
    store = _store(context, user)
    if as_json:
        out_json(_listing(store, target))
        return
    for chosen in _chosen(store, target):
        for entry in store.entries(chosen):
            out(f"{chosen}: {entry}" if target is None else entry)


app.command("read", help="The same as list.")(list_entries)


@app.command("add")
def add(
    context: typer.Context,
    target: Target,
    text: Annotated[str, typer.Argument(help="The new entry.")],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Add an entry."""
    with ledger.changing(context, user) as store:
        change = store.add(target, from_argument(text))
    _report(change, as_json=as_json)


@app.command("replace")
def replace(
    context: typer.Context,
    target: Target,
    old: Old,
    new: Annotated[str, typer.Argument(help="The text to put in its place.")],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Replace an entry."""
    with ledger.changing(context, user) as store:
        change = store.replace(target, from_argument(old), from_argument(new))
    _report(change, as_json=as_json)


@app.command("remove")
def remove(context: typer.Context, target: Target, old: Old, user: User = None, as_json: Json = False) -> None:
    """Remove an entry."""
    with ledger.changing(context, user) as store:
        change = store.remove(target, from_argument(old))
    _report(change, as_json=as_json)


@app.command("edit")
def edit(
    context: typer.Context,
    target: Annotated[TargetName, typer.Argument(metavar="[TARGET]", help="memory or user.")] = "memory",
    user: User = None,
) -> None:
    """Open a file in $VISUAL or $EDITOR, then read it again and tell what it holds."""
    store = _store(context, user)
    path = store.path(target)
    try:
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    except ValueError as error:
        raise GirdleError(f"the editor's command cannot be read ({error}); correct VISUAL or EDITOR") from error
    if not editor:
        raise GirdleError(f"no editor is set; set VISUAL or EDITOR, or open {path} yourself")
    _run_editor(editor, path)
    with ledger.changing(context, user) as noticing:
        noticing.snapshot()
    out(block(store, target))
    _warn(target, store.usage(target))


@app.command("path")
def path(
    context: typer.Context,
    target: Annotated[TargetName | None, typer.Argument(metavar="[TARGET]", help="memory or user.")] = None,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Print where a target's file lies, or the folder."""
    store = _store(context, user)
    folder = resolve(context.obj).memories
    if as_json:
        files: dict[str, str] = {name: str(store.path(name)) for name in store.targets}
        out_json({"folder": str(folder)} | files)
    else:
        out(str(folder if target is None else store.path(target)))


app.command("log")(ledger.log)
app.command("diff")(ledger.diff)
app.command("blame")(ledger.blame)
app.command("undo")(ledger.undo)
app.command("search")(ledger.search)


def block(store: MemoryStore, target: TargetName) -> str:
    """A target for people: file, usage and entries, raw, with a mark at those that no model gets to see."""
    usage, entries = store.usage(target), store.entries(target)
    filled = min(_BAR_CELLS, round(usage.used / usage.limit * _BAR_CELLS))
    head = f"{FILE_NAMES[target]}  {'█' * filled}{'░' * (_BAR_CELLS - filled)}  {usage}"
    marked = [
        entry if shown(target, entry) == entry else f"{entry}\n  (held back by the threat scan)" for entry in entries
    ]
    body = "\n".join(f"• {entry}".replace("\n", "\n  ") for entry in marked)
    return f"{head}\n{_RULE}\n{body or '(empty)'}"


def _store(context: typer.Context, user: str | None) -> MemoryStore:
    home = resolve(context.obj)
    return open_curated(home, settings.load(home).config, user)


def _chosen(store: MemoryStore, target: TargetName | None) -> Sequence[TargetName]:
    return store.targets if target is None else (store.target(target),)


def _listing(store: MemoryStore, target: TargetName | None) -> dict[str, Any]:
    return {"targets": [_described(store, chosen) for chosen in _chosen(store, target)]}


def _described(store: MemoryStore, target: TargetName) -> dict[str, Any]:
    entries = store.entries(target)
    return {
        "target": target,
        "path": str(store.path(target)),
        "entries": list(entries),
        "held_back": [entry for entry in entries if shown(target, entry) != entry],
        "usage": _figures(store.usage(target)),
    }


def _figures(usage: CharUsage) -> dict[str, Any]:
    return {"used": usage.used, "limit": usage.limit, "percent": usage.percent, "nearly_full": usage.is_high}


def _report(change: Change, *, as_json: bool) -> None:
    if as_json:
        edits = [{"action": edit.action, "before": edit.before, "after": edit.after} for edit in change.edits]
        out_json({"target": change.target, "edits": edits, "usage": _figures(change.usage)})
        return
    done = {"add": "added", "replace": "replaced", "remove": "removed"}
    what = ", ".join(done[edit.action] for edit in change.edits) or "nothing changed, it was there already"
    out(f"{FILE_NAMES[change.target]}: {what}; {change.usage}")
    _warn(change.target, change.usage)


def _warn(target: TargetName, usage: CharUsage) -> None:
    if usage.used > usage.limit:
        notice(f"{FILE_NAMES[target]} is over its limit by {usage.used - usage.limit:,} characters; shorten it")
    elif usage.is_high:
        notice(f"{FILE_NAMES[target]} is nearly full, {usage.free:,} characters are free; shorten or remove entries")


def _run_editor(editor: Sequence[str], path: Path) -> None:
    private_folder(path.parent)
    create_private_file(path)
    code = subprocess.run([*editor, str(path)], check=False).returncode
    if code:
        raise GirdleError(f"{editor[0]} ended with exit code {code}; {path} is as it left it")
