"""The chat completions shape."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook.context import Context
from girdlebook.dialects import openai_chat
from girdlebook.errors import ModelError
from girdlebook.messages import Attachment, ImagePart, Message, OpaquePart, TextPart, ToolCall, Usage
from girdlebook.tools import ToolSpec

texts = st.text(min_size=1)
calls = st.builds(ToolCall, id=texts, name=texts, arguments=st.just('{"a":  1}'))
spoken = st.one_of(
    st.builds(Message, role=st.sampled_from(["user", "assistant", "system"]), content=texts),
    st.builds(Message, role=st.just("assistant"), content=st.text(), tool_calls=st.tuples(calls)),
    st.builds(Message, role=st.just("tool"), content=st.text(), tool_call_id=st.uuids().map(str)),
    st.builds(
        Message,
        role=st.just("user"),
        content=st.tuples(st.builds(TextPart, texts), st.builds(ImagePart, st.just("https://example.org/a.png"))),
    ),
)


@given(st.lists(spoken))
def test_what_is_rendered_parses_back_to_the_same_messages(messages):
    assert openai_chat.parse(openai_chat.render(messages)) == messages


def test_plain_text_stays_a_string_since_some_servers_take_nothing_else():
    assert openai_chat.render([Message("user", "hi")]) == [{"role": "user", "content": "hi"}]


def test_arguments_are_sent_as_the_model_wrote_them():
    odd = '{"b":1,   "a":"\\u4f60"}'
    wire = openai_chat.render([Message("assistant", tool_calls=(ToolCall("c", "memory", odd),))])
    assert wire[0]["tool_calls"][0]["function"]["arguments"] == odd
    assert wire[0]["content"] is None


def test_attachments_follow_the_words_of_the_person():
    message = Message("user", "hi", attachments=(Attachment("recall", "<memory-context>"),))
    assert openai_chat.render([message])[0]["content"] == "hi\n\n<memory-context>"


def test_an_image_is_sent_as_a_data_address():
    part = openai_chat.render([Message("user", (ImagePart("aGk=", "image/png", "low"),))])[0]["content"][0]
    assert part == {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}}


def test_a_block_of_another_vendor_is_left_out_and_an_own_one_comes_back_whole():
    own = {"type": "input_audio", "input_audio": {"data": "…", "format": "wav"}}
    parsed = openai_chat.parse([{"role": "user", "content": [own]}])
    assert openai_chat.render(parsed)[0]["content"] == [own]
    assert openai_chat.render([Message("user", (OpaquePart("other", {"x": 1}), TextPart("hi")))])[0]["content"] == [
        {"type": "text", "text": "hi"}
    ]


def test_a_tool_result_carries_the_name_of_its_call_after_parsing():
    parsed = openai_chat.parse(
        [
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "memory"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ]
    )
    assert parsed[1].tool_name == "memory"


def test_an_unknown_role_is_refused_by_name():
    with pytest.raises(ValueError, match="function"):
        openai_chat.parse([{"role": "function", "content": "x"}])


def test_a_request_starts_with_the_system_prompt_and_offers_tools_only_where_there_are_some():
    spec = ToolSpec("memory", "d", {"type": "object", "properties": {}})
    bare = openai_chat.request(Context("be kind", (Message("user", "hi"),)))
    assert bare == {"messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]}
    assert openai_chat.request(Context("", (), (spec,)))["tools"][0]["function"]["name"] == "memory"


def completion(message, **more):
    return {"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}], **more}


def test_a_reply_carries_text_model_and_usage():
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 3},
        "cost": 0.25,
    }
    reply = openai_chat.reply(completion({"content": "你好"}, usage=usage))
    assert (reply.message.text, reply.model, reply.message.finish_reason) == ("你好", "m-1", "stop")
    assert reply.usage == Usage(100, 7, 80, 0, 3, 0.25)


def test_no_usage_is_none_and_not_zero():
    assert openai_chat.reply(completion({"content": "x"})).usage is None


def test_an_answer_without_choices_is_an_error():
    with pytest.raises(ModelError, match="no choice"):
        openai_chat.reply({"choices": []})


def chunk(delta, finish=None, **more):
    return {"model": "m-1", "choices": [{"delta": delta, "finish_reason": finish}], **more}


def test_a_stream_of_text_and_parallel_calls_is_put_together():
    streamed = openai_chat.StreamedReply()
    pieces = [
        chunk({"role": "assistant", "content": "Let me "}),
        chunk({"content": "see"}),
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "memory", "arguments": '{"act'}}]}),
        chunk({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "session_search", "arguments": "{}"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'ion": "list"}'}}]}),
        chunk({}, "tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    ]
    shown = "".join(streamed.add(piece) for piece in pieces)
    reply = streamed.reply()
    assert shown == reply.message.text == "Let me see"
    assert [(c.id, c.name) for c in reply.message.tool_calls] == [("a", "memory"), ("b", "session_search")]
    assert json.loads(reply.message.tool_calls[0].arguments) == {"action": "list"}
    assert reply.usage == Usage(5, 2)


def test_calls_without_an_index_are_taken_as_whole_ones():
    streamed = openai_chat.StreamedReply()
    for name in ("one", "two"):
        streamed.add(chunk({"tool_calls": [{"id": name, "function": {"name": name, "arguments": "{}"}}]}))
    streamed.add(chunk({}, "tool_calls"))
    assert [call.name for call in streamed.reply().message.tool_calls] == ["one", "two"]


def test_a_stream_that_breaks_off_is_an_error_and_no_half_answer():
    streamed = openai_chat.StreamedReply()
    streamed.add(chunk({"content": "half"}))
    with pytest.raises(ModelError, match="broke off"):
        streamed.reply()
