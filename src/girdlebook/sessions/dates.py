"""Dates as people write them in filters, and as answers show them; local time (pure)."""

import datetime
import re

LATEST = 253_370_764_800.0
"""The last second of 9998 or so: what comes later is no time of a message."""

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


def date_of(timestamp: float) -> str:
    """The local date of a time in seconds since 1970, as `2026-11-30`."""
    return moment_of(timestamp).date().isoformat()


def moment_of(timestamp: float) -> datetime.datetime:
    """The local time; one that no calendar holds becomes the nearest that it does."""
    return datetime.datetime.fromtimestamp(min(max(timestamp, 0.0), LATEST))


def start_of(text: str) -> float:
    """When a day, month or year begins: `2026-11-30`, `2026-11` or `2026`; a date with a time is taken as it is.

    Returns:
        seconds since 1970.

    Raises:
        ValueError: it is no date.
    """
    return _span(text)[0].timestamp()


def end_of(text: str) -> float:
    """The moment after a day, month or year; a date with a time is taken as it is.

    Raises:
        ValueError: it is no date.
    """
    return _span(text)[1].timestamp()


def _span(text: str) -> tuple[datetime.datetime, datetime.datetime]:
    match = _DATE.fullmatch(text.strip())
    try:
        if match is None:
            moment = datetime.datetime.fromisoformat(text.strip())
            return moment, moment
        year, month, day = (int(part) if part else None for part in match.groups())
        first = datetime.datetime(year or 0, month or 1, day or 1)
        if day:
            return first, first + datetime.timedelta(days=1)
        return first, _next_month(first) if month else first.replace(year=first.year + 1)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text[:40]!r} is no date; write it as 2026-11-30, 2026-11 or 2026") from error


def _next_month(first: datetime.datetime) -> datetime.datetime:
    return (first + datetime.timedelta(days=31)).replace(day=1)
