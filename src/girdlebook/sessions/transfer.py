"""Sessions ⇄ JSONL, one session a line: the row's fields and `messages` (the format of `hermes sessions export`)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from girdlebook.dialects import openai_chat
from girdlebook.errors import GirdleError, TransferError
from girdlebook.messages import Message, Usage
from girdlebook.sessions.dates import LATEST
from girdlebook.sessions.rows import from_row, plain, to_row
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.store import ModelUsage, SessionRecord, StoredMessage
from girdlebook.sessions.titles import TITLE_CHARACTERS, sanitize_title
from girdlebook.tools import specs_from_json

_FIELDS = ("id", "source", "user_id", "title", "model", "parent_session_id", "project")
_TIMES = ("started_at", "last_active", "ended_at", "end_reason")
_COUNTS = ("message_count", "tool_call_count")
_USED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_COLUMNS = ("content", "tool_call_id", "tool_calls", "tool_name", "finish_reason", "reasoning", "extra")


_FAULTS = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, GirdleError)


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one line: `imported`, `skipped` (it was there) or `refused`, with the reason."""

    line: int
    outcome: str
    session_id: str | None = None
    reason: str = ""


def export_lines(store: SQLiteSessionStore, records: Iterable[SessionRecord]) -> Iterator[str]:
    """Each session as a line of pure ASCII JSON, archived messages included, so that any text survives any pipe."""
    for record in records:
        prompt, tools = store.prompt_of(record.id)
        row: dict[str, Any] = {name: getattr(record, name) for name in (*_FIELDS, *_TIMES, *_COUNTS)}
        row |= {name: getattr(record.usage, name) for name in _USED}
        row |= {"estimated_cost_usd": record.usage.cost_usd, "system_prompt": prompt, "tool_specs": tools}
        row["model_usage"] = [_exported_usage(one) for one in store.usage(record.id)]
        row["messages"] = [_exported(stored) for stored in store.history(record.id)]
        yield json.dumps(row)


def import_lines(store: SQLiteSessionStore, lines: Iterable[str]) -> Iterator[Imported]:
    """Store the sessions of an export.  A line that is wrong is reported and the rest goes in.

    A session that is there already, by its id, is skipped, so that an import can be tried again.
    """
    return import_rows(store, ((number, line) for number, line in enumerate(lines, 1) if line.strip()))


def import_rows(store: SQLiteSessionStore, rows: Iterable[tuple[int, str | Mapping[str, Any]]]) -> Iterator[Imported]:
    """Store sessions that are given as numbered rows, or as their JSON; see `import_lines`.

    A parent may come after its child.
    """
    parents: dict[str, str] = {}
    for number, row in rows:
        try:
            value = json.loads(row) if isinstance(row, str) else row
            yield _import(store, number, value, parents)
        except _FAULTS as error:
            reason = f"lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
            yield Imported(number, "refused", reason=reason[:200])
    for child, parent in parents.items():
        if store.has(parent):
            store.set_parent(child, parent)


def _import(store: SQLiteSessionStore, number: int, row: Any, parents: dict[str, str]) -> Imported:
    if not isinstance(row, Mapping) or not isinstance(row.get("id"), str) or not row["id"]:
        raise TransferError("it is no session: an object with `id` and `messages` is wanted")
    messages = [_imported(row["id"], one) for one in row.get("messages") or ()]
    if store.has(row["id"]):
        return Imported(number, "skipped", row["id"], "it is there already")
    parent = row.get("parent_session_id")
    model = row.get("model")
    # Hermes keeps its own estimate beside what was charged; only the latter is a fact.
    cost = row["actual_cost_usd"] or None if "actual_cost_usd" in row else row.get("estimated_cost_usd")
    usage = Usage(**{name: int(row.get(name) or 0) for name in _USED}, cost_usd=cost)
    store.import_session(
        SessionRecord(
            id=row["id"],
            source=row.get("source") or "import",
            user_id=row.get("user_id"),
            title=_title(store, row),
            model=model,
            parent_session_id=parent if parent and store.has(parent) else None,
            started_at=_time(row.get("started_at") or (messages[0].timestamp if messages else 0.0)),
            last_active=0.0,
            ended_at=None if row.get("ended_at") is None else _time(row["ended_at"]),
            end_reason=row.get("end_reason"),
            usage=usage,
            project=row.get("project") or row.get("cwd"),
        ),
        messages,
        usage=_imported_usage(row, model, usage),
        system_prompt=row.get("system_prompt"),
        tool_specs=_tool_specs(row.get("tool_specs")),
    )
    if parent and not store.has(parent):
        parents[row["id"]] = parent
    return Imported(number, "imported", row["id"])


def _exported(stored: StoredMessage) -> dict[str, Any]:
    row = to_row(stored.message)
    calls = json.loads(row["tool_calls"]) if row["tool_calls"] else None
    state = {"token_count": stored.output_tokens, "active": int(not stored.archived), "compacted": int(stored.archived)}
    return {"timestamp": stored.timestamp, **row, "tool_calls": calls, **state}


def _imported(session_id: str, row: Mapping[str, Any]) -> StoredMessage:
    """A message of our own export, or of Hermes': there, calls have a vendor's form and content may be parts."""
    if row["role"] not in ("system", "user", "assistant", "tool"):
        raise TransferError(f"a message has the unknown role {row['role']!r}")
    archived = not row.get("active", 1)
    tokens = row.get("token_count")
    return StoredMessage(0, session_id, _time(row["timestamp"]), _message(row), archived, tokens and int(tokens))


def _time(value: Any) -> float:
    """Seconds since 1970.

    Raises:
        TransferError: no message can be of that time; milliseconds perhaps.
    """
    seconds = float(value)
    if not 0 <= seconds <= LATEST:
        raise TransferError(f"{value!r} is no time in seconds since 1970")
    return seconds


def _title(store: SQLiteSessionStore, row: Mapping[str, Any]) -> str | None:
    """The title, cut where it is too long and with a number where another session has it."""
    if not row.get("title"):
        return None
    clean = sanitize_title(plain(str(row["title"]))[:TITLE_CHARACTERS])
    return store.free_title(clean, user_id=row.get("user_id")) if clean else None


def _tool_specs(text: Any) -> str | None:
    """The tools as they were stored; none where the text is something else."""
    try:
        return text if text and specs_from_json(text) else None
    except (ValueError, TypeError):
        return None


def _message(row: Mapping[str, Any]) -> Message:
    fields = {name: row.get(name) for name in _COLUMNS}
    if fields["content"] is not None and not isinstance(fields["content"], str | list):
        raise TransferError(f"a message's content is neither text nor parts: {str(fields['content'])[:40]!r}")
    if isinstance(fields["content"], list):
        (parsed,) = openai_chat.parse([{"role": "user", "content": fields["content"]}])
        fields |= {name: value for name, value in to_row(parsed).items() if name in ("content", "extra")}
    calls = fields["tool_calls"]
    calls = json.loads(calls) if isinstance(calls, str) else calls
    fields["tool_calls"] = json.dumps([_call(call, number) for number, call in enumerate(calls)]) if calls else None
    return from_row({"role": row["role"], **fields})


def _call(call: Mapping[str, Any], number: int) -> dict[str, str]:
    function = call.get("function") or call
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"id": call.get("id") or f"call_{number}", "name": function["name"], "arguments": text or "{}"}


def _exported_usage(usage: ModelUsage) -> dict[str, Any]:
    return {"model": usage.model, "task": usage.task, "calls": usage.calls, **asdict(usage.usage)}


def _imported_usage(row: Mapping[str, Any], model: str | None, whole: Usage) -> list[ModelUsage]:
    """Usage by model and task; where only sums are known, they are the model's chat."""
    if row.get("model_usage") is not None:
        return [
            ModelUsage(
                one["model"],
                one["task"],
                int(one["calls"]),
                Usage(**{name: int(one.get(name) or 0) for name in _USED}, cost_usd=one.get("cost_usd")),
            )
            for one in row["model_usage"]
        ]
    return [ModelUsage(model or "", "chat", int(row.get("api_call_count") or 0), whole)] if whole != Usage() else []
