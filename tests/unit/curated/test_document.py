import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from girdlebook.curated.document import CharUsage, folded, holds_separator, join, measure, parse, tidy

LIMIT = 2200
TEXTS = st.text(st.sampled_from("ab§ \t\n\r\u2028\x0b\x0c\x85\ufeff\u200b#`家👩🏽ש"), max_size=40)


@given(st.lists(TEXTS | st.text(max_size=40), max_size=8))
def test_entries_come_back_as_they_went_in(texts):
    entries = tuple(dict.fromkeys(tidy(text) for text in texts if tidy(text) and not holds_separator(text)))
    assert parse(join(entries), LIMIT) == entries


@given(TEXTS, st.integers(1, 20))
def test_parsing_what_was_parsed_changes_nothing(text, limit):
    entries = parse(text, limit)
    assume(not any(holds_separator(entry) for entry in entries))
    assert parse(join(entries), limit) == entries


@pytest.mark.parametrize(
    "text",
    [
        "one\n§\ntwo",
        "one\n\n§\n\ntwo\n",
        "one\r\n§\r\ntwo\r\n",
        "\ufeffone\n§\ntwo",
        "one\n \t§ \ntwo",
        "\n§\none\n§\n§\ntwo\n§\n",
        "one\n§\ntwo\n§\none",
    ],
)
def test_L1_09_layout_around_the_separator_makes_no_difference(text):
    assert parse(text, LIMIT) == ("one", "two")


def test_L1_16_a_section_sign_in_a_sentence_parts_nothing():
    assert parse("See § 5.2 of the policy\n§ 6 too", LIMIT) == ("See § 5.2 of the policy\n§ 6 too",)
    assert not holds_separator("See § 5.2 of the policy")


@pytest.mark.parametrize(
    "line", ["§", " § ", "§\r", "\u2028§\u2028", "\x0b§", "\x0c§", "\x85§\x85", "§\u200b", "\xa0§"]
)
def test_L1_14_separator_lines_are_seen_in_any_disguise(line):
    assert holds_separator(f"list:\n{line}\nfirst")
    assert holds_separator(line)


MARKDOWN = (
    "# Notes\n\n## Machines\n" + "- a fact about a machine\n" * 6 + "\n## Tools\n```sh\n# no heading\nmake\n```\n- uv\n"
)


def test_L1_12_an_overlong_page_is_cut_at_its_headings():
    entries = parse(MARKDOWN, 180)
    assert [entry.splitlines()[0] for entry in entries] == ["# Notes", "## Tools"]
    assert "".join(join(entries).split("\n§\n")).replace("\n", "") == MARKDOWN.replace("\n", "")


def test_a_page_within_the_limit_stays_one_entry():
    assert parse(MARKDOWN, LIMIT) == (MARKDOWN.strip(),)


def test_what_has_no_headings_is_cut_at_blank_lines_then_at_lines():
    assert parse("first one\n\nsecond\nthird", 14) == ("first one", "second\nthird")
    assert parse("first one\n\nsecond\nthird", 10) == ("first one", "second", "third")
    assert parse("x" * 30, 10) == ("x" * 30,)


@pytest.mark.parametrize(
    ("used", "limit", "shown"),
    [
        (0, 2200, "0% — 0/2,200 chars"),
        (1474, 2200, "67% — 1,474/2,200 chars"),
        (2199, 2200, "99% — 2,199/2,200 chars"),
        (3000, 2200, "100% — 3,000/2,200 chars"),
    ],
)
def test_usage_reads_as_in_the_article(used, limit, shown):
    assert str(CharUsage(used, limit)) == shown


def test_usage_counts_characters_and_delimiters():
    assert measure(("家👩", "b"), 10).used == 2 + 3 + 1
    assert measure((), 10).used == 0


def test_free_is_what_one_more_entry_may_have():
    assert CharUsage(0, 10).free == 10
    assert CharUsage(4, 10).free == 3
    assert CharUsage(9, 10).free == 0


def test_usage_is_high_from_four_fifths():
    assert [CharUsage(used, 100).is_high for used in (79, 80, 81)] == [False, True, True]


def test_folding_ignores_runs_of_blanks_but_not_case():
    assert folded(" Likes \u3000 tea\n") == folded("Likes tea") != folded("likes tea")


def test_tidy_text_has_plain_line_ends_and_no_marks():
    assert tidy("\ufeff a\r\nb\rc\ufeff \n") == "a\nb\nc"
