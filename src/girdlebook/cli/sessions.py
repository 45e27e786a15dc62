"""`girdle sessions`: the stored conversations, one by one or all together."""

import datetime
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from girdlebook.cli.narrowing import Project, Since, Source, Until, narrowed
from girdlebook.cli.output import (
    COLUMNS,
    Json,
    User,
    clip,
    confirm_deleting,
    from_argument,
    notice,
    out,
    out_json,
)
from girdlebook.cli.progress import Advance, progress
from girdlebook.cli.search import print_sessions, session_json
from girdlebook.cli.times import clock
from girdlebook.cli.usage import bar, describe
from girdlebook.errors import StoreError
from girdlebook.profiles import resolve
from girdlebook.sessions.care import older_than as quiet_since
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.store import DayActivity, ModelUsage, SessionRecord, StoredMessage
from girdlebook.sessions.transfer import export_lines, import_lines

app = typer.Typer(
    name="sessions", help="Look after the stored conversations.", add_completion=False, rich_markup_mode=None
)

Name = Annotated[str, typer.Argument(metavar="SESSION", help="Its id, the beginning of one, or its title.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Erase = Annotated[bool, typer.Option("--erase", help="Leave no text of it in index and free pages; takes a while.")]

_BAR_COLUMNS = 32


@app.command("list")
def list_sessions(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="The most sessions.")] = 20,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="Leave out that many of the latest.")] = 0,
    source: Source = None,
    project: Project = None,
    since: Since = None,
    until: Until = None,
    user: User = None,
    as_json: Json = False,
) -> None:
    """List the conversations, the latest first."""
    where = narrowed(source, project, since, until)
    if not resolve(context.obj).state_db.exists():  # looking must not make a home
        print_sessions([], none="no conversations yet; start one with: girdle chat", as_json=as_json)
        return
    with _reading(context, user) as store:
        print_sessions(store.recent(limit=limit, offset=offset, where=where), none="nothing fits", as_json=as_json)


@app.command("show")
def show(
    context: typer.Context,
    session: Name,
    last: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the last N messages.")] = None,
    turn: Annotated[
        int | None, typer.Option("--context", min=1, metavar="N", help="Print what the model saw at turn N.")
    ] = None,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Print a conversation in full, or what the model saw of it."""
    if last is not None and turn is not None:
        raise typer.BadParameter("it begins at the start; give one of --context and --last", param_hint="--context")
    with _reading(context, user) as store:
        record = store.resolve(from_argument(session))
        messages = store.history(record.id) if last is None else store.messages(record.id, last=last)
        prompt, tools = store.prompt_of(record.id)
    if turn is not None:
        messages = _up_to_turn(messages, turn)
    if as_json:
        seen = {} if turn is None else {"system": prompt, "tools": json.loads(tools or "[]")}
        out_json(session_json(record) | seen | {"messages": [_message_json(stored) for stored in messages]})
        return
    out(f"{record.id}  {record.source}  {record.title or ''}".rstrip())
    if turn is not None:
        names = ", ".join(spec["name"] for spec in json.loads(tools or "[]"))
        out(f"\nsystem\n{prompt or '(not stored)'}\n\ntools\n{names or '(not stored)'}")
    for stored in messages:
        calls = "".join(f"\n→ {call.name} {call.arguments}" for call in stored.message.tool_calls)
        out(f"\n{clock(stored.timestamp)}  {stored.message.role}\n{stored.message.sent_text}{calls}")


def _up_to_turn(messages: Sequence[StoredMessage], turn: int) -> list[StoredMessage]:
    """What stood in the first request of a turn.

    Raises:
        StoreError: there are not so many turns.
    """
    asked = [index for index, stored in enumerate(messages) if stored.message.role == "user"]
    if turn > len(asked):
        raise StoreError(f"the conversation has {len(asked)} turns; there is no turn {turn}")
    return list(messages[: asked[turn - 1] + 1])


@app.command("export")
def export(
    context: typer.Context,
    session: Annotated[str | None, typer.Argument(metavar="[SESSION]", help="Only this one.")] = None,
    to: Annotated[Path | None, typer.Option("--to", metavar="FILE", help="Write there instead of stdout.")] = None,
    user: User = None,
) -> None:
    """Print conversations as JSONL, one a line."""
    if session is None and not resolve(context.obj).state_db.exists():
        notice("no conversations yet")
        return
    with _reading(context, user) as store:
        records = store.recent(limit=-1) if session is None else [store.resolve(from_argument(session))]
        lines = export_lines(store, sorted(records, key=lambda record: (record.started_at, record.id)))
        if to is None:
            for line in lines:
                out(line)
            return
        with open(to, "x", encoding="ascii", opener=_private) as file:
            file.writelines(f"{line}\n" for line in lines)
        notice(f"{len(records)} conversations are in {to}")


@app.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="JSONL from `girdle sessions export` or `hermes sessions export`.")],
    as_json: Json = False,
) -> None:
    """Take conversations in.  Those that are there already are skipped; a bad line is reported, the rest goes in."""
    with _writing(context, None) as store, progress("importing") as advance:
        outcomes = list(import_lines(store, _lines(file, advance)))
    refused = [one for one in outcomes if one.outcome == "refused"]
    counts = {word: sum(one.outcome == word for one in outcomes) for word in ("imported", "skipped", "refused")}
    if as_json:
        out_json(counts | {"errors": [{"line": one.line, "reason": one.reason} for one in refused]})
    else:
        for one in refused:
            notice(f"line {one.line}: {one.reason}")
        out(", ".join(f"{number} {word}" for word, number in counts.items()))
    raise typer.Exit(1 if refused else 0)


def _lines(file: Path, advance: Advance) -> Iterator[str]:
    done, total = 0, file.stat().st_size
    with file.open("rb") as lines:
        for line in lines:
            advance(done := done + len(line), total)
            yield line.decode("utf-8", "replace")


@app.command("rename")
def rename(
    context: typer.Context,
    session: Name,
    title: Annotated[str, typer.Argument(help="The new title; an empty one takes it away.")],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Give a conversation a title."""
    with _writing(context, user) as store:
        record = store.rename(store.resolve(from_argument(session)).id, from_argument(title))
    if as_json:
        out_json(session_json(record))
    else:
        out(f"{record.id}: {record.title or '(no title)'}")


@app.command("delete")
def delete(
    context: typer.Context,
    session: Name,
    yes: Yes = False,
    erase: Erase = False,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Delete a conversation."""
    with _writing(context, user) as store:
        record = store.resolve(from_argument(session))
        if not yes:
            confirm_deleting(f"Delete {record.id} with {record.message_count} messages?", refusal=StoreError)
        store.delete_session(record.id)
        if erase:
            store.erase_deleted()
    _print_deleted([record], dry_run=False, as_json=as_json)


@app.command("prune")
def prune(
    context: typer.Context,
    older_than: Annotated[int, typer.Option(min=0, metavar="DAYS", help="Quiet for that many days.")] = 90,
    empty: Annotated[bool, typer.Option("--empty", help="Only those without messages.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    yes: Yes = False,
    erase: Erase = False,
    as_json: Json = False,
) -> None:
    """Delete old conversations that have ended; running ones are spared."""
    with _writing(context, None) as store:
        where = replace(quiet_since(older_than, time.time()), most_messages=0 if empty else None)
        doomed = store.prunable(where)
        if doomed and not dry_run:
            if not yes:
                confirm_deleting(f"Delete {len(doomed)} conversations?", refusal=StoreError)
            doomed = store.prune(where)
            if erase:
                store.erase_deleted()
    _print_deleted(doomed, dry_run=dry_run, as_json=as_json)


@app.command("stats")
def stats(
    context: typer.Context,
    days: Annotated[int, typer.Option(min=1, max=366, metavar="N", help="How many days back.")] = 30,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Draw how much was said day by day, and tell what each model used."""
    today = datetime.date.today()
    first = today - datetime.timedelta(days=days - 1)
    since = datetime.datetime.combine(first, datetime.time()).timestamp()
    activity: list[DayActivity] = []
    usage: list[ModelUsage] = []
    if resolve(context.obj).state_db.exists():
        with _reading(context, user) as store:
            activity, usage = store.activity(since=since), store.usage()
    if as_json:
        out_json({"days": [asdict(day) for day in activity], "models": [_usage_json(one) for one in usage]})
        return
    by_day = {day.day: day for day in activity}
    most = max((day.messages for day in activity), default=0)
    for offset in range(days):
        name = (first + datetime.timedelta(days=offset)).isoformat()
        day = by_day.get(name, DayActivity(name, 0, 0, 0))
        drawn = bar(day.messages, most, _BAR_COLUMNS)
        out(f"{name}  {drawn:<{_BAR_COLUMNS}} {day.messages:>6} messages {day.output_tokens:>9,} tokens".rstrip())
    for one in usage:
        out(clip(f"{one.model or '(unnamed)'}, {one.task}: {one.calls:,} calls, {describe(one.usage)}", COLUMNS))


@app.command("cache")
def cache(context: typer.Context, session: Name, user: User = None, as_json: Json = False) -> None:
    """Estimate what a vendor's prompt cache made of a conversation, and what moved its prefix.

    The requests are rebuilt as Anthropic's are sent, all with the system prompt that the conversation has now.
    """
    # Settings and dialects cost more to load than every other command here together.
    report: Callable[..., None] = import_module("girdlebook.cli.cache_report").report
    with _reading(context, user) as store:
        report(store, store.resolve(from_argument(session)), resolve(context.obj), as_json=as_json)


def _usage_json(usage: ModelUsage) -> dict[str, Any]:
    return {"model": usage.model, "task": usage.task, "calls": usage.calls, **asdict(usage.usage)}


@contextmanager
def _reading(context: typer.Context, user: str | None) -> Iterator[SQLiteSessionStore]:
    with SQLiteSessionStore.open_read_only(_existing(context)) as store:
        yield store if user is None else store.for_user(user)


@contextmanager
def _writing(context: typer.Context, user: str | None) -> Iterator[SQLiteSessionStore]:
    with SQLiteSessionStore.open(resolve(context.obj).state_db) as store:
        yield store if user is None else store.for_user(user)


def _existing(context: typer.Context) -> Path:
    database = resolve(context.obj).state_db
    if not database.exists():
        raise StoreError("no conversations yet; start one with: girdle chat")
    return database


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _print_deleted(records: list[SessionRecord], *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        out_json({"dry_run": dry_run, "count": len(records), "sessions": [session_json(record) for record in records]})
        return
    for record in records:
        out(f"{'would delete' if dry_run else 'deleted'} {record.id}  {record.message_count} messages")
    if not records:
        notice("nothing to delete")


def _message_json(stored: StoredMessage) -> dict[str, Any]:
    message = stored.message
    calls = [asdict(call) for call in message.tool_calls]
    row: dict[str, Any] = {"id": stored.id, "timestamp": stored.timestamp, "role": message.role}
    return row | {"content": message.text, "tool_calls": calls, "tool_name": message.tool_name}
