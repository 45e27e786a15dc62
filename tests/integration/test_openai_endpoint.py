"""A real HTTP endpoint on loopback, asked through the official SDK."""

import socket
import subprocess
import sys
import time

import pytest

from girdlebook.context import Context
from girdlebook.errors import ContextOverflow, MissingExtra, ModelError, ModelTimeout, ModelUnavailable
from girdlebook.messages import Message, Reply, ToolCall, Usage
from girdlebook.models import open_model
from girdlebook.models.openai import OpenAIChatModel
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


@pytest.fixture
def silent_url():
    """An endpoint that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


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
        pytest.raises(ModelUnavailable, match="no such key") as caught,
    ):
        model_of(server).reply(CONTEXT)
    assert "\n" not in str(caught.value)


def test_a_stream_that_is_cut_off_is_an_error(model_of):
    with ChatServer(BrokenStream("half an ans")) as server, pytest.raises(ModelError):
        model_of(server).reply(CONTEXT, lambda text: None)


def test_an_endpoint_out_of_reach_is_an_error():
    with ChatServer() as server:
        url = server.url
    with pytest.raises(ModelUnavailable, match=r"m at http://127\.0\.0\.1"):
        open_model(f"{url}#m").reply(CONTEXT)


def test_without_a_key_and_an_endpoint_the_model_says_so(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY"):
        open_model("openai:gpt-5")


@pytest.mark.parametrize("streamed", [False, True])
def test_a_too_long_request_is_an_overflow_with_the_window_that_was_named(streamed, model_of):
    words = "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens."
    with ChatServer(HttpFailure(400, words)) as server, pytest.raises(ContextOverflow, match=r"m-1 at http") as caught:
        model_of(server).reply(CONTEXT, (lambda text: None) if streamed else None)
    assert caught.value.limit == 4_096


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ('{"message": "no more", "code": "context_length_exceeded"}', ContextOverflow),
        ('{"message": "upstream failed", "code": 502}', ModelUnavailable),
        ('{"message": "upstream was late", "code": 504}', ModelTimeout),
        ('{"message": "odd", "code": 20015}', ModelError),
        ('{"message": "odd"}', ModelError),
    ],
)
def test_an_error_inside_a_stream_is_told_by_its_code(failure, kind, model_of):
    class Failing(ChatServer):
        def stream(self, reply, model):
            return [f'data: {{"error": {failure}}}']

    with Failing(TEXT) as server, pytest.raises(ModelError) as caught:
        model_of(server).reply(CONTEXT, lambda text: None)
    assert type(caught.value) is kind


@pytest.mark.parametrize("streamed", [False, True])
def test_an_endpoint_that_does_not_answer_in_time_is_given_up_after_one_try(streamed, silent_url):
    model = OpenAIChatModel("m", base_url=silent_url, timeout=0.2)
    started = time.monotonic()
    with pytest.raises(ModelTimeout, match="m at http"):
        model.reply(CONTEXT, (lambda text: None) if streamed else None)
    assert time.monotonic() - started < 2
    model.close()


def test_the_window_is_what_the_endpoint_lists_and_is_asked_for_once(model_of):
    with ChatServer(models=[{"id": "m-0"}, {"id": "m-1", "max_model_len": 4_096}]) as server:
        model = model_of(server)
        assert model.context_length() == 4_096
        server.models = []
        assert model.context_length() == 4_096


@pytest.mark.parametrize("models", [None, [], [{"id": "gpt-4o"}]])
def test_where_the_endpoint_tells_no_window_the_published_one_counts(models):
    with ChatServer(models=models) as server:
        known, unknown = (OpenAIChatModel(name, base_url=server.url) for name in ("gpt-4o", "m-1"))
        assert (known.context_length(), unknown.context_length()) == (128_000, None)
        known.close()
        unknown.close()


def test_an_endpoint_that_cannot_be_asked_for_the_window_is_no_error(silent_url, monkeypatch):
    monkeypatch.setattr("girdlebook.models.openai._LISTING_SECONDS", 0.2)
    for url in (silent_url, "http://127.0.0.1:9/v1"):
        model = OpenAIChatModel("gpt-4o", base_url=url)
        started = time.monotonic()
        assert model.context_length() == 128_000
        assert time.monotonic() - started < 2
        model.close()


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
