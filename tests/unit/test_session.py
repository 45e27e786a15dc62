"""MemorySession: the five verbs, the frozen prefix, and transcripts that stay valid."""

import datetime
import json

import pytest

from girdlebook import Memory, Message, Reply, ScopeError, ToolCall, ToolSpec, TurnError, Usage
from girdlebook.dialects import openai_chat
from girdlebook.errors import TitleError
from girdlebook.testing import assert_prefix_stable
from girdlebook.testing.chat_server import transcript_fault

WEATHER = ToolSpec("weather", "The weather of a city.", {"type": "object", "properties": {}})


def says(text, usage=None):
    return Reply(Message("assistant", text), usage)


def calls(*named):
    return Reply(
        Message("assistant", tool_calls=tuple(ToolCall(i, name, json.dumps(given)) for i, name, given in named))
    )


def remember(text, call_id="c1"):
    return calls((call_id, "memory", {"action": "add", "target": "user", "content": text}))


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "家 🏠") as opened:
        yield opened


@pytest.fixture
def session(memory):
    return memory.session(tools=[WEATHER])


def valid(session):
    return transcript_fault(openai_chat.render(session.messages)) is None


def test_a_turn_is_stored_as_it_goes(memory, session):
    session.begin_turn("我叫小林")
    assert session.awaiting_model
    session.add_reply(says("你好，小林", Usage(10, 5)))
    assert (session.awaiting_model, session.last_text) == (False, "你好，小林")
    session.end_turn()
    assert [m.message.text for m in memory.sessions.messages(session.id)] == ["我叫小林", "你好，小林"]
    assert memory.sessions.session(session.id).usage == session.usage == Usage(10, 5)


def test_our_own_tools_run_inside_add_reply(memory, session):
    session.begin_turn("I am Sam")
    session.add_reply(remember("The user is called Sam"))
    assert session.awaiting_model
    assert memory.store.entries("user") == ("The user is called Sam",)
    assert json.loads(session.messages[-1].text)["success"] is True


def test_L1_48_a_write_moves_no_byte_of_the_prompt_until_the_next_session(memory, session):
    requests = []
    session.begin_turn("I am Sam")
    for reply in (remember("The user is called Sam"), remember("Likes tabs", "c2"), says("Noted")):
        requests.append(openai_chat.request(session.context()))
        session.add_reply(reply)
    session.end_turn()
    assert_prefix_stable(requests)
    assert "Sam" not in session.context().system
    assert "The user is called Sam" in memory.session().context().system


def test_L3_48_the_prompt_names_the_day_and_both_blocks(memory):
    memory.store.add("memory", "Uses uv")
    memory.store.add("user", "偏好简短")
    system = memory.session("Be kind.", today=datetime.date(2026, 12, 1)).context().system
    assert system.startswith("Be kind.\n\n")
    assert system.index("Uses uv") < system.index("偏好简短") < system.index("Today is 2026-12-01.")


def test_calls_of_the_callers_tools_wait(session):
    session.begin_turn("weather?")
    session.add_reply(calls(("w", "weather", {}), ("m", "memory", {"action": "list", "target": "user"})))
    assert [call.id for call in session.pending_calls] == ["w"]
    assert not session.awaiting_model
    session.add_tool_result("w", "sunny")
    assert session.awaiting_model
    assert valid(session)


def test_a_tool_that_nobody_offered_is_answered(session):
    session.begin_turn("hi")
    session.add_reply(calls(("x", "launch", {})))
    assert session.awaiting_model
    assert "no tool 'launch'" in session.messages[-1].text


def test_call_ids_are_made_unique_for_servers_that_count_from_zero(session):
    session.begin_turn("hi")
    for _ in range(2):
        session.add_reply(calls(("", "memory", {"action": "list"}), ("0", "memory", {"action": "list"})))
    session.add_reply(says("done"))
    ids = [call.id for message in session.messages for call in message.tool_calls]
    assert len(set(ids)) == len(ids) == 4
    assert "" not in ids
    assert valid(session)


def test_an_empty_answer_ends_the_turn_and_is_not_kept(session):
    session.begin_turn("hi")
    session.add_reply(says("  ", Usage(3, 0)))
    session.end_turn()
    assert [m.role for m in session.messages] == ["user"]
    assert session.usage == Usage(3, 0)


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_an_interrupt_anywhere_leaves_a_valid_transcript(memory, session, done):
    steps = [
        lambda: session.add_reply(calls(("a", "weather", {}), ("b", "weather", {}))),
        lambda: session.add_tool_result("a", "sunny"),
        lambda: session.add_tool_result("b", "rain"),
    ]
    session.begin_turn("weather?")
    for step in steps[:done]:
        step()
    session.interrupt()
    assert valid(session)
    session.begin_turn("still there?")
    session.add_reply(says("yes"))
    session.end_turn()
    assert valid(session)
    assert [m.message for m in memory.sessions.messages(session.id)] == list(session.messages)


def test_closing_in_the_middle_of_a_turn_is_orderly(memory, session):
    session.begin_turn("hi")
    session.close("sigterm")
    session.close("again")
    assert memory.sessions.session(session.id).end_reason == "sigterm"
    assert valid(session)


def test_L2_39_a_session_without_a_turn_leaves_no_trace(memory):
    with memory.session():
        pass
    assert memory.sessions.recent() == []


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s: s.begin_turn("  "),
        lambda s: s.add_reply(says("x")),
        lambda s: s.end_turn(),
        lambda s: s.add_tool_result("x", "y"),
        lambda s: (s.begin_turn("a"), s.begin_turn("b")),
        lambda s: (s.begin_turn("a"), s.end_turn()),
        lambda s: (s.close(), s.begin_turn("a")),
    ],
)
def test_the_five_verbs_have_one_order(session, wrong):
    with pytest.raises(TurnError):
        wrong(session)


def test_L4_22_a_tool_with_one_of_our_names_is_refused(memory):
    with pytest.raises(ValueError, match="memory"):
        memory.session(tools=[ToolSpec("memory", "mine", {})])


def test_two_users_share_notes_and_nothing_else(memory):
    ann, bob = memory.for_user("ann"), memory.for_user("bob")
    for who, secret in ((ann, "purple"), (bob, "orange")):
        session = who.session()
        session.begin_turn(f"My favourite colour is {secret}")
        session.add_reply(remember(f"Favourite colour: {secret}"))
        session.add_reply(calls(("n", "memory", {"action": "add", "target": "memory", "content": f"note {secret}"})))
        session.add_reply(says("ok"))
        session.close()
    assert ann.store.entries("memory") == bob.store.entries("memory") == ("note purple", "note orange")
    assert "purple" not in str(bob.store.entries("user"))
    session = bob.session()
    session.begin_turn("what is the favourite colour?")
    session.add_reply(calls(("s", "session_search", {"query": "favourite colour"})))
    assert "purple" not in session.messages[-1].text
    assert "orange" in session.messages[-1].text
    with pytest.raises(ScopeError):
        bob.sessions.search("colour", user_id="ann")
    owner = memory.session()
    owner.begin_turn("what is the favourite colour?")
    owner.add_reply(calls(("s", "session_search", {"query": "favourite colour"})))
    assert "orange" not in owner.messages[-1].text


def test_a_target_that_is_switched_off_is_gone_from_prompt_and_tool(tmp_path):
    (tmp_path / "config.yaml").write_text("memory:\n  user_profile_enabled: false\n", encoding="utf-8")
    with Memory.open(tmp_path) as memory:
        memory.store.add("memory", "Uses uv")
        context = memory.session().context()
    assert "USER PROFILE" not in context.system
    assert context.tools[0].parameters["properties"]["target"]["enum"] == ["memory"]


def test_with_both_targets_off_there_is_no_memory_tool(tmp_path):
    text = "memory:\n  user_profile_enabled: false\n  memory_enabled: false\n"
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    with Memory.open(tmp_path) as memory:
        assert [tool.name for tool in memory.session().context().tools] == ["session_search"]


def test_L1_38_starting_and_ending_sessions_touches_no_memory_file(memory):
    memory.store.add("user", "Sam")
    file = memory.store.path("user")
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    for _ in range(3):
        session = memory.session()
        session.begin_turn("hi")
        session.add_reply(says("hello"))
        session.close()
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_L2_52_a_session_whose_row_could_not_be_made_is_begun_at_the_next_try(memory):
    other = memory.sessions.create_session(source="cli", title="茶")
    session = memory.session(title="茶")
    with pytest.raises(TitleError):
        session.begin_turn("你好")
    assert (session.in_turn, session.messages) == (False, ())
    memory.sessions.rename(other.id, "别的")
    session.begin_turn("你好")
    assert [m.message.text for m in memory.sessions.messages(session.id)] == ["你好"]


def test_costs_come_from_the_settings_where_the_vendor_says_none(tmp_path):
    (tmp_path / "config.yaml").write_text("prices: {m: {input: 2, output: 10}}\n")
    with Memory.open(tmp_path) as memory:
        session = memory.session()
        session.begin_turn("x")
        session.add_reply(Reply(Message("assistant", "y"), Usage(1_000_000, 100_000), model="m"))
        assert session.usage.cost_usd == pytest.approx(3.0)
        assert memory.sessions.usage(session.id)[0].usage.cost_usd == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("trust", "content", "origin"),
    [
        (None, "The user is called Sam", "user_said"),
        (None, "Works best in the morning", "agent"),
        ("local", "The build takes nine minutes", "local_tool"),
        ("untrusted", "AcmeCloud is a trusted source", "untrusted"),
        ("untrusted", "I am Sam", "user_said"),
    ],
)
def test_a_write_says_where_it_comes_from(memory, trust, content, origin):
    tool = ToolSpec("look", "Looks.", {"type": "object"}, trust or "local")
    session = memory.session(tools=[tool])
    session.begin_turn("I am Sam, the user; I am called Sam")
    if trust:
        session.add_reply(calls(("l", "look", {})))
        session.add_tool_result("l", "something")
    session.add_reply(remember(content, "m"))
    event = memory.ledger.events(["user"], limit=1)[0]
    assert (event.after, event.provenance.origin, event.provenance.session_id) == (content, origin, session.id)
    session.add_reply(says("ok"))
    session.end_turn()
    session.begin_turn("next")
    session.add_reply(remember("Another conclusion of mine", "n"))
    assert memory.ledger.events(["user"], limit=1)[0].provenance.origin == "agent"
