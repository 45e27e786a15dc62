"""What was typed → FTS5 expressions, none of which can be a syntax error."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook.sessions.query import TERM_LIMIT, parse


@pytest.fixture(scope="module")
def index():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(words, tokenize='unicode61 remove_diacritics 0')")
    return connection


@given(text=st.text())
def test_L2_09_L2_10_no_text_is_a_syntax_error(index, text):
    query = parse(text)
    if query.terms:
        for expression in (query.every(), query.any()):
            index.execute("SELECT * FROM t WHERE t MATCH ?", [expression]).fetchall()


def test_a_phrase_in_quotes_stays_together():
    assert ("support", "group") in parse('"support groups" yesterday').terms


def test_operators_are_no_words():
    assert parse("合同 OR 发票").terms == (("合同",), ("发票",))
    assert parse("error-log OR archive").any() == '"error log" OR "archiv"'


def test_one_character_finds_the_words_it_begins():
    assert parse("忆").any() == '"忆"*'


def test_a_huge_query_is_cut():
    assert len(parse(" ".join(f"w{n}" for n in range(9_000))).terms) <= TERM_LIMIT


def test_nothing_searchable_is_an_empty_query():
    assert parse(" ?!… ").terms == ()
