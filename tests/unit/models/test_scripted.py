"""The scripted model."""

import json

import pytest

from girdlebook.context import Context
from girdlebook.errors import ModelError
from girdlebook.messages import Message, ToolCall, Usage
from girdlebook.models.scripted import ScriptedModel

CONTEXT = Context("be kind", (Message("user", "hi"),))


def test_replies_come_in_order_and_requests_are_kept():
    model = ScriptedModel("one", ToolCall("c", "memory", "{}"))
    pieces = []
    assert model.reply(CONTEXT, pieces.append).message.text == "one"
    assert model.reply(CONTEXT, pieces.append).message.tool_calls[0].name == "memory"
    assert pieces == ["one"]
    assert [r["messages"][0]["content"] for r in model.requests] == ["be kind", "be kind"]


def test_the_end_of_the_script_is_an_error():
    with pytest.raises(ModelError, match="0 replies"):
        ScriptedModel().reply(CONTEXT)


def test_a_script_is_read_from_json_lines(tmp_path):
    file = tmp_path / "剧本.jsonl"
    rows = [
        {"tool_calls": [{"name": "memory", "arguments": {"action": "list", "target": "user"}}]},
        {"text": "你好", "usage": {"input_tokens": 3, "output_tokens": 1}},
    ]
    file.write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    model = ScriptedModel.from_file(file)
    assert model.reply(CONTEXT).message.tool_calls[0].parsed() == {"action": "list", "target": "user"}
    assert model.reply(CONTEXT).usage == Usage(3, 1)


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"tool_calls": [{}]}', '{"text": "x", "usage": {"no": 1}}'])
def test_a_bad_line_is_named(tmp_path, line):
    file = tmp_path / "script.jsonl"
    file.write_text('{"text": "fine"}\n' + line, encoding="utf-8")
    with pytest.raises(ModelError, match=r"script\.jsonl:2"):
        ScriptedModel.from_file(file)


def test_a_missing_script_is_an_error(tmp_path):
    with pytest.raises(ModelError, match="cannot read"):
        ScriptedModel.from_file(tmp_path / "none")
