"""The session_search tool."""

import json

import pytest

from girdlebook.errors import SessionNotFound, ToolError
from girdlebook.messages import Message, ToolCall
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.tool import SessionSearchTool
from girdlebook.sessions.views import ANSWER_CHARACTERS, MESSAGE_CHARACTERS

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


def ask(store, own=None, **given):
    """What the tool answers in the session `own`."""
    return SessionSearchTool(store, session_id=own).answer(given)


def scroll(store, session_id, message_id):
    return ask(store, session_id=session_id, around_message_id=message_id)


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
    assert [r["session_id"] for r in ask(store, own="b", query="moon")["results"]] == ["a"]
    assert [s["session_id"] for s in ask(store, own="b")["sessions"]] == ["a"]


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


@pytest.mark.parametrize("text", ["moon " * 2_000, "月亮" * 4_000, '"\\' * 3_000 + " moon 月亮"])
def test_every_answer_keeps_to_one_budget(store, text):
    for n in range(10):
        ids = talk(store, f"s{n}", *[text] * 50)
    shapes = [
        ask(store, query="moon 月亮", limit=10),
        ask(store, session_id="s9"),
        ask(store, session_id="s9", around_message_id=ids[25], window=20),
    ]
    for answer in shapes:
        assert len(json.dumps(answer, ensure_ascii=False)) <= ANSWER_CHARACTERS
    assert all(result["snippet"] for result in shapes[0]["results"])
    assert any(message.get("anchor") for message in shapes[2]["messages"])
    shown = [message["content"] for result in shapes[0]["results"] for message in result["messages"]]
    assert max(map(len, shown)) <= MESSAGE_CHARACTERS + 1


def test_a_find_shows_how_the_conversation_began_and_ended(store):
    talk(store, "a", *[f"turn {n}" for n in range(20)], "the moon", *[f"turn {n}" for n in range(21, 40)])
    result = ask(store, query="moon")["results"][0]
    assert [m["content"] for m in result["bookend_start"]] == ["turn 0", "turn 1", "turn 2"]
    assert [m["content"] for m in result["bookend_end"]] == ["turn 37", "turn 38", "turn 39"]
    assert (result["messages_before"], result["messages_after"]) == (20, 19)


def test_bookends_do_not_repeat_what_is_shown(store):
    talk(store, "a", "hello", "the moon", "good", "bye")
    result = ask(store, query="moon")["results"][0]
    assert [m["content"] for m in result["messages"]] == ["hello", "the moon", "good", "bye"]
    assert (result["bookend_start"], result["bookend_end"]) == ([], [])


def test_L2_15_an_earlier_session_of_the_lineage_is_found_and_hidden_matches_are_counted(store):
    talk(store, "a", "the moon")
    store.create_session("b", source="cli", parent_session_id="a")
    store.append("b", Message("user", "the moon too"))
    answer = ask(store, own="b", query="moon")
    assert [r["session_id"] for r in answer["results"]] == ["a"]
    assert answer["live_matches_left_out"] == 1
    assert "live_matches_left_out" not in ask(store, own="a", query="zeppelin")


def test_archived_messages_of_the_running_conversation_are_found(store):
    ids = talk(store, "a", "the moon", "noted", "the sun")
    with store.database.write() as connection:
        connection.execute("UPDATE messages SET active = 0, compacted = 1 WHERE id = ?", [ids[0]])
    answer = ask(store, own="a", query="moon sun")
    assert [r["match_message_id"] for r in answer["results"]] == [ids[0]]
    assert [m["id"] for m in answer["results"][0]["messages"]] == [ids[0]]
    assert answer["live_matches_left_out"] == 1


def test_one_result_per_lineage_and_the_place_to_go_on(store):
    talk(store, "a", "the moon")
    store.end_session("a", "compression")
    store.create_session("b", source="cli", parent_session_id="a", started_at=NOVEMBER + 1)
    store.append("b", Message("user", "the moon again"), timestamp=NOVEMBER + 2)
    (result,) = ask(store, query="moon")["results"]
    assert result["resume_id"] == "b"


def test_a_branch_is_no_continuation(store):
    talk(store, "a", "the moon")
    store.create_session("branch", source="cli", parent_session_id="a")
    assert ask(store, query="moon")["results"][0]["resume_id"] == "a"


def test_a_title_comes_first(store):
    talk(store, "a", "the harbour plan is here")
    store.create_session("b", source="cli", title="Harbour plan 港口计划", started_at=NOVEMBER)
    store.append("b", Message("user", "let us begin"), timestamp=NOVEMBER)
    first, second = ask(store, query="harbour plan")["results"]
    assert (first["session_id"], first["matched_role"], first["match_message_id"]) == ("b", "session_title", None)
    assert [m["content"] for m in first["bookend_start"]] == ["let us begin"]
    assert (second["session_id"], second["matched_role"]) == ("a", "user")
    assert ask(store, query="港口计划")["results"][0]["session_id"] == "b"


def test_a_conversation_found_by_title_and_by_text_is_shown_once(store):
    talk(store, "a", "the zebra")
    store.rename("a", "zebra")
    (result,) = ask(store, query="zebra")["results"]
    assert result["matched_role"] == "session_title"
    assert [m["content"] for m in result["messages"]] == ["the zebra"]


def test_L2_20_a_subagents_session_is_found_when_asked_for(store):
    store.create_session("sub", source="subagent")
    store.append("sub", Message("user", "the moon"))
    assert ask(store, query="moon")["count"] == 0
    assert ask(store, query="moon", source="subagent, tool")["count"] == 1


def test_what_nobody_attended_to_comes_last(store):
    store.create_session("job", source="cron")
    store.append("job", Message("user", "moon"))
    talk(store, "a", "a long message about many things, among them the moon and the stars and the sea")
    assert [r["session_id"] for r in ask(store, query="moon")["results"]] == ["a", "job"]


def test_finds_and_lists_are_narrowed_by_time_and_project(store):
    for n, day in enumerate((0, 10, 40)):
        store.create_session(f"s{n}", source="cli", project=f"/work/app{n}", started_at=NOVEMBER + 86_400 * day)
        store.append(f"s{n}", Message("user", "moon"), timestamp=NOVEMBER + 86_400 * day)

    def both(**given):
        found = sorted(r["session_id"] for r in ask(store, query="moon", **given)["results"])
        listed = sorted(r["session_id"] for r in ask(store, **given)["sessions"])
        assert found == listed
        return found

    assert both(since="2026-11-20") == ["s1", "s2"]
    assert both(until="2026-11") == ["s0", "s1"]
    assert both(since="2026-11-28", until="2026-11-28") == ["s1"]
    assert both(project="/work/app1") == ["s1"]
    assert both(project="/work") == ["s0", "s1", "s2"]


def test_L2_18_every_conversation_is_on_exactly_one_page(store):
    for n in range(23):
        talk(store, f"s{n:02}", "hello", at=NOVEMBER + n)
    seen, offset = [], 0
    while offset is not None:
        answer = ask(store, own="s11", limit=10, offset=offset)
        seen += [row["session_id"] for row in answer["sessions"]]
        offset = answer.get("next_offset")
    assert seen == [f"s{n:02}" for n in reversed(range(23)) if n != 11]


def test_scrolling_goes_on_from_the_last_message_shown(store):
    ids = talk(store, "a", *[f"turn {n}" for n in range(100)])
    answer = scroll(store, "a", ids[50])
    assert answer["mode"] == "scroll"
    assert [m["id"] for m in answer["messages"]] == ids[45:56]
    assert (answer["messages_before"], answer["messages_after"]) == (45, 44)
    assert [m["id"] for m in answer["messages"] if m.get("anchor")] == [ids[50]]
    assert answer["session_meta"]["title"] == "talk a"


def test_L2_23_a_window_never_parts_a_call_from_its_result(store):
    store.create_session("a", source="cli")
    calls = (ToolCall("1", "x"), ToolCall("2", "x"))
    ids = store.append_many(
        "a",
        [
            Message("user", "go"),
            Message("assistant", "", tool_calls=calls),
            Message("tool", "one", tool_call_id="1", tool_name="x"),
            Message("tool", "two", tool_call_id="2", tool_name="x"),
            Message("assistant", "done"),
        ],
    )
    assert [m.id for m in store.messages("a", last=3)] == ids[1:]
    assert [m.id for m in store.messages("a", last=1)] == ids[4:]
    assert [m.id for m in store.around(ids[3], window=1)] == ids[1:]
    assert [m.id for m in store.around(ids[0], window=1)] == ids[:4]
    assert [[m.id for m in end] for end in store.ends("a", first=2, last=1)] == [ids[:4], ids[4:]]


def test_a_message_of_a_relative_is_shown_with_a_warning_and_a_strangers_is_not(store):
    (first,) = talk(store, "a", "the moon")
    store.create_session("b", source="cli", parent_session_id="a")
    talk(store, "c", "elsewhere")
    answer = scroll(store, "b", first)
    assert (answer["session_meta"]["session_id"], "session a" in answer["warning"]) == ("a", True)
    with pytest.raises(ToolError, match="not part of session c"):
        scroll(store, "c", first)


def test_a_long_conversation_is_read_from_both_ends(store):
    ids = talk(store, "a", *[f"turn {n}" for n in range(100)])
    answer = ask(store, session_id="a")
    assert [m["id"] for m in answer["messages"]] == [*ids[:20], *ids[90:]]
    assert (answer["messages_between"], answer["between_ids"]) == (70, [ids[19], ids[90]])
    talk(store, "b", *[f"turn {n}" for n in range(30)])
    short = ask(store, session_id="b")
    assert (len(short["messages"]), "messages_between" in short) == (30, False)


def test_reading_the_running_conversation_leaves_out_what_is_before_the_model(store):
    talk(store, "a", "hello")
    answer = SessionSearchTool(store, session_id="a").answer({"session_id": "a"})
    assert answer["messages"] == []
    assert "running" in answer["note"]


def test_calls_are_shown_by_name_and_arguments(store):
    store.create_session("a", source="cli")
    store.append("a", Message("assistant", "", tool_calls=(ToolCall("1", "deploy", '{"host": "gamma"}'),)))
    store.append("a", Message("tool", "ok", tool_call_id="1", tool_name="deploy"))
    first, second = ask(store, session_id="a")["messages"]
    assert first["tool_calls"] == [{"name": "deploy", "arguments": '{"host": "gamma"}'}]
    assert second["tool_name"] == "deploy"


def test_nothing_found_is_an_answer(store):
    assert ask(store, query="zeppelin")["results"] == []


@pytest.mark.parametrize(
    "given",
    [
        {"query": 5},
        {"query": "x", "limit": "many"},
        {"query": "x", "sort": "random"},
        {"query": "x", "role_filter": "owl"},
        {"query": "x", "since": "yesterday"},
        {"query": "x", "until": "2026-13"},
        {"around_message_id": 4},
        {"session_id": "a", "around_message_id": "four"},
    ],
)
def test_a_wrong_argument_is_named(store, given):
    with pytest.raises(ToolError):
        ask(store, **given)


def test_an_unknown_session_is_said(store):
    with pytest.raises(SessionNotFound):
        ask(store, session_id="nowhere")


@pytest.mark.parametrize("shape", ["discover", "browse", "read"])
def test_no_name_however_long_breaks_the_budget(store, shape):
    for n in range(10):
        name = f"{n}" + "s" * 1_300
        store.create_session(
            name, source="o" * 1_500, title=str(n) + '"' * 98, model="m" * 13_000, started_at=NOVEMBER + n
        )
        store.append(name, Message("user", "moon \x01\x02" * 50), timestamp=NOVEMBER + n)
    given = {"discover": {"query": "moon " * 4_000, "limit": 10}, "browse": {"limit": 10}, "read": {"session_id": name}}
    answer = ask(store, **given[shape])
    assert len(json.dumps(answer, ensure_ascii=False)) <= ANSWER_CHARACTERS
    assert answer.get("count", 1) >= 1


@pytest.mark.parametrize(
    "given", [{"limit": "x" * 20_000}, {"query": "x", "since": "y" * 20_000}, {"session_id": "z" * 20_000}]
)
def test_no_error_is_longer_than_a_few_lines(store, given):
    with pytest.raises((ToolError, SessionNotFound)) as caught:
        ask(store, **given)
    assert len(str(caught.value)) < 400


def test_a_message_with_many_calls_is_shown_all_the_same(store):
    store.create_session("a", source="cli")
    calls = tuple(ToolCall(str(n), "x" * 60, '{"a": "' + "b" * 300 + '"}') for n in range(150))
    results = [Message("tool", "ok" * 100, tool_call_id=str(n), tool_name="x" * 60) for n in range(150)]
    (first, *_) = store.append_many("a", [Message("assistant", "go", calls), *results])
    answer = scroll(store, "a", first)
    assert answer["messages"][0]["more_tool_calls"] == 142
    assert len(json.dumps(answer, ensure_ascii=False)) <= ANSWER_CHARACTERS
