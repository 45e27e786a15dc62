"""Whatever the transcript, what comes out is valid, shorter, and keeps the person's newest words.

`TRANSCRIPTS` in the environment says how many are tried.
"""

import json
import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from girdlebook.compression.compressor import ContextCompressor
from girdlebook.compression.policy import CompressionPolicy
from girdlebook.compression.summary import is_summary
from girdlebook.context import Context
from girdlebook.dialects import anthropic, openai_chat
from girdlebook.dialects.caching import system_and_3
from girdlebook.dialects.validity import check_anthropic
from girdlebook.messages import Attachment, ImagePart, Message, OpaquePart, TextPart, ToolCall
from girdlebook.tokens import estimate_message
from girdlebook.transcripts import mended, open_calls

EXAMPLES = int(os.environ.get("TRANSCRIPTS", "500"))

WORDS = st.sampled_from(
    [
        "ok",
        "好的 🍵",
        "مرحبا",
        "the value is 48121",
        "ValueError: x",
        "wrote /srv/a/b.log",
        " ",
        "",
        "x" * 900,
        "长" * 300,
    ]
)
THINKING = st.builds(
    lambda text: OpaquePart("anthropic", {"type": "thinking", "thinking": text, "signature": "s"}), WORDS
)
SERVER = st.just(OpaquePart("anthropic", {"type": "server_tool_use", "id": "srv", "name": "web", "input": {}}))
IMAGE = st.just(ImagePart("A" * 64, "image/png"))
PARTS = st.lists(st.one_of(WORDS.map(TextPart), IMAGE, THINKING, SERVER), max_size=3).map(tuple)
CONTENT = st.one_of(WORDS, PARTS)
ARGUMENTS = st.sampled_from(["{}", '{"command": "echo x > a/b.txt"}', '{"path": "' + "y" * 700 + '"}', "{broken", ""])


@st.composite
def groups(draw):
    """One message of the person or the assistant, or a call with all, some or none of its results."""
    kind = draw(st.sampled_from(["user", "assistant", "call", "call", "stray"]))
    if kind == "user":
        nudge = (Attachment("nudge", "remember"),) if draw(st.booleans()) else ()
        return [Message("user", draw(st.one_of(WORDS.filter(str.strip), PARTS)), attachments=nudge)]
    if kind == "assistant":
        return [Message("assistant", draw(CONTENT))]
    if kind == "stray":
        return [Message("tool", draw(WORDS), tool_call_id="nobody", tool_name="x")]
    ids = draw(st.lists(st.integers(0, 10**9).map(str), min_size=1, max_size=3, unique=True))
    calls = tuple(ToolCall(f"c{i}", draw(st.sampled_from(["terminal", "read_file"])), draw(ARGUMENTS)) for i in ids)
    answered = draw(st.lists(st.sampled_from(ids), unique=True)) if draw(st.booleans()) else ids
    results = [Message("tool", draw(WORDS), tool_call_id=f"c{i}", tool_name="terminal") for i in answered]
    return [Message("assistant", draw(CONTENT), calls), *results]


TRANSCRIPTS = st.lists(groups(), min_size=1, max_size=14).map(lambda parts: [m for part in parts for m in part])


def closed(messages):
    """The transcript with every open call answered, as it is when a model is asked; ending with the person."""
    fixed = mended(messages)
    results = [Message("tool", "late", tool_call_id=c.id, tool_name=c.name) for c in open_calls(fixed)]
    return [*fixed, *results, Message("user", "newest 最新")]


def accepted(messages):
    """Both vendors take it."""
    context = Context("s", tuple(messages))
    openai_chat.request(context)
    check_anthropic(system_and_3(anthropic.request(context)))


def newest_of(messages):
    return [m for m in messages if m.role == "user" and not is_summary(m)][-1]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(TRANSCRIPTS, min_size=1, max_size=5),
    st.sampled_from([60, 200, 800, 3_000]),
    st.sampled_from([0, 3]),
)
def test_whatever_comes_out_is_valid_shorter_and_final(parts, window, first):
    compressor = ContextCompressor(window, policy=CompressionPolicy(protect_first_n=first))
    messages: list[Message] = []
    for number, part in enumerate(parts):
        renamed = [_with_ids(message, number) for message in part]
        messages = closed([*messages, Message("assistant", "on"), *renamed] if messages else renamed)
        result = compressor.compress(messages)
        accepted(result.messages)
        assert sum(map(estimate_message, result.messages)) <= sum(map(estimate_message, messages))
        assert newest_of(result.messages) == newest_of(messages)
        again = compressor.compress(result.messages)
        assert again.messages == result.messages
        assert sum(map(is_summary, result.messages)) <= 1
        for message in result.messages:
            for call in message.tool_calls:
                _same_validity(call, messages)
        messages = result.messages


def _with_ids(message, number):
    """Ids unlike those of the parts before."""
    calls = tuple(ToolCall(f"{number}_{c.id}", c.name, c.arguments) for c in message.tool_calls)
    call_id = None if message.tool_call_id is None else f"{number}_{message.tool_call_id}"
    return Message(
        message.role,
        message.content,
        calls,
        tool_call_id=call_id,
        tool_name=message.tool_name,
        attachments=message.attachments,
    )


def _same_validity(call, before):
    """Arguments are as they were, or JSON with the same keys."""
    originals = [c.arguments for m in before for c in m.tool_calls if c.id == call.id]
    if call.arguments not in originals:
        keys = [json.loads(text).keys() for text in originals if text.startswith('{"')]
        assert json.loads(call.arguments).keys() in keys
