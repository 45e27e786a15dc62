"""Sessions as JSONL."""

import json

import pytest

from girdlebook.messages import Attachment, ImagePart, Message, OpaquePart, TextPart, ToolCall, Usage
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.transfer import export_lines, import_lines


@pytest.fixture
def store(tmp_path):
    with SQLiteSessionStore.open(tmp_path / "a" / "state.db") as opened:
        yield opened


@pytest.fixture
def other(tmp_path):
    with SQLiteSessionStore.open(tmp_path / "b" / "state.db") as opened:
        yield opened


MESSAGES = [
    Message("user", "小林 🍵 مرحبا \ud800 \0", attachments=(Attachment("recall", "x"),)),
    Message("assistant", "", tool_calls=(ToolCall("c1", "memory", '{"a":  1}'),), reasoning="hm", finish_reason="t"),
    Message("tool", "done", tool_call_id="c1", tool_name="memory", is_error=True),
    Message("user", (TextPart("look"), ImagePart("aGk=", "image/png"), OpaquePart("anthropic", {"type": "thinking"}))),
]


def test_what_was_exported_comes_back_equal_and_once_only(store, other):
    session = store.create_session(source="cli", title="茶", system_prompt="be kind", project="/p", started_at=5.0)
    for number, message in enumerate(MESSAGES):
        store.append(session.id, message, timestamp=10.0 + number, usage=Usage(3, 1), model="m")
    store.end_session(session.id, "closed")
    lines = list(export_lines(store, store.recent()))
    assert all(line.isascii() and "\n" not in line for line in lines)
    assert [one.outcome for one in import_lines(other, lines)] == ["imported"]
    assert [one.outcome for one in import_lines(other, lines)] == ["skipped"]
    assert [stored.message for stored in other.messages(session.id)] == MESSAGES
    assert [stored.timestamp for stored in other.messages(session.id)] == [10.0, 11.0, 12.0, 13.0]
    assert other.session(session.id) == store.session(session.id)
    assert other.prompt_of(session.id) == ("be kind", None)
    assert other.search("小林")


def test_a_bad_line_is_reported_and_the_rest_goes_in(store):
    good = json.dumps({"id": "g", "source": "cli", "messages": [{"role": "user", "content": "好", "timestamp": 1}]})
    bad = ["{", "[]", '{"id": "x", "messages": [{"role": "wizard", "timestamp": 1}]}', '{"id": "y", "messages": [{}]}']
    outcomes = [(one.line, one.outcome) for one in import_lines(store, [*bad, "", good])]
    assert outcomes == [(1, "refused"), (2, "refused"), (3, "refused"), (4, "refused"), (6, "imported")]
    assert [record.id for record in store.recent()] == ["g"]


def test_lines_of_hermes_are_understood(store):
    call = {"id": "c", "type": "function", "function": {"name": "terminal", "arguments": '{"cmd": "ls"}'}}
    line = {
        "id": "h1", "source": "telegram", "started_at": 5.0, "title": "plan", "cwd": "/srv", "api_call_count": 3,
        "parent_session_id": "gone", "messages": [
            {"id": 7, "session_id": "h1", "role": "user", "content": "运行", "timestamp": 6.0, "active": 1},
            {"role": "assistant", "content": None, "tool_calls": [call], "timestamp": 7.0, "platform_message_id": "p"},
            {"role": "tool", "content": "ok", "tool_call_id": "c", "tool_name": "terminal", "timestamp": 8.0},
        ],
    }  # fmt: skip
    assert [one.outcome for one in import_lines(store, [json.dumps(line)])] == ["imported"]
    stored = [one.message for one in store.messages("h1")]
    assert stored[1].tool_calls == (ToolCall("c", "terminal", '{"cmd": "ls"}'),)
    record = store.session("h1")
    assert (record.parent_session_id, record.project, record.last_active) == (None, "/srv", 8.0)


def test_a_taken_title_gets_a_number(store):
    store.create_session(source="cli", title="plan")
    list(import_lines(store, ['{"id": "n", "title": "plan", "messages": []}']))
    assert store.session("n").title == "plan #2"


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": [{"role": "user", "content": {"a": 1}, "timestamp": 1}]},
        {"messages": [{"role": "user", "content": "x", "timestamp": 1_700_000_000_000}]},
        {"messages": [{"role": "user", "content": "x", "timestamp": float("inf")}]},
        {"started_at": 1_700_000_000_000},
        {"input_tokens": float("inf")},
        {"input_tokens": 10**24},
    ],
)
def test_what_would_break_later_commands_is_refused_and_the_rest_goes_in(store, wrong):
    lines = [json.dumps({"id": "bad"} | wrong), "[" * 100_000, '{"id": "good", "messages": []}']
    assert [one.outcome for one in import_lines(store, lines)] == ["refused", "refused", "imported"]
    assert len(list(export_lines(store, store.recent()))) == 1


def test_long_and_odd_titles_are_no_reason_to_refuse(store):
    store.create_session(source="cli", title="plan")
    lines = [json.dumps({"id": str(n), "title": t}) for n, t in enumerate(["x" * 150, "plan\u200b", "half \ud83d"])]
    assert [one.outcome for one in import_lines(store, lines)] == ["imported"] * 3
    assert [store.session(str(n)).title for n in range(3)] == ["x" * 100, "plan #2", "half \ufffd"]


def test_tools_that_cannot_be_read_are_left_out(store):
    list(import_lines(store, ['{"id": "p", "tool_specs": "nope", "system_prompt": "s", "messages": []}']))
    assert store.prompt_of("p") == ("s", None)


def test_tokens_by_day_survive(store, other):
    store.create_session("a", source="cli")
    store.append("a", Message("assistant", "x"), usage=Usage(5, 7))
    list(import_lines(other, export_lines(store, store.recent())))
    assert other.activity(since=0) == store.activity(since=0)
