"""What `session_search` answers: finds, a place in a conversation, a whole one, or a list.

Each answer as JSON keeps to one budget of characters, so that a search cannot flood the context it serves.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from girdlebook.errors import ToolError
from girdlebook.sessions.dates import date_of
from girdlebook.sessions.filters import SessionFilter
from girdlebook.sessions.query import parse
from girdlebook.sessions.store import SearchHit, SessionRecord, SessionStore, StoredMessage

ANSWER_CHARACTERS = 12_000
"""The whole answer, as JSON."""

MESSAGE_CHARACTERS = 1_000
"""A message in a find; places and whole conversations show longer pieces where there is room."""

NEIGHBOURS = 2
"""Messages shown on each side of a hit."""

BOOKENDS = 3
"""Messages shown of the conversation's beginning and of its end."""

READ_FIRST, READ_LAST = 20, 10
"""What is shown of a conversation that is read as a whole."""

_SCANNED_HITS = 100
QUERY_CHARACTERS, NAME_CHARACTERS = 200, 60
"""What is repeated of the query, of sources and of models' names."""

_CALL_CHARACTERS, _CALLS = 200, 8
_PIECES = (8_000, 4_000, 2_000, 1_000, 500, 250, 120, 60)
_UNATTENDED = "cron"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reader:
    """Who looks: the running session's live messages are left out, since the model has them before it."""

    store: SessionStore
    session_id: str | None

    def may_see(self, stored: StoredMessage) -> bool:
        """Whether a message is not before the model's eyes anyway."""
        return stored.session_id != self.session_id or stored.archived


@dataclass(frozen=True, slots=True)
class _Find:
    """One conversation that was found, with everything that could be shown of it."""

    record: SessionRecord
    hit: SearchHit | None
    resume_id: str
    window: Sequence[StoredMessage] = ()
    first: Sequence[StoredMessage] = ()
    last: Sequence[StoredMessage] = ()
    before: int = 0
    after: int = 0
    by_title: bool = False


# ── discover ────────────────────────────────────────────────────────────────────────────────────────────────────


def discover(
    reader: Reader, query: str, *, limit: int, sort: str | None, roles: Sequence[str], where: SessionFilter
) -> Row:
    """The conversations that answer a query, the best first, one for each lineage.

    A conversation whose title holds the words comes first; what nobody attended to (`cron`) comes last.

    Parameters:
        sort: `newest` or `oldest` instead of the best first.
    """
    store = reader.store
    hits = store.search(query, limit=_SCANNED_HITS, roles=roles, where=where, live_excluded=reader.session_id)
    found = list(_one_each_lineage(reader, query, hits, where))
    if sort:
        found.sort(key=_time, reverse=sort == "newest")
    else:
        found.sort(key=lambda find: (not find.by_title, find.record.source == _UNATTENDED))
    answer: Row = {"success": True, "mode": "discover", "query": _clipped(query, QUERY_CHARACTERS)}
    answer |= {"count": min(limit, len(found)), "sessions_found": len(found)}
    if hidden := _live_matches(reader, query, roles):
        answer["live_matches_left_out"] = hidden
    if store.degraded:
        answer["degraded"] = "the search index is damaged; only literal matches are shown"
    shown = [_with_surroundings(reader, find) for find in found[:limit]]
    results = list(_results(shown, _room_in(answer)))
    return answer | {"count": len(results), "results": results}


def _one_each_lineage(reader: Reader, query: str, hits: Iterable[SearchHit], where: SessionFilter) -> Iterator[_Find]:
    store, best = reader.store, dict[str, _Find]()
    for hit in hits:
        root = store.root_of(hit.session_id)
        if root not in best:
            best[root] = _Find(store.session(hit.session_id), hit, store.tip_of(hit.session_id))
    words = {word for term in parse(query).terms for word in term}
    for record in store.titled(words, where=where):
        root = store.root_of(record.id)
        if record.id == reader.session_id:
            continue
        known = best.get(root) or _Find(record, None, store.tip_of(record.id))
        best[root] = replace(known, by_title=True)
    yield from best.values()


def _live_matches(reader: Reader, query: str, roles: Sequence[str]) -> int:
    """How many hits the running conversation holds itself (report L2-15)."""
    if reader.session_id is None:
        return 0
    own = reader.store.search(query, limit=_SCANNED_HITS, roles=roles, session_id=reader.session_id)
    return sum(not hit.archived for hit in own)


def _with_surroundings(reader: Reader, find: _Find) -> _Find:
    store = reader.store
    first, last = store.bookends(find.record.id, each=BOOKENDS)
    window: Sequence[StoredMessage] = ()
    before, after = 0, find.record.message_count
    if find.hit is not None:
        anchor = find.hit.message_id
        window = [
            stored
            for stored in store.around(anchor, window=NEIGHBOURS)
            if stored.id == anchor or (_is_spoken(stored) and reader.may_see(stored))
        ]
        before, after = store.position(anchor)
    shown = {stored.id for stored in window}
    first = [stored for stored in first if stored.id not in shown and reader.may_see(stored)]
    shown |= {stored.id for stored in first}
    last = [stored for stored in last if stored.id not in shown and reader.may_see(stored)]
    return replace(find, window=window, first=first, last=last, before=before, after=after)


def _results(finds: Sequence[_Find], room: int) -> Iterator[Row]:
    """Each find with as much around it as the room allows; the best ones come first to it."""
    least = [_head(find) for find in finds]
    while least and sum(map(_size, least)) + 2 * len(least) > room:
        least.pop()
    room -= sum(map(_size, least)) + 2 * len(least)
    for find, head in zip(finds, least, strict=False):
        result = next(
            (row for row in _richer(find, head) if _size(row) - _size(head) <= room),
            head,
        )
        room -= _size(result) - _size(head)
        yield result


def _richer(find: _Find, head: Row) -> Iterator[Row]:
    """The find with more around it, the richest first."""
    anchor = find.hit.message_id if find.hit else None
    window = [_shown(stored, MESSAGE_CHARACTERS, anchor=stored.id == anchor) for stored in find.window]
    ends = {
        "bookend_start": [_shown(stored, MESSAGE_CHARACTERS // 4) for stored in find.first],
        "bookend_end": [_shown(stored, MESSAGE_CHARACTERS // 4) for stored in find.last],
    }
    yield head | {"messages": window} | ends
    yield head | {"messages": window}
    yield head | {"messages": [row for row in window if row.get("anchor")]}
    yield head | {
        "messages": [
            _shown(stored, MESSAGE_CHARACTERS // 4, anchor=True) for stored in find.window if stored.id == anchor
        ]
    }


def _head(find: _Find) -> Row:
    """What is told of every find."""
    return {
        "session_id": find.record.id,
        "when": date_of(_time(find)),
        "source": _clipped(find.record.source, NAME_CHARACTERS),
        "title": find.record.title,
        "matched_role": "session_title" if find.by_title or find.hit is None else find.hit.role,
        "match_message_id": find.hit.message_id if find.hit else None,
        "snippet": find.hit.snippet if find.hit else find.record.title,
        "messages": [],
        "messages_before": find.before,
        "messages_after": find.after,
        "resume_id": find.resume_id,
    }


def _time(find: _Find) -> float:
    return find.hit.timestamp if find.hit else find.record.last_active


# ── scroll, read, browse ────────────────────────────────────────────────────────────────────────────────────────


def scroll(reader: Reader, session_id: str, message_id: int, *, window: int) -> Row:
    """The messages around one of them, to look further up and down.

    Raises:
        SessionNotFound, AmbiguousSession: no such session.
        StoreError: no such message.
        ToolError: the message is part of another conversation.
    """
    store, record = reader.store, reader.store.resolve(session_id)
    messages = [stored for stored in store.around(message_id, window=window) if reader.may_see(stored)]
    answer: Row = {"success": True, "mode": "scroll"}
    owner = messages[0].session_id if messages else record.id
    if owner != record.id:
        if store.root_of(owner) != store.root_of(record.id):
            raise ToolError(f"message {message_id} is not part of session {record.id}; it is of session {owner}")
        record = store.session(owner)
        answer["warning"] = f"the message is of session {owner}, from which the one asked for came"
    answer |= {"session_meta": _meta(reader, record), "window": window}
    if messages:
        answer["messages_before"] = store.position(messages[0].id)[0]
        answer["messages_after"] = store.position(messages[-1].id)[1]
    return answer | {"messages": _fitted(messages, _room_in(answer), anchor=message_id)}


def read(reader: Reader, session_id: str) -> Row:
    """A whole conversation; of a long one its beginning and its end.

    Raises:
        SessionNotFound, AmbiguousSession: no such session.
    """
    store, record = reader.store, reader.store.resolve(session_id)
    head, tail = store.ends(record.id, first=READ_FIRST, last=READ_LAST)
    messages = [stored for stored in (*head, *tail) if reader.may_see(stored)]
    answer: Row = {"success": True, "mode": "read", "session_meta": _meta(reader, record)}
    if tail:
        answer["messages_between"] = store.position(tail[0].id)[0] - store.position(head[-1].id)[0] - 1
        answer["between_ids"] = [head[-1].id, tail[0].id]
    if record.id == reader.session_id:
        answer["note"] = "this is the running conversation; what you have before you is left out"
    return answer | {"messages": _fitted(messages, _room_in(answer), anchor=None)}


def browse(reader: Reader, *, limit: int, offset: int, where: SessionFilter) -> Row:
    """Conversations by last activity, page by page; each is on exactly one page (report L2-18)."""
    others = replace(where, excluded_session=reader.session_id)
    records = reader.store.recent(limit=limit + 1, offset=offset, where=others)
    sessions = [
        {
            "session_id": record.id,
            "when": date_of(record.last_active),
            "source": _clipped(record.source, NAME_CHARACTERS),
            "title": record.title,
            "preview": record.preview,
            "message_count": record.message_count,
        }
        for record in records[:limit]
    ]
    while _size(sessions) > ANSWER_CHARACTERS - 100:
        sessions.pop()
    answer: Row = {"success": True, "mode": "browse", "count": len(sessions), "sessions": sessions}
    return answer | ({"next_offset": offset + len(sessions)} if len(records) > len(sessions) else {})


def _meta(reader: Reader, record: SessionRecord) -> Row:
    return {
        "session_id": record.id,
        "when": date_of(record.started_at),
        "source": _clipped(record.source, NAME_CHARACTERS),
        "title": record.title,
        "model": record.model and _clipped(record.model, NAME_CHARACTERS),
        "message_count": record.message_count,
        "resume_id": reader.store.tip_of(record.id),
    }


def _fitted(messages: Sequence[StoredMessage], room: int, *, anchor: int | None) -> list[Row]:
    """The messages in pieces so long that all fit; where even short ones do not, those furthest from the anchor go."""
    rows: list[Row] = []
    for length in _PIECES:
        rows = [_shown(stored, length, anchor=stored.id == anchor) for stored in messages]
        if _size(rows) <= room:
            return rows
    centre = next((index for index, row in enumerate(rows) if row.get("anchor")), 0)
    while rows and _size(rows) > room:
        drops_last = len(rows) - 1 - centre >= centre
        rows.pop(-1 if drops_last else 0)
        centre -= not drops_last
    return rows


# ── messages ────────────────────────────────────────────────────────────────────────────────────────────────────


def _is_spoken(stored: StoredMessage) -> bool:
    return stored.message.role in ("user", "assistant") and bool(stored.message.text)


def _shown(stored: StoredMessage, characters: int, *, anchor: bool = False) -> Row:
    message = stored.message
    row: Row = {"id": stored.id, "role": message.role, "content": _clipped(message.text, characters)}
    if message.tool_name:
        row["tool_name"] = message.tool_name
    if message.tool_calls:
        row["tool_calls"] = [
            {"name": call.name, "arguments": _clipped(call.arguments, min(characters, _CALL_CHARACTERS))}
            for call in message.tool_calls[:_CALLS]
        ]
        if len(message.tool_calls) > _CALLS:
            row["more_tool_calls"] = len(message.tool_calls) - _CALLS
    return row | {"anchor": True} if anchor else row


def _clipped(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters] + "…"


def _room_in(answer: Row) -> int:
    """What is left for the list that is still to come, its key included."""
    return ANSWER_CHARACTERS - _size(answer) - len(', "messages": ')


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))
