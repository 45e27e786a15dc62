"""The loop around a session."""

import json

import pytest

from girdlebook import Agent, Memory, ModelError, ToolCall, Usage
from girdlebook.dialects import openai_chat
from girdlebook.messages import Message, Reply
from girdlebook.testing import assert_prefix_stable
from girdlebook.testing.chat_server import transcript_fault


def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def stop(city: str) -> str:
    """A tool during which somebody presses Ctrl-C."""
    raise KeyboardInterrupt


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path) as opened:
        yield opened


def call(name, call_id="c", **given):
    return ToolCall(call_id, name, json.dumps(given, ensure_ascii=False))


def test_a_turn_runs_tools_until_the_model_is_done(memory, scripted_model):
    model = scripted_model(call("weather", city="厦门"), "It is sunny.")
    result = Agent(model, memory, tools=[weather]).run("How is it?")
    assert (result.text, result.iterations, result.stopped) == ("It is sunny.", 2, "answered")
    assert model.requests[1]["messages"][-1]["content"] == "sunny in 厦门"


def test_several_turns_and_writes_keep_the_prefix(memory, scripted_model):
    add = call("memory", action="add", target="user", content="Name: Sam")
    model = scripted_model(add, "Noted.", "You are Sam.", call("session_search", "d", query="Sam"), "Found.")
    agent = Agent(model, memory)
    for text in ("I am Sam", "Who am I?", "look it up"):
        agent.run(text)
    assert_prefix_stable(model.requests)


def test_usage_of_the_turn_is_summed(memory, scripted_model):
    first = Reply(Message("assistant", tool_calls=(call("weather", city="x"),)), Usage(10, 1))
    model = scripted_model(first, Reply(Message("assistant", "ok"), Usage(20, 2)), "again")
    agent = Agent(model, memory, tools=[weather])
    assert agent.run("a").usage == Usage(30, 3)
    assert agent.run("b").usage == Usage()


def test_the_limit_of_calls_stops_a_model_that_never_ends(memory, scripted_model):
    model = scripted_model(*(call("weather", f"c{n}", city="x") for n in range(3)), "fine")
    agent = Agent(model, memory, tools=[weather], max_iterations=3)
    assert agent.run("go").stopped == "max_iterations"
    assert agent.run("and now?").text == "fine"
    assert transcript_fault(model.requests[-1]["messages"]) is None


def test_an_interrupt_in_a_tool_leaves_a_transcript_that_goes_on(memory, scripted_model):
    model = scripted_model((call("weather", "a", city="x"), call("stop", "b", city="y")), "here again")
    agent = Agent(model, memory, tools=[weather, stop])
    with pytest.raises(KeyboardInterrupt):
        agent.run("go")
    assert agent.run("still there?").text == "here again"
    stored = [m.message for m in memory.sessions.messages(agent.session.id)]
    assert transcript_fault(openai_chat.render(stored)) is None


def test_a_model_that_fails_leaves_the_turn_stored(memory, scripted_model):
    agent = Agent(scripted_model(), memory)
    with pytest.raises(ModelError):
        agent.run("重要的话")
    assert memory.sessions.messages(agent.session.id)[0].message.text == "重要的话"


def test_a_new_session_sees_what_the_last_one_saved(memory, scripted_model):
    model = scripted_model(call("memory", action="add", target="user", content="Name: 小林"), "ok")
    agent = Agent(model, memory)
    agent.run("我叫小林")
    old = agent.session.id
    assert "小林" in agent.new_session().context().system
    assert memory.sessions.session(old).end_reason == "new"


def test_a_limit_below_one_is_refused(memory, scripted_model):
    with pytest.raises(ValueError, match="max_iterations"):
        Agent(scripted_model(), memory, max_iterations=0)
