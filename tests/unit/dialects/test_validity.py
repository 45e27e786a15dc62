"""What a vendor would refuse is found before it is sent."""

import pytest

from girdlebook.context import Context
from girdlebook.dialects import anthropic, openai_chat
from girdlebook.dialects.validity import anthropic_fault, check_anthropic, check_openai_chat, marker_fault
from girdlebook.errors import InvalidRequest
from girdlebook.messages import Message, ToolCall
from girdlebook.tools import ToolSpec


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def text(words="你好"):
    return {"type": "text", "text": words}


def use(call_id="a"):
    return {"type": "tool_use", "id": call_id, "name": "x", "input": {}}


def result(call_id="a"):
    return {"type": "tool_result", "tool_use_id": call_id, "content": [text()]}


THINKING = {"type": "thinking", "thinking": "hm", "signature": "sig"}

VALID = [user(text()), assistant(THINKING, text(), use("a"), use("b")), user(result("b"), result("a"), text())]


def test_a_valid_transcript_has_no_fault():
    assert anthropic_fault(VALID) is None


@pytest.mark.parametrize(
    ("messages", "word"),
    [
        ([], "first message"),
        ([assistant(text()), user(text())], "first message"),
        ([user(text()), assistant(text())], "last message"),
        ([user()], "empty"),
        ([user(text(" \n"))], "blank"),
        ([user(text()), assistant({"type": "thinking", "thinking": "hm"}), user(text())], "signature"),
        ([user(text()), assistant(use("a:b")), user(result("a:b"))], "may hold"),
        ([user(text()), assistant(use("a"), use("a")), user(result("a"))], "same ids"),
        ([user(text()), assistant(use("a")), user(text())], "no result"),
        ([user(text()), assistant(use("a"), use("b")), user(result("a"))], "no result"),
        ([user(text()), assistant(use("a")), user(result("a"), result("a"))], "two results"),
        ([user(text()), assistant(use("a")), user(text(), result("a"))], "before everything"),
        ([user(result("a"))], "waits for this"),
        ([user(text()), assistant(use("a")), assistant(text()), user(result("a"))], "no result"),
        ([user(text()), assistant(use("a")), assistant(result("a")), user(text())], "not the user's"),
    ],
)
def test_each_fault_of_a_messages_transcript_is_named(messages, word):
    assert word in (anthropic_fault(messages) or "nothing found")


def test_L3_50_more_than_four_markers_and_markers_on_thinking_or_nothing_are_faults():
    mark = {"cache_control": {"type": "ephemeral"}}
    body = {
        "tools": [{"name": "x"} | mark],
        "system": [text() | mark],
        "messages": [user(text() | mark, text() | mark)],
    }
    assert marker_fault(body) is None
    body["messages"].append(user(text() | mark))
    assert "5 cache markers" in marker_fault(body)
    assert "thinking" in marker_fault({"messages": [assistant(THINKING | mark)]})
    assert "text" in marker_fault({"messages": [user(text("") | mark)]})


@pytest.mark.parametrize(
    "transcript",
    [
        [Message("user", "x"), Message("assistant", "", (ToolCall("a", "x"),))],
        [Message("user", "x"), Message("tool", "x", tool_call_id="a")],
        [Message("user", "x"), Message("assistant", "", (ToolCall("a", "x"), ToolCall("a", "x")))],
    ],
)
def test_neither_dialect_makes_a_request_that_would_be_refused(transcript):
    for dialect in (openai_chat, anthropic):
        with pytest.raises(InvalidRequest, match="would be refused and was not sent"):
            dialect.request(Context("", tuple(transcript)))


@pytest.mark.parametrize("names", [["two words"], ["x", "x"], ["工具"]])
def test_tool_names_that_a_vendor_refuses_are_faults(names):
    tools = tuple(ToolSpec(name, "d", {"type": "object"}) for name in names)
    for dialect in (openai_chat, anthropic):
        with pytest.raises(InvalidRequest, match="tool"):
            dialect.request(Context("", (Message("user", "x"),), tools))


def test_checks_pass_what_is_right():
    check_anthropic({"messages": VALID})
    check_openai_chat({"messages": [{"role": "user", "content": "x"}]})
