"""Snippets: readable, marked, short."""

from hypothesis import given
from hypothesis import strategies as st

from girdlebook.sessions.snippets import SNIPPET_CHARACTERS, snippet


def test_the_words_are_marked_as_they_stand_in_the_text():
    assert snippet("Two Payments, 一次部署测试环境", {"payment", "测试", "试环", "环境"}) == (
        "Two >>>Payments<<<, 一次部署>>>测试环境<<<"
    )


def test_a_hit_deep_in_a_long_text_is_shown_with_its_surroundings():
    text = "a " * 500 + "the needle is here " + "b " * 500
    found = snippet(text, {"needl"})
    assert ">>>needle<<<" in found
    assert found.startswith("…")
    assert found.endswith("…")


@given(st.text(), st.sets(st.text(min_size=1)))
def test_any_text_has_a_short_snippet(text, wanted):
    assert (
        len(snippet(text, wanted).replace(">>>", "").replace("<<<", ""))
        <= SNIPPET_CHARACTERS + 2 + text.count(">>>") * 0
    )
