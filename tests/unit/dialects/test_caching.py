"""Where cache markers go."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook.dialects.caching import system_and_3, system_and_3_envelope, wants_envelope
from girdlebook.dialects.validity import cacheable_places, marker_fault

MARK = {"type": "ephemeral"}


def text(words="你好"):
    return {"type": "text", "text": words}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def use(call_id="a"):
    return {"type": "tool_use", "id": call_id, "name": "x", "input": {}}


def result(call_id="a"):
    return {"type": "tool_result", "tool_use_id": call_id, "content": [text()]}


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}


def marked(body):
    return [place for place in cacheable_places(body) if "cache_control" in place]


def test_the_system_prompt_and_the_last_three_messages_are_marked():
    messages = [
        user(text("1")),
        assistant(text("2")),
        user(text("3"), text("4")),
        assistant(text("5")),
        user(text("6")),
    ]
    body = {"system": [text("s")], "messages": messages}
    before = copy.deepcopy(body)
    done = system_and_3(body)
    assert [place["text"] for place in marked(done)] == ["s", "4", "5", "6"]
    assert all(place["cache_control"] == MARK for place in marked(done))
    assert body == before


def test_an_hour_is_said():
    done = system_and_3({"messages": [user(text())]}, ttl="1h")
    assert marked(done)[0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_without_a_system_prompt_four_messages_are_marked():
    done = system_and_3({"messages": [user(text(str(n))) for n in range(6)]})
    assert [place["text"] for place in marked(done)] == ["2", "3", "4", "5"]


def test_thinking_and_blank_blocks_are_passed_over_and_messages_of_nothing_else_are_not_counted():
    messages = [
        user(text("1")),
        user(text("2")),
        assistant(THINKING),
        user(text("3"), text(" ")),
        assistant(use(), THINKING),
    ]
    done = system_and_3({"system": [text(" ")], "messages": messages})
    assert [place.get("text", place["type"]) for place in marked(done)] == ["1", "2", "3", "tool_use"]
    assert "cache_control" not in done["messages"][2]["content"][0]


def test_a_result_is_marked_as_a_whole():
    done = system_and_3({"messages": [user(text()), assistant(use()), user(result())]})
    assert [place["type"] for place in marked(done)] == ["text", "tool_use", "tool_result"]


@pytest.mark.parametrize("already", [1, 2, 3, 4])
def test_L3_50_marks_that_were_there_never_make_more_than_four(already):
    old = {"cache_control": {"type": "ephemeral"}}
    body = {
        "tools": [{"name": "x"} | old],
        "system": [text("a") | old, text("b")],
        "messages": [user(text(str(n)) | (old if n < already else {})) for n in range(6)],
    }
    done = system_and_3(body)
    assert marker_fault(done) is None
    assert [place.get("text") for place in marked(done)] == ["b", "3", "4", "5"]


BLOCKS = st.sampled_from([text(), text(" "), THINKING, use(), result(), text() | {"cache_control": MARK}])
BODIES = st.fixed_dictionaries(
    {"messages": st.lists(st.lists(BLOCKS, max_size=4).map(lambda blocks: user(*blocks)), max_size=8)},
    optional={"system": st.lists(BLOCKS.filter(lambda block: block["type"] == "text"), max_size=3)},
)


@given(BODIES)
def test_whatever_comes_the_markers_are_accepted_and_only_they_change(body):
    done = system_and_3(body)
    assert marker_fault(done) is None

    def bare(value):
        if isinstance(value, dict):
            return {key: bare(item) for key, item in value.items() if key != "cache_control"}
        return [bare(item) for item in value] if isinstance(value, list) else value

    assert bare(done) == bare(body)
    assert system_and_3(done) == done


def test_the_envelope_marks_content_parts_and_passes_over_tool_messages():
    call = {"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    body = {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "1"},
            {"role": "assistant", "content": "2"},
            {"role": "user", "content": [text("3"), {"type": "image_url", "image_url": {"url": "u"}}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "ok"},
        ]
    }
    done = system_and_3_envelope(body)["messages"]
    assert done[0]["content"] == [text("s") | {"cache_control": MARK}]
    assert done[1]["content"] == [text("1") | {"cache_control": MARK}]
    assert done[3]["content"][1]["cache_control"] == MARK
    assert done[4:] == body["messages"][4:]
    longer = system_and_3_envelope({"messages": [*body["messages"], {"role": "user", "content": "4"}]})["messages"]
    assert longer[1]["content"] == [text("1")]


@pytest.mark.parametrize(
    ("url", "model", "wanted"),
    [
        ("https://openrouter.ai/api/v1/", "anthropic/claude-sonnet-5", True),
        ("https://openrouter.ai/api/v1/", "openai/gpt-5", False),
        ("https://inference-api.nousresearch.com/v1", "Qwen3", True),
        ("https://notopenrouter.ai/v1", "claude", False),
        ("http://127.0.0.1:11434/v1", "qwen3", False),
    ],
)
def test_only_gateways_known_to_take_markers_get_them(url, model, wanted):
    assert wants_envelope(url, model) is wanted


def test_marks_anywhere_are_taken_off_and_tools_own_words_stay():
    old = {"cache_control": {"type": "ephemeral"}}
    schema = {"type": "object", "properties": {"cache_control": {"type": "string"}}}
    nested = {"type": "document", "source": {"type": "content", "content": [text() | old]}}
    body = {
        **old,
        "tools": [{"name": "x", "input_schema": schema} | old],
        "system": "plain",
        "messages": [{"role": "user", "content": "plain"}, user(nested)],
    }
    done = system_and_3(body)
    assert str(done).count("cache_control") == 4
    assert done["tools"][0] == {"name": "x", "input_schema": schema}
    assert done["system"] == [text("plain") | {"cache_control": MARK}]
    envelope = system_and_3_envelope(
        {"tools": [{"function": {}} | old], "messages": [{"role": "user", "content": "x"}]}
    )
    assert str(envelope).count("cache_control") == 1
