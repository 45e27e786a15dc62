"""Times, for people and for JSON."""

from datetime import UTC

from girdlebook.sessions.dates import moment_of


def clock(timestamp: float) -> str:
    """Seconds since 1970 as local date and time."""
    return moment_of(timestamp).strftime("%Y-%m-%d %H:%M")


def iso(timestamp: float) -> str:
    """Seconds since 1970 in ISO form, UTC."""
    return moment_of(timestamp).astimezone(UTC).isoformat(timespec="seconds")
