"""The token estimate: rough, but in proportion for every script."""

import json
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook.context import Context
from girdlebook.messages import Attachment, ImagePart, Message, TextPart, ToolCall
from girdlebook.tokens import IMAGE_TOKENS, Correction, estimate_context, estimate_message, estimate_text
from girdlebook.tools import ToolSpec

DATA = Path(__file__).parents[1] / "data" / "tokens"
COUNTS = json.loads((DATA / "counts.json").read_text("utf-8"))


def test_L3_46_each_script_is_counted_in_its_own_measure():
    assert 500 <= estimate_text("记" * 1000) <= 1100
    assert 500 <= estimate_text("기" * 1000) <= 1100
    english = "The build takes about seventeen minutes on the new runner. " * 17
    assert len(english) / 5.5 <= estimate_text(english) <= len(english) / 3.5
    prose = (DATA / "english-heldout.txt").read_text("utf-8")
    assert 200 <= estimate_text(prose[:1000]) <= 260


@pytest.mark.parametrize("name", COUNTS)
def test_L3_46_the_estimate_is_near_what_real_vocabularies_count(name):
    counted = mean(COUNTS[name].values())
    assert estimate_text((DATA / name).read_text("utf-8")) == pytest.approx(counted, rel=0.15)


def test_every_sample_is_counted_and_each_kind_has_a_held_out_one():
    assert {path.name for path in DATA.glob("*.txt")} == set(COUNTS)
    held_out = {name.removesuffix("-heldout.txt") for name in COUNTS if name.endswith("-heldout.txt")}
    assert held_out >= {"english", "chinese", "hangul", "emoji", "mixed", "python", "javascript", "log", "markdown"}
    assert held_out >= {"json-compact", "json-indented"}


def test_neighbours_in_another_script_part_words():
    assert estimate_text("用pip装uv再跑git" * 100) > estimate_text("用装再跑" * 100) + 250


def test_a_long_row_of_marks_is_not_free():
    assert estimate_text("=" * 10_000) >= 500


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
    assert tokens <= len(text.encode()) + 1


def test_half_a_surrogate_pair_is_counted_too():
    assert estimate_text("\ud83d") >= 1


def test_a_correction_moves_half_way_to_what_was_reported():
    once = Correction().learned(1000, 1400)
    assert once.factor == pytest.approx(1.2)
    assert once.corrected(1000) == 1200
    assert once.learned(1000, 1400).factor == pytest.approx(1.3)
    assert Correction().learned(1000, 800).factor == pytest.approx(0.9)


def test_a_correction_learns_nothing_from_small_requests_or_missing_reports():
    assert Correction(1.1).learned(499, 900) == Correction(1.1)
    assert Correction(1.1).learned(5000, 0) == Correction(1.1)
    assert Correction().learned(500, 600).factor == pytest.approx(1.1)


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7))))
def test_a_correction_stays_between_half_and_double(reports):
    correction = Correction()
    for estimated, reported in reports:
        correction = correction.learned(estimated, reported)
    assert 0.5 <= correction.factor <= 2.0
    assert correction.corrected(0) == 0
    assert correction.corrected(1) >= 1


def test_without_reports_a_correction_changes_nothing():
    assert [Correction().corrected(tokens) for tokens in (0, 1, 12_345)] == [0, 1, 12_345]
