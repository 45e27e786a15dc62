"""The token estimate: rough, but in proportion for every script."""

from hypothesis import given
from hypothesis import strategies as st

from girdlebook.context import Context
from girdlebook.messages import Attachment, ImagePart, Message, TextPart, ToolCall
from girdlebook.tokens import IMAGE_TOKENS, estimate_context, estimate_message, estimate_text
from girdlebook.tools import ToolSpec


def test_L3_46_each_script_is_counted_in_its_own_measure():
    assert 500 <= estimate_text("记" * 1000) <= 1100
    assert 500 <= estimate_text("기" * 1000) <= 1100
    english = "The build takes about seventeen minutes on the new runner. " * 17
    assert len(english) / 5.5 <= estimate_text(english) <= len(english) / 3.5


def test_L3_43_an_image_costs_the_same_whatever_its_size():
    small = Message("user", (TextPart("look"), ImagePart("aGk=", "image/png")))
    large = Message("user", (TextPart("look"), ImagePart("aGk=" * 300_000, "image/png")))
    assert estimate_message(small) == estimate_message(large) < 2 * IMAGE_TOKENS


def test_L3_42_system_prompt_and_tool_schemas_count():
    tool = ToolSpec("t", "d" * 400, {"type": "object", "properties": {}})
    bare = Context("", (Message("user", "hi"),))
    assert estimate_context(Context("be kind " * 50, bare.messages)) > estimate_context(bare)
    assert estimate_context(Context("", bare.messages, (tool,) * 200)) > 200 * 50


def test_calls_and_attachments_count():
    plain = Message("assistant", "ok")
    calling = Message("assistant", "ok", tool_calls=(ToolCall("1", "memory", '{"content": "a fact"}'),))
    recalled = Message("user", "ok", attachments=(Attachment("recall", "something recalled"),))
    assert estimate_message(plain) < estimate_message(calling)
    assert estimate_message(plain) < estimate_message(recalled)


@given(st.text())
def test_any_text_has_an_estimate_and_none_is_free(text):
    tokens = estimate_text(text)
    assert tokens >= (1 if text else 0)
    assert tokens <= 2 * len(text) + 1
