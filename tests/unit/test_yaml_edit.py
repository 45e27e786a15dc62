"""Changing one value and no other character."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from girdlebook.yaml_edit import remove_from, set_in

NOTED = """\
# top
memory:
  nudge_interval: 5   # turns
  # about limit
  user_char_limit: 1000

# ---- Compression, decided with Bob ----
compression:
  enabled: true
  # threshold: 0.4
sessions: {retention_days: 30, auto_prune: true}  # short
# end
"""


def load(text):
    return YAML(typ="safe", pure=True).load(text) or {}


@pytest.mark.parametrize(
    ("steps", "value", "old", "new"),
    [
        (["memory", "nudge_interval"], 7, "nudge_interval: 5   # turns", "nudge_interval: 7   # turns"),
        (["memory", "user_char_limit"], 99, "user_char_limit: 1000", "user_char_limit: 99"),
        (["memory", "provider"], "x: y", "limit: 1000\n", "limit: 1000\n  provider: 'x: y'\n"),
        (["compression", "threshold"], 0.6, "enabled: true\n", "enabled: true\n  threshold: 0.6\n"),
        (["sessions", "auto_prune"], False, "auto_prune: true", "auto_prune: false"),
        (["chat", "model"], "记", "# end\n", "# end\nchat:\n  model: 记\n"),
        (["a", "b", "c"], 1, "# end\n", "# end\na:\n  b:\n    c: 1\n"),
    ],
)
def test_a_value_is_put_where_it_belongs_and_nothing_else_moves(steps, value, old, new):
    assert set_in(NOTED, steps, value) == NOTED.replace(old, new)


def test_a_flow_section_takes_a_further_key():
    changed = set_in(NOTED, ["sessions", "min_interval_hours"], 1)
    assert load(changed)["sessions"] == {"retention_days": 30, "auto_prune": True, "min_interval_hours": 1}
    assert "# short" in changed


@pytest.mark.parametrize(
    ("steps", "gone"),
    [
        (["memory", "nudge_interval"], "  nudge_interval: 5   # turns\n"),
        (["memory", "user_char_limit"], "  user_char_limit: 1000\n"),
        (["compression", "enabled"], "  enabled: true\n"),
    ],
)
def test_a_removed_key_takes_its_line_and_no_comment_of_others(steps, gone):
    assert remove_from(NOTED, steps) == NOTED.replace(gone, "")


@pytest.mark.parametrize("text", ["memory:\n", "memory:\n  # nothing\n", "memory: ~\n", "memory: {}\n", "", "# only\n"])
def test_an_empty_section_takes_a_key(text):
    changed = set_in(text, ["memory", "nudge_interval"], 3)
    assert load(changed)["memory"]["nudge_interval"] == 3
    assert changed.count("#") == text.count("#")


def test_a_key_without_a_value_gets_one():
    assert set_in("memory:\n  provider:\n", ["memory", "provider"], "x") == "memory:\n  provider: x\n"


KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.one_of(st.booleans(), st.integers(-99, 99), st.text(max_size=8), st.lists(st.integers(0, 9), max_size=2))
SECTIONS = st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, min_size=1), max_size=3)


@settings(deadline=None)
@given(SECTIONS, st.booleans(), KEYS, KEYS, VALUES)
def test_whatever_the_file_holds_only_that_value_changes(values, flow, section, key, value):
    yaml, written = YAML(typ="safe", pure=True), io.StringIO()
    yaml.default_flow_style, yaml.allow_unicode = flow, True
    yaml.dump(values, written)
    text = written.getvalue() if values else ""
    changed = set_in(text, [section, key], value)
    assert load(changed) == {**values, section: {**values.get(section, {}), key: value}}
    removed = load(remove_from(changed, [section, key]))
    rest = {name: inner for name, inner in values.get(section, {}).items() if name != key}
    assert {name: inner for name, inner in removed.items() if inner} == {
        name: inner for name, inner in {**values, section: rest}.items() if inner
    }
