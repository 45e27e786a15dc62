"""`girdle search`: what was said in earlier conversations."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

from girdlebook.cli.narrowing import Project, Since, Source, Until, narrowed
from girdlebook.cli.output import COLUMNS, Json, User, clip, from_argument, notice, out, out_json, width
from girdlebook.cli.times import clock, iso
from girdlebook.profiles import resolve
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.store import SearchHit, SessionRecord, SessionStore

app = typer.Typer(add_completion=False, rich_markup_mode=None)

SPOKEN = ("user", "assistant")

_INDENT = " " * 4


@app.command("search")
def search(
    context: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORDS]...", help="A question, or words.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="The most results.")] = 10,
    role: Annotated[
        Literal["user", "assistant", "tool"] | None,
        typer.Option(
            metavar="ROLE", help="Only messages of user, assistant or tool; without it, of user and assistant."
        ),
    ] = None,
    source: Source = None,
    project: Project = None,
    since: Since = None,
    until: Until = None,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Find earlier messages; without words, list the latest conversations.

    Finding nothing is no error.
    """
    query, where = from_argument(" ".join(words or [])), narrowed(source, project, since, until)
    database = resolve(context.obj).state_db
    if not database.exists():  # looking must not make a home
        none = "no conversations yet; start one with: girdle chat"
        print_hits(query, [], as_json=as_json) if query else print_sessions([], none=none, as_json=as_json)
        return
    with SQLiteSessionStore.open_read_only(database) as everything:
        store: SessionStore = everything if user is None else everything.for_user(user)
        if query:
            hits = store.search(query, limit=limit, roles=[role] if role else SPOKEN, where=where)
            if store.degraded:
                notice("the search index is damaged, so only literal matches are shown; mend it: girdle doctor --fix")
            print_hits(query, hits, as_json=as_json)
        else:
            print_sessions(store.recent(limit=limit, where=where), none="nothing fits", as_json=as_json)


def print_hits(query: str, hits: Sequence[SearchHit], *, as_json: bool) -> None:
    """Print what a search found."""
    if as_json:
        out_json({"query": query, "count": len(hits), "hits": [_hit(hit) for hit in hits]})
        return
    for hit in hits:
        out(f"{clock(hit.timestamp)}  {hit.role:<9}  {hit.session_id}")
        out(_INDENT + clip(hit.snippet, COLUMNS - len(_INDENT)))
    if not hits:
        notice("nothing found")


def print_sessions(records: Sequence[SessionRecord], *, none: str, as_json: bool) -> None:
    """Print a list of conversations.

    Parameters:
        none: what to say where there are none.
    """
    if as_json:
        out_json({"count": len(records), "sessions": [session_json(record) for record in records]})
        return
    for record in records:
        user = f"  (user {record.user_id})" if record.user_id is not None else ""
        row = f"{clock(record.last_active)}  {record.message_count:>4} messages  {record.source:<8}  {record.id}{user}"
        out(row if width(row) <= COLUMNS else row[:COLUMNS])
        out(_INDENT + clip(record.title or record.preview, COLUMNS - len(_INDENT)))
    if not records:
        notice(none)


def _hit(hit: SearchHit) -> dict[str, Any]:
    return {
        "session_id": hit.session_id,
        "message_id": hit.message_id,
        "role": hit.role,
        "when": iso(hit.timestamp),
        "score": round(hit.score, 4),
        "snippet": hit.snippet,
    }


def session_json(record: SessionRecord) -> dict[str, Any]:
    """A conversation, for --json."""
    return {
        "session_id": record.id,
        "source": record.source,
        "user_id": record.user_id,
        "title": record.title,
        "preview": record.preview,
        "started": iso(record.started_at),
        "last_active": iso(record.last_active),
        "message_count": record.message_count,
    }
