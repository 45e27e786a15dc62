"""How commands speak."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook.cli import output


def test_control_characters_never_reach_the_terminal() -> None:
    assert output.visible("a\x1b[31mred\x07\x9b1m\r\n\tend") == "a�[31mred��1m\n\tend"


def test_texts_of_all_scripts_stay_as_they_are() -> None:
    text = "记忆 👩‍🚀 ذاكرة हिन्दी é"
    assert output.visible(text) == text


@given(st.text(), st.integers(min_value=2, max_value=100))
def test_clipped_text_fits_its_columns_on_one_line(text: str, columns: int) -> None:
    clipped = output.clip(text, columns)
    assert output.width(clipped) <= columns
    assert "\n" not in clipped


def test_chinese_characters_take_two_columns() -> None:
    assert output.clip("我的服务器运行着", 10) == "我的服务…"
    assert output.clip("我的服务器", 10) == "我的服务器"


def test_bytes_of_the_command_line_that_are_no_text_become_replacement_characters() -> None:
    assert output.from_argument("caf\udce9 记忆") == "caf� 记忆"


def test_an_error_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    output.report("first\nsecond", kind="X", details={}, as_json=False)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "girdle: first second\n")


def test_an_error_is_a_document_on_stdout_with_json(capsys: pytest.CaptureFixture[str]) -> None:
    output.report("满了", kind="OverLimit", details={"usage": "9/9"}, as_json=True)
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"error": "满了", "kind": "OverLimit", "usage": "9/9"}
    assert captured.err == ""
