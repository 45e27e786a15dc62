"""A real HTTP endpoint on loopback, asked through the official SDK."""

import subprocess
import sys

import pytest

from girdlebook.context import Context
from girdlebook.errors import MissingExtra, ModelError
from girdlebook.messages import Message, Reply, ToolCall, Usage
from girdlebook.models import open_model
from girdlebook.testing.chat_server import BrokenStream, ChatServer, HttpFailure, transcript_fault
from girdlebook.tools import ToolSpec

TOOL = ToolSpec("memory", "d", {"type": "object", "properties": {}})
CONTEXT = Context("be kind", (Message("user", "你好 🌙 שלום"),), (TOOL,))
TEXT = Reply(Message("assistant", "Hello, 世界 — שלום"), Usage(20, 5, 12))
CALLS = Reply(
    Message(
        "assistant", "Both.", tool_calls=(ToolCall("a", "memory", '{"x": 1}'), ToolCall("b", "memory", '{"y":  2}'))
    )
)


@pytest.fixture
def model_of():
    """Opens models at servers, and closes them."""
    opened = []

    def open_at(server):
        opened.append(open_model(f"{server.url}#m-1"))
        return opened[-1]

    yield open_at
    for model in opened:
        model.close()


def test_an_answer_comes_with_its_usage_and_the_request_is_in_wire_form(model_of):
    with ChatServer(TEXT) as server:
        reply = model_of(server).reply(CONTEXT)
    assert reply.message.text == TEXT.message.text
    assert (reply.usage, reply.model) == (TEXT.usage, "m-1")
    assert server.requests[0]["messages"][1] == {"role": "user", "content": "你好 🌙 שלום"}
    assert server.requests[0]["tools"][0]["function"]["name"] == "memory"


def test_a_streamed_answer_arrives_in_pieces_and_whole(model_of):
    pieces = []
    with ChatServer(TEXT) as server:
        reply = model_of(server).reply(CONTEXT, pieces.append)
    assert len(pieces) > 3
    assert "".join(pieces) == reply.message.text == TEXT.message.text
    assert reply.usage == TEXT.usage


@pytest.mark.parametrize("streamed", [False, True])
def test_parallel_calls_keep_their_arguments_byte_for_byte(streamed, model_of):
    with ChatServer(CALLS) as server:
        reply = model_of(server).reply(CONTEXT, (lambda text: None) if streamed else None)
    assert [(c.id, c.arguments) for c in reply.message.tool_calls] == [("a", '{"x": 1}'), ("b", '{"y":  2}')]


def test_a_refusal_is_one_line_with_the_vendors_reason(model_of):
    with (
        ChatServer(HttpFailure(401, "no such key")) as server,
        pytest.raises(ModelError, match="no such key") as caught,
    ):
        model_of(server).reply(CONTEXT)
    assert "\n" not in str(caught.value)


def test_a_stream_that_is_cut_off_is_an_error(model_of):
    with ChatServer(BrokenStream("half an ans")) as server, pytest.raises(ModelError):
        model_of(server).reply(CONTEXT, lambda text: None)


def test_an_endpoint_out_of_reach_is_an_error():
    with ChatServer() as server:
        url = server.url
    with pytest.raises(ModelError, match=r"127\.0\.0\.1"):
        open_model(f"{url}#m").reply(CONTEXT)


def test_without_a_key_and_an_endpoint_the_model_says_so(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        open_model("openai:gpt-5")


@pytest.mark.parametrize("spec", ["gpt-5", "openai:", "http://127.0.0.1:1/v1", "anthropic:", "scripted:", "gemini:x"])
def test_an_unknown_model_is_refused_with_the_forms_that_exist(spec):
    with pytest.raises(ModelError, match="openai:NAME"):
        open_model(spec)


def test_without_the_extra_one_line_says_what_to_install():
    # An interpreter without site-packages is one where the SDK is not installed.
    code = (
        "import sys; sys.path[:0] = [%r]\n"
        "from girdlebook.models import open_model\n"
        "from girdlebook.errors import MissingExtra\n"
        "try: open_model('openai:gpt-5')\n"
        "except MissingExtra as error: print(error)"
    )
    import girdlebook

    source = girdlebook.__file__.rsplit("/girdlebook/", 1)[0]
    done = subprocess.run([sys.executable, "-S", "-c", code % source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(MissingExtra("the model openai:gpt-5", "openai"))


def test_the_server_is_as_strict_as_a_vendor():
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
    result = {"role": "tool", "tool_call_id": "a", "content": "x"}
    user = {"role": "user", "content": "x"}
    assert transcript_fault([user, call, result, user]) is None
    for bad in ([user, call], [user, call, user], [user, result], [user, call, result, result]):
        assert transcript_fault(bad)
