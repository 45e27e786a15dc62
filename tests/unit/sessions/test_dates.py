"""Dates in filters and answers."""

import datetime

import pytest

from girdlebook.sessions.dates import date_of, end_of, start_of


def at(*parts):
    return datetime.datetime(*parts).timestamp()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-11-30", at(2026, 11, 30), at(2026, 12, 1)),
        ("2026-2", at(2026, 2, 1), at(2026, 3, 1)),
        ("2026-12", at(2026, 12, 1), at(2027, 1, 1)),
        (" 2026 ", at(2026, 1, 1), at(2027, 1, 1)),
        ("2026-11-30T12:30", at(2026, 11, 30, 12, 30), at(2026, 11, 30, 12, 30)),
    ],
)
def test_a_day_month_or_year_is_a_span(text, start, end):
    assert (start_of(text), end_of(text)) == (start, end)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13", "2026-02-30", "30.11.2026", "0000"])
def test_anything_else_is_named(text):
    with pytest.raises(ValueError, match="write it as 2026-11-30"):
        start_of(text)


def test_a_time_is_shown_by_its_day():
    assert date_of(at(2026, 11, 30, 23, 59)) == "2026-11-30"
