"""Phase 1: what is old becomes short, and says what it was."""

import json

from hypothesis import given
from hypothesis import strategies as st

from girdlebook.compression.actions import actions_of
from girdlebook.compression.prune import IMAGE, output_line, prune, shorten_output
from girdlebook.messages import ImagePart, Message, TextPart, ToolCall


def ran(call_id, command, output, name="terminal"):
    call = ToolCall(call_id, name, json.dumps({"command": command}))
    return [Message("assistant", "", (call,)), Message("tool", output, tool_call_id=call_id, tool_name=name)]


def test_an_old_output_says_tool_argument_outcome_and_size():
    messages = ran("1", "pytest -q tests/测试.py", "<returncode>1</returncode>\n" + "x" * 5_000)
    done = prune(messages, keep_from=2)
    assert done[1].text == "[terminal: pytest -q tests/测试.py → exit 1, 5,027 characters, cleared]"
    assert done[0] is messages[0]
    assert prune(messages, keep_from=1)[1] is messages[1]


def test_a_short_output_stays():
    messages = ran("1", "ls", "x" * 200)
    assert prune(messages, keep_from=2) == messages


def test_the_same_output_again_is_a_reference_to_the_later_one():
    messages = [*ran("1", "cat a", "same " * 100), *ran("2", "cat a", "same " * 100)]
    done = prune(messages, keep_from=4)
    assert "again later" in done[1].text
    assert done[3].text.startswith("[terminal: cat a")


def test_L3_07_long_arguments_are_cut_and_stay_json_with_the_same_keys():
    given_arguments = {"path": "a.py", "content": "长" * 5_000, "nested": {"list": ["y" * 900, 3, None]}}
    call = ToolCall("1", "write", json.dumps(given_arguments, ensure_ascii=False))
    (message,) = prune([Message("assistant", "", (call,))], keep_from=1)
    value = json.loads(message.tool_calls[0].arguments)
    assert list(value) == list(given_arguments)
    assert value["path"] == "a.py"
    assert value["content"].startswith("长" * 200 + "…[+4,800")
    assert value["nested"]["list"][1:] == [3, None]
    broken = Message("assistant", "", (ToolCall("1", "write", "{" + "x" * 900),))
    assert prune([broken], keep_from=1) == [broken]


def test_an_old_image_leaves_a_word():
    (message,) = prune([Message("user", (TextPart("look"), ImagePart("A" * 100, "image/png")))], keep_from=1)
    assert message.content == (TextPart("look"), TextPart(IMAGE))


@given(st.lists(st.text(max_size=900), max_size=5), st.text(max_size=900))
def test_pruning_twice_is_pruning_once_and_nothing_grows(outputs, text):
    messages = [Message("user", text)]
    for number, output in enumerate(outputs):
        messages += ran(str(number), text[:50] or "ls", output)
    once = prune(messages, keep_from=len(messages))
    assert prune(once, keep_from=len(once)) == once
    assert sum(len(m.text) for m in once) <= sum(max(len(m.text), 300) for m in messages)


def test_an_output_is_shortened_in_its_middle():
    message = Message("tool", "a" * 500 + "b" * 500, tool_call_id="1")
    short = shorten_output(message, 300)
    assert len(short.text) <= 300
    assert short.text.startswith("aaa")
    assert short.text.endswith("bbb")
    assert "characters left out" in short.text


def test_a_line_is_made_for_any_tool():
    call = ToolCall("1", "search_web", '{"limit": 3, "query": "绿茶 prices"}')
    (action,) = actions_of(
        [Message("assistant", "", (call,)), Message("tool", "none", tool_call_id="1", is_error=True)]
    )
    assert output_line(action) == "[search_web: 绿茶 prices → error, 4 characters, cleared]"
