"""Tools and the Toolbox: the one place where errors become answers."""

import json

import pytest

from girdlebook.errors import NoMatch, ToolError
from girdlebook.messages import ToolCall
from girdlebook.tools import Tool, Toolbox, ToolSpec, as_text


def tool(name, handler):
    return Tool(ToolSpec(name, "for tests", {"type": "object", "properties": {}}), handler)


def test_a_result_that_is_text_reaches_the_model_unchanged():
    box = Toolbox([tool("echo", lambda given: given["text"])])
    assert box.run(ToolCall("1", "echo", '{"text": "你好 🌙"}')).content == "你好 🌙"


def test_data_reaches_the_model_as_readable_json():
    assert as_text({"名": "苏轼"}) == '{"名": "苏轼"}'


def test_a_domain_error_becomes_its_own_answer():
    def refuse(given):
        raise NoMatch("no entry holds 'x'", current_entries=["a"], usage="1/10")

    result = Toolbox([tool("t", refuse)]).run(ToolCall("1", "t"))
    assert result.is_error
    assert json.loads(result.content) == {
        "success": False,
        "error": "no entry holds 'x'",
        "current_entries": ["a"],
        "usage": "1/10",
    }


@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("k"), ZeroDivisionError("z"), ToolError("no")])
def test_whatever_a_handler_raises_becomes_an_answer(error):
    def fail(given):
        raise error

    result = Toolbox([tool("t", fail)]).run(ToolCall("1", "t"))
    assert result.is_error
    assert json.loads(result.content)["success"] is False


def test_an_interrupt_is_not_swallowed():
    def interrupt(given):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Toolbox([tool("t", interrupt)]).run(ToolCall("1", "t"))


@pytest.mark.parametrize("arguments", ["{not json", "[1]", '"text"', "5"])
def test_arguments_that_are_no_object_are_answered_not_raised(arguments):
    result = Toolbox([tool("t", lambda given: "never")]).run(ToolCall("1", "t", arguments))
    assert result.is_error


def test_an_unknown_tool_is_answered_with_the_known_names():
    result = Toolbox([tool("known", lambda given: "")]).run(ToolCall("1", "unknown"))
    assert "known" in json.loads(result.content)["error"]


def test_missing_arguments_count_as_none_given():
    assert Toolbox([tool("t", lambda given: str(given))]).run(ToolCall("1", "t", "")).content == "{}"


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match="called 'a'"):
        Toolbox([tool("a", str), tool("a", str)])
