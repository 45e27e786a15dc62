"""Memory: going on with an earlier conversation."""

import json

import pytest

from girdlebook import Agent, Memory, Message, Reply, ToolCall, ToolSpec, Usage
from girdlebook.dialects import openai_chat
from girdlebook.errors import AmbiguousSession, SessionMoved, SessionNotFound, StoreError
from girdlebook.testing import assert_prefix_stable
from girdlebook.testing.chat_server import transcript_fault

WEATHER = ToolSpec("weather", "The weather of a city.", {"type": "object", "properties": {}})


def says(text, usage=None):
    return Reply(Message("assistant", text), usage)


def calls(name, call_id="c1", **given):
    return Reply(Message("assistant", tool_calls=(ToolCall(call_id, name, json.dumps(given)),)))


def request(session):
    return openai_chat.request(session.context())


def talk(session, text, *replies):
    """One turn; gives the requests that it would have made."""
    session.begin_turn(text)
    requests = []
    for reply in replies:
        requests.append(request(session))
        session.add_reply(reply)
    if not session.pending_calls and not session.awaiting_model:
        session.end_turn()
    return requests


def test_the_first_request_extends_the_last_one_before_the_stop_byte_for_byte(tmp_path):
    with Memory.open(tmp_path) as memory:
        session = memory.session("Be brief.", tools=[WEATHER], title="茶")
        sent = talk(session, "我喜欢绿茶", calls("memory", action="add", target="user", content="喜欢绿茶"), says("好"))
        memory.store.add("memory", "written meanwhile by somebody else")
        session.close()
    with Memory.open(tmp_path) as memory:
        resumed = memory.resume("茶", "Other words.", tools=[WEATHER])
        sent += talk(resumed, "还记得吗？", says("绿茶", Usage(5, 1)))
        assert_prefix_stable(sent)
        assert json.dumps(sent[-1]["messages"][:3]) == json.dumps(sent[1]["messages"][:3])
        assert resumed.id == session.id
        assert memory.sessions.session(session.id).ended_at is None
        assert [m.message.text for m in memory.sessions.messages(session.id)][-2:] == ["还记得吗？", "绿茶"]


def test_counters_are_restored(tmp_path):
    with Memory.open(tmp_path) as memory:
        session = memory.session()
        talk(session, "one", calls("memory", action="list", target="user"), says("ok", Usage(10, 2, cost_usd=0.5)))
        talk(session, "two", says("ok"))
        talk(session, "three", says("ok"))
        assert (session.turns, session.turns_since_memory) == (3, 2)
        resumed = memory.resume(session.id)
        assert (resumed.turns, resumed.turns_since_memory, resumed.usage) == (3, 2, Usage(10, 2, cost_usd=0.5))
        talk(resumed, "four", says("ok", Usage(1, 1)))
        assert (resumed.turns, resumed.turns_since_memory, resumed.usage.input_tokens) == (4, 3, 11)


def test_looking_at_a_resumed_session_changes_nothing(tmp_path):
    with Memory.open(tmp_path) as memory:
        session = memory.session()
        talk(session, "hello", says("hi"))
        session.close("closed")
        memory.resume(session.id).close()
        record = memory.sessions.session(session.id)
        assert (record.end_reason, record.message_count) == ("closed", 2)


@pytest.mark.parametrize("stopped_at", ["asked", "called", "answered one of two", "all answered"])
def test_a_turn_that_broke_off_is_closed_and_the_prefix_stays(tmp_path, stopped_at):
    two = (ToolCall("1", "weather"), ToolCall("2", "weather"))
    with Memory.open(tmp_path) as memory:
        session = memory.session(tools=[WEATHER])
        session.begin_turn("天气？")
        before = request(session)
        if stopped_at != "asked":
            session.add_reply(Reply(Message("assistant", tool_calls=two)))
        if stopped_at in ("answered one of two", "all answered"):
            session.add_tool_result("1", "sunny")
        if stopped_at == "all answered":
            session.add_tool_result("2", "rain")
            before = request(session)
        # The process dies here: no close, no interrupt.
    with Memory.open(tmp_path) as memory:
        resumed = memory.resume(session.id, tools=[WEATHER])
        assert resumed.pending_calls == ()
        resumed.begin_turn("again")
        after = request(resumed)
        assert_prefix_stable([before, after])
        assert transcript_fault(after["messages"]) is None
        again = [m.message for m in memory.sessions.messages(session.id)]
        assert tuple(again) == resumed.messages


def test_call_ids_stay_unlike_those_from_before_the_stop(tmp_path):
    with Memory.open(tmp_path) as memory:
        session = memory.session()
        talk(session, "one", calls("memory", "call_0", action="list", target="user"), says("ok"))
        resumed = memory.resume(session.id)
        talk(resumed, "two", calls("memory", "call_0", action="list", target="user"), says("ok"))
        ids = [call.id for message in resumed.messages for call in message.tool_calls]
        assert len(set(ids)) == 2


def test_other_tools_mean_a_prompt_built_anew_and_stored(tmp_path):
    with Memory.open(tmp_path) as memory:
        session = memory.session("First words.")
        talk(session, "hello", says("hi"))
        memory.store.add("user", "is called Sam")
        resumed = memory.resume(session.id, "Second words.", tools=[WEATHER])
        assert "is called Sam" in resumed.context().system
        assert [tool.name for tool in resumed.context().tools] == ["memory", "session_search", "weather"]
        talk(resumed, "again", says("hi"))
        third = memory.resume(session.id, "Third words.", tools=[WEATHER])
        assert third.context().system == resumed.context().system


def test_L2_48_a_session_from_before_prompts_were_stored_is_gone_on_with(tmp_path):
    with Memory.open(tmp_path) as memory:
        memory.sessions.create_session("old", source="cli")
        memory.sessions.append("old", Message("user", "long ago"))
        resumed = memory.resume("old")
        talk(resumed, "and now?", says("fine"))
        assert [m.role for m in resumed.messages] == ["user", "assistant", "user", "assistant"]


def test_resuming_goes_on_where_a_compressed_lineage_ends(tmp_path):
    with Memory.open(tmp_path) as memory:
        memory.sessions.create_session("a", source="cli")
        memory.sessions.end_session("a", "compression")
        memory.sessions.create_session("b", source="cli", parent_session_id="a")
        assert memory.resume("a").id == "b"


def test_names_that_mean_nothing_or_several_are_refused(tmp_path):
    with Memory.open(tmp_path) as memory:
        memory.sessions.create_session("20261201-a", source="cli")
        memory.sessions.create_session("20261201-b", source="cli")
        with pytest.raises(SessionNotFound):
            memory.resume("x")
        with pytest.raises(AmbiguousSession):
            memory.resume("2026")


def test_another_users_conversation_cannot_be_gone_on_with(tmp_path):
    with Memory.open(tmp_path, user_id="ann") as ann:
        session = ann.session()
        talk(session, "secret", says("ok"))
        for other in (ann.for_user("bo"), Memory.open(tmp_path)):
            with pytest.raises(SessionNotFound):
                other.resume(session.id)


def test_an_agent_goes_on_with_an_earlier_conversation(tmp_path, scripted_model):
    model = scripted_model("hi", "again")
    with Memory.open(tmp_path) as memory, Agent(model, memory, project=tmp_path) as agent:
        first = agent.run("hello").session_id
        agent.close()
        with pytest.raises(SessionNotFound):
            agent.resume("nowhere")
        agent.resume(first)
        assert agent.run("hello again").session_id == first
        assert memory.sessions.session(first).project == str(tmp_path)


def test_of_two_that_go_on_with_one_conversation_the_second_to_write_is_told(tmp_path):
    with Memory.open(tmp_path) as memory:
        first = memory.session(tools=[WEATHER])
        first.begin_turn("天气？")
        first.add_reply(calls("weather", "c1"))
        other = memory.resume(first.id, tools=[WEATHER])
        talk(other, "I am elsewhere", says("so it is"))
        with pytest.raises(SessionMoved, match="resume it"):
            first.add_tool_result("c1", "42")
        again = memory.resume(first.id, tools=[WEATHER])
        assert [m.role for m in again.messages] == ["user", "assistant", "tool", "assistant", "user", "assistant"]


def test_odd_characters_in_instructions_are_the_same_after_a_stop(tmp_path):
    with Memory.open(tmp_path) as memory:
        session = memory.session("a\0b \ud800")
        before = talk(session, "x", says("y"))
        assert_prefix_stable([*before, *talk(memory.resume(session.id), "z", says("y"))])
        for wrong in (lambda: memory.resume("\ud800"), lambda: memory.session(source="\ud800").begin_turn("x")):
            with pytest.raises(StoreError, match="no text"):
                wrong()
