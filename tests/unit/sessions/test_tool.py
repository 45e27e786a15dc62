"""The session_search tool."""

import pytest

from girdlebook.errors import ToolError
from girdlebook.messages import Message, ToolCall
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.tool import ANSWER_CHARACTERS, MESSAGE_CHARACTERS, SessionSearchTool

NOVEMBER = 1_795_000_000.0


@pytest.fixture
def store(tmp_path):
    with SQLiteSessionStore.open(tmp_path / "state.db") as opened:
        yield opened


def talk(store, session, *texts, at=NOVEMBER):
    store.create_session(session, source="cli", title=f"talk {session}", started_at=at)
    roles = ["user", "assistant"] * len(texts)
    messages = [Message(role, text) for role, text in zip(roles, texts, strict=False)]
    return store.append_many(session, messages, timestamps=[at + n for n in range(len(texts))])


def ask(store, session_id=None, **given):
    return SessionSearchTool(store, session_id=session_id).answer(given)


def test_a_find_names_session_date_and_what_stands_around_it(store):
    ids = talk(store, "a", "早上好", "你好", "生产数据库端口是 6432", "记下了", "谢谢", "不客气")
    answer = ask(store, query="数据库端口是多少？")
    assert (answer["success"], answer["mode"], answer["count"]) == (True, "discover", 1)
    result = answer["results"][0]
    assert (result["session_id"], result["when"], result["title"]) == ("a", "2026-11-18", "talk a")
    assert (result["matched_role"], result["match_message_id"]) == ("user", ids[2])
    assert [m["content"] for m in result["messages"]] == ["早上好", "你好", "生产数据库端口是 6432", "记下了", "谢谢"]
    assert [m.get("anchor", False) for m in result["messages"]] == [False, False, True, False, False]


def test_one_result_per_conversation(store):
    talk(store, "a", "the moon", "the moon", "moon again")
    talk(store, "b", "a moon")
    assert sorted(r["session_id"] for r in ask(store, query="moon")["results"]) == ["a", "b"]


def test_L2_15_the_running_conversation_is_left_out_and_others_are_found(store):
    talk(store, "a", "the moon")
    talk(store, "b", "the moon")
    assert [r["session_id"] for r in ask(store, session_id="b", query="moon")["results"]] == ["a"]
    assert [s["session_id"] for s in ask(store, session_id="b")["sessions"]] == ["a"]


def test_results_can_be_ordered_by_time(store):
    for n, name in enumerate("bac"):
        talk(store, name, "moon", at=NOVEMBER + 86_400 * n)
    assert [r["session_id"] for r in ask(store, query="moon", sort="newest")["results"]] == ["c", "a", "b"]
    assert [r["session_id"] for r in ask(store, query="moon", sort="oldest")["results"]] == ["b", "a", "c"]


def test_the_limit_is_three_and_at_most_ten(store):
    for n in range(12):
        talk(store, f"s{n}", "moon")
    assert [
        ask(store, query="moon", **extra)["count"] for extra in ({}, {"limit": 5}, {"limit": 99}, {"limit": 0})
    ] == [
        3,
        5,
        10,
        1,
    ]


def test_tool_rows_are_found_only_when_asked_for(store):
    store.create_session("a", source="cli")
    store.append("a", Message("assistant", "", tool_calls=(ToolCall("1", "deploy", '{"host": "gamma"}'),)))
    assert ask(store, query="gamma")["count"] == 0
    assert ask(store, query="gamma", role_filter="assistant, tool")["count"] == 1


def test_without_a_query_the_latest_conversations_are_listed(store):
    talk(store, "a", "好的，明天见", at=NOVEMBER)
    talk(store, "b", "hello", at=NOVEMBER + 86_400)
    answer = ask(store)
    assert answer["mode"] == "browse"
    assert [(s["session_id"], s["preview"], s["message_count"]) for s in answer["sessions"]] == [
        ("b", "hello", 1),
        ("a", "好的，明天见", 1),
    ]


def test_an_answer_is_bounded(store):
    for n in range(10):
        talk(store, f"s{n}", *["moon " * 2_000] * 5)
    answer = ask(store, query="moon", limit=10)
    shown = [message["content"] for result in answer["results"] for message in result["messages"]]
    assert max(map(len, shown)) <= MESSAGE_CHARACTERS + 1
    assert sum(map(len, shown)) < 2 * ANSWER_CHARACTERS + 10 * MESSAGE_CHARACTERS


def test_nothing_found_is_an_answer(store):
    assert ask(store, query="zeppelin")["results"] == []


@pytest.mark.parametrize(
    "given",
    [
        {"query": 5},
        {"query": "x", "limit": "many"},
        {"query": "x", "sort": "random"},
        {"query": "x", "role_filter": "owl"},
    ],
)
def test_a_wrong_argument_is_named(store, given):
    with pytest.raises(ToolError):
        ask(store, **given)
