"""The Messages API over real HTTP, with the official SDK."""

import json
import socket
import time

import pytest

from girdlebook import Agent, Memory, Message, ModelError, Reply, ToolCall, Usage
from girdlebook.context import Context
from girdlebook.errors import ContextOverflow, MissingExtra, ModelTimeout, ModelUnavailable
from girdlebook.messages import OpaquePart, TextPart
from girdlebook.models import open_model
from girdlebook.models.anthropic import AnthropicChatModel
from girdlebook.testing import assert_prefix_stable
from girdlebook.testing.messages_server import MessagesServer
from girdlebook.testing.model_server import BrokenStream, HttpFailure

HELLO = Context("", (Message("user", "x"),))
THINKING = OpaquePart("anthropic", {"type": "thinking", "thinking": "先想一想", "signature": "EqQBCg=="})


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")


@pytest.fixture
def claude():
    """Opens models at a server's URL, and closes them."""
    opened = []

    def open_at(url, **more):
        opened.append(AnthropicChatModel("claude-x", base_url=url, **more))
        return opened[-1]

    yield open_at
    for model in opened:
        model.close()


def says(text, *parts, usage=None):
    return Reply(Message("assistant", (*parts, TextPart(text)) if parts else text), usage)


def two_calls(first):
    wanted = {"action": "add", "target": "user", "content": first}
    calls = (ToolCall("toolu_1", "memory", json.dumps(wanted)), ToolCall("toolu_2", "weather", '{"city": "厦门"}'))
    return Reply(Message("assistant", (THINKING, TextPart("好的")), tool_calls=calls))


def weather(city: str) -> str:
    """The weather of a city."""
    return f"晴 in {city}"


@pytest.mark.parametrize("streamed", [True, False])
def test_a_conversation_with_parallel_calls_and_thinking_keeps_its_prefix_and_its_markers(tmp_path, streamed, claude):
    pieces = []
    usage = Usage(200, 9, cache_read_tokens=150, cache_write_tokens=30)
    script = [two_calls("叫小林"), says("记住了，小林", usage=usage), says("再见", THINKING)]
    with MessagesServer(*script) as server, Memory.open(tmp_path) as memory:
        model = claude(server.url)
        with Agent(model, memory, tools=[weather]) as agent:
            first = agent.run("我叫小林 🍵", on_text=pieces.append if streamed else None)
            agent.run("再见", on_text=pieces.append if streamed else None)
            transcript = agent.session.messages
        stored = [one.message for one in memory.sessions.messages(first.session_id)]
        assert memory.sessions.usage(first.session_id)[0].usage == usage
        assert memory.store.entries("user") == ("叫小林",)
    assert first.text == "记住了，小林"
    assert "".join(pieces) == ("好的记住了，小林再见" if streamed else "")
    assert tuple(stored) == transcript
    assert len(server.requests) == 3
    assert_prefix_stable(server.requests)
    assert [json.dumps(one).count('"cache_control"') for one in server.requests] == [2, 4, 4]
    answered = server.requests[1]["messages"]
    assert [block["type"] for block in answered[1]["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert answered[1]["content"][0] == THINKING.data
    assert [block["tool_use_id"] for block in answered[2]["content"]] == ["toolu_1", "toolu_2"]


def test_the_hour_long_cache_is_asked_for(tmp_path, claude):
    with MessagesServer(says("hi")) as server, Memory.open(tmp_path) as memory:
        model = claude(server.url, cache_ttl="1h")
        with Agent(model, memory) as agent:
            agent.run("hello")
    assert server.requests[0]["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_going_on_after_a_stop_extends_the_last_request(tmp_path, claude):
    with MessagesServer(two_calls("叫小林"), says("好"), says("在")) as server:
        for text in ("我叫小林", "在吗"):
            with Memory.open(tmp_path) as memory:
                agent = Agent(claude(server.url), memory, tools=[weather])
                if memory.own_sessions.recent():
                    agent.resume(memory.own_sessions.recent()[0].id)
                agent.run(text)
                agent.close()
    assert len(server.requests) == 3
    assert_prefix_stable(server.requests)


@pytest.mark.parametrize(
    ("answer", "words"),
    [(HttpFailure(400, "prompt is too long"), "prompt is too long"), (BrokenStream("half"), "broke off")],
)
def test_a_failure_is_one_clear_error_and_the_transcript_stays_valid(tmp_path, answer, words, claude):
    with MessagesServer(answer, says("again")) as server, Memory.open(tmp_path) as memory:
        agent = Agent(claude(server.url), memory)
        with pytest.raises(ModelError, match=words):
            agent.run("hello", on_text=lambda _: None)
        assert agent.run("and now?").text == "again"


def test_an_endpoint_out_of_reach_is_an_error(claude):
    model = claude("http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable, match="claude-x at http"):
        model.reply(HELLO)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_too_long_request_is_an_overflow_with_the_window_that_was_named(streamed, claude):
    failure = HttpFailure(400, "prompt is too long: 215000 tokens > 200000 maximum")
    with MessagesServer(failure) as server, pytest.raises(ContextOverflow, match="claude-x at http") as caught:
        claude(server.url).reply(HELLO, (lambda text: None) if streamed else None)
    assert caught.value.limit == 200_000


@pytest.mark.parametrize(
    ("kind", "message", "raised"),
    [
        ("overloaded_error", "Overloaded", ModelUnavailable),
        ("invalid_request_error", "prompt is too long: 5 tokens > 4096 maximum", ContextOverflow),
        ("timeout_error", "Request timed out", ModelTimeout),
        ("invalid_request_error", "odd", ModelError),
    ],
)
def test_an_error_inside_a_stream_is_told_by_its_words(kind, message, raised, claude):
    class Failing(MessagesServer):
        def stream(self, reply, model):
            error = {"type": "error", "error": {"type": kind, "message": message}}
            return [f"event: error\ndata: {json.dumps(error)}"]

    with Failing(says("hi")) as server, pytest.raises(ModelError) as caught:
        claude(server.url).reply(HELLO, lambda text: None)
    assert type(caught.value) is raised


def test_an_endpoint_that_does_not_answer_is_given_up_after_one_try(claude, monkeypatch):
    monkeypatch.setattr("girdlebook.models.anthropic._LISTING_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        model = claude(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        started = time.monotonic()
        with pytest.raises(ModelTimeout, match="claude-x at http"):
            model.reply(HELLO)
        assert model.context_length() == 200_000
        assert time.monotonic() - started < 2


def test_the_window_is_what_the_endpoint_tells_and_is_asked_for_once(claude):
    with MessagesServer(models=[{"id": "claude-x", "max_input_tokens": 1_000_000}]) as server:
        model = claude(server.url)
        assert model.context_length() == 1_000_000
        server.models = None
        assert (model.context_length(), claude(server.url).context_length()) == (1_000_000, 200_000)


def test_without_a_key_the_window_is_the_published_one(monkeypatch, tmp_path, claude):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert claude("http://127.0.0.1:9").context_length() == 200_000


def test_a_missing_key_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    with Memory.open(tmp_path) as memory, pytest.raises(ModelUnavailable, match="authentication"):
        Agent(open_model("anthropic:claude-x"), memory).run("hello")


def test_without_the_sdk_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("girdlebook.models.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"girdlebook\[anthropic\]"):
        open_model("anthropic:claude-x")


def test_the_command_speaks_to_it(girdle):
    with MessagesServer(says("你好")) as server:
        ran = girdle("chat", "-m", "hi", "--model", "anthropic:claude-x", "--json", ANTHROPIC_BASE_URL=server.url)
    assert json.loads(ran.stdout)["text"] == "你好"
