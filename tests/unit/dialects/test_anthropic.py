"""The Messages API shape."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook.context import Context
from girdlebook.dialects import anthropic as dialect
from girdlebook.dialects import openai_chat
from girdlebook.messages import Attachment, ImagePart, Message, OpaquePart, TextPart, ToolCall, Usage
from girdlebook.tools import ToolSpec

THINKING = {"type": "thinking", "thinking": "嗯", "signature": "EqQ="}
REDACTED = {"type": "redacted_thinking", "data": "xyz"}
SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "茶"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srv_1",
    "content": [{"type": "found", "x": None}],
}


def text(words):
    return {"type": "text", "text": words}


def use(call_id, **given):
    return {"type": "tool_use", "id": call_id, "name": "weather", "input": given}


def test_a_context_becomes_blocks_throughout():
    spec = ToolSpec("weather", "The weather.", {"type": "object"})
    body = dialect.request(Context("Be brief.", (Message("user", "你好"),), (spec,)))
    assert body == {
        "system": [text("Be brief.")],
        "messages": [{"role": "user", "content": [text("你好")]}],
        "tools": [{"name": "weather", "description": "The weather.", "input_schema": {"type": "object"}}],
    }
    assert dialect.request(Context(" ", (Message("user", "x"),))).keys() == {"messages"}


def test_results_of_parallel_calls_share_a_message_and_the_persons_next_words_do_not():
    calls = (ToolCall("a", "weather", '{"city": "厦门"}'), ToolCall("b", "weather"))
    wire = dialect.render(
        [
            Message("assistant", "looking", calls),
            Message("tool", "sunny", tool_call_id="a", tool_name="weather"),
            Message("tool", "", tool_call_id="b", tool_name="weather", is_error=True),
            Message("user", "thanks"),
        ]
    )
    assert wire == [
        {"role": "assistant", "content": [text("looking"), use("a", city="厦门"), use("b")]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [text("sunny")]},
                {"type": "tool_result", "tool_use_id": "b", "is_error": True},
            ],
        },
        {"role": "user", "content": [text("thanks")]},
    ]


def test_attachments_follow_what_the_person_wrote_and_blank_texts_are_left_out():
    message = Message("user", (TextPart("a"), TextPart(" "), TextPart("b")), attachments=(Attachment("recall", "r"),))
    assert dialect.render([message])[0]["content"] == [text("a"), text("b"), text("r")]


@pytest.mark.parametrize(
    ("part", "source"),
    [
        (ImagePart("AAAA", "image/png"), {"type": "base64", "media_type": "image/png", "data": "AAAA"}),
        (ImagePart("data:image/png;base64,AAAA"), {"type": "base64", "media_type": "image/png", "data": "AAAA"}),
        (ImagePart("https://x.example/a.png"), {"type": "url", "url": "https://x.example/a.png"}),
    ],
)
def test_images(part, source):
    assert dialect.render([Message("user", (part,))])[0]["content"] == [{"type": "image", "source": source}]


def test_calls_of_other_vendors_get_ids_and_arguments_that_are_accepted():
    wire = dialect.render(
        [
            Message("assistant", "", (ToolCall("call:1", "weather", "not json"),)),
            Message("tool", "x", tool_call_id="call:1"),
        ]
    )
    assert wire[0]["content"] == [use("call_3a_1", arguments="not json")]
    assert wire[1]["content"][0]["tool_use_id"] == "call_3a_1"


def test_an_answer_is_understood():
    response = {
        "model": "claude-x",
        "content": [THINKING, REDACTED, text("看看"), use("t1", city=None)],
        "stop_reason": "tool_use",
        "usage": {
            "input_tokens": 5,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 20,
            "output_tokens": 7,
        },
    }
    reply = dialect.reply(response)
    assert reply.message.content == (
        OpaquePart("anthropic", THINKING),
        OpaquePart("anthropic", REDACTED),
        TextPart("看看"),
    )
    assert reply.message.tool_calls == (ToolCall("t1", "weather", '{"city": null}'),)
    assert (reply.message.text, reply.message.finish_reason, reply.model) == ("看看", "tool_use", "claude-x")
    assert reply.usage == Usage(125, 7, cache_read_tokens=100, cache_write_tokens=20)


def test_plain_text_is_a_plain_string():
    assert dialect.reply({"content": [text("hi")]}).message.content == "hi"
    assert dialect.reply({"content": []}).message.content == ""


@pytest.mark.parametrize(
    "blocks",
    [
        [THINKING, text("a"), use("1", n=1), use("2", n=None)],
        [text("a"), SEARCH, FOUND, text("b")],
        [THINKING, use("1"), THINKING, use("2"), use("3")],
        [use("1"), text("after"), use("2")],
        [{**text("cited"), "citations": [{"type": "x"}]}],
        [{"type": "compaction", "content": "c", "encrypted_content": None}],
    ],
)
def test_an_assistants_blocks_go_back_untouched_and_in_order(blocks):
    message = {"role": "assistant", "content": blocks}
    assert dialect.render(dialect.parse([message])) == [message]


def test_a_transcript_is_read_back():
    wire = [
        {"role": "user", "content": [text("hi"), {"type": "image", "source": {"type": "url", "url": "u"}}]},
        {"role": "assistant", "content": [use("1", city="x")]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [text("ok")]}]},
        {"role": "user", "content": [text("thanks")]},
    ]
    parsed = dialect.parse(wire)
    assert (parsed[2].role, parsed[2].tool_name, parsed[2].text) == ("tool", "weather", "ok")
    assert dialect.render(parsed) == wire
    assert dialect.parse([{"role": "user", "content": "plain"}]) == [Message("user", "plain")]
    with pytest.raises(ValueError, match="unknown role 'system'"):
        dialect.parse([{"role": "system", "content": "x"}])


def test_one_vendors_thinking_is_not_sent_to_another():
    message = dialect.reply({"content": [THINKING, text("hi")]}).message
    assert "thinking" not in json.dumps(openai_chat.render([message]))
    foreign = Message("assistant", (OpaquePart("openai", {"type": "reasoning"}), TextPart("hi")))
    assert dialect.render([foreign])[0]["content"] == [text("hi")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.text(), JSON))
def test_arguments_keep_every_value(given_arguments):
    block = {"type": "tool_use", "id": "1", "name": "x", "input": given_arguments}
    message = {"role": "assistant", "content": [block]}
    assert dialect.render(dialect.parse([message])) == [message]


def test_what_cannot_be_sent_back_is_left_out_and_nothing_becomes_empty():
    unsigned = OpaquePart("anthropic", {"type": "thinking", "thinking": "x", "signature": ""})
    transcript = (
        Message("assistant", "I begin"),
        Message("user", ""),
        Message("assistant", (unsigned,)),
        Message("user", (OpaquePart("openai", {"type": "input_audio"}),)),
    )
    body = dialect.request(Context("", transcript))
    assert [block["text"] for message in body["messages"] for block in message["content"]] == [
        dialect.BEGINNING,
        "I begin",
        dialect.NOTHING,
        dialect.NOTHING,
        dialect.NOTHING,
    ]


def test_ids_stay_apart():
    calls = (ToolCall("a.1", "x"), ToolCall("a_1", "x"))
    results = tuple(Message("tool", "ok", tool_call_id=call.id) for call in calls)
    dialect.request(Context("", (Message("user", "x"), Message("assistant", "", calls), *results)))


def test_a_text_with_citations_is_text_too():
    block = {**text("cited"), "citations": [{"type": "x"}]}
    message = dialect.reply({"content": [block]}).message
    assert message.text == "cited"
    assert dialect.render([message])[0]["content"] == [block]


@pytest.mark.parametrize("module", [dialect, openai_chat])
def test_lone_surrogates_are_replaced_before_anything_is_sent(module):
    call = ToolCall("c", "x", '{"a": "\\ud83d"}')
    transcript = (
        Message("user", "half \ud83d emoji"),
        Message("assistant", "", (call,)),
        Message("tool", "\ud83d", tool_call_id="c"),
    )
    body = module.request(Context("system \ud83d", transcript))
    json.dumps(body, ensure_ascii=False).encode()
    assert "half \ufffd emoji" in json.dumps(body, ensure_ascii=False)
