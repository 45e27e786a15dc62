"""Titles of sessions (pure): cleaned, short, unlike one another."""

import re
import unicodedata

from girdlebook.errors import TitleError

TITLE_CHARACTERS = 100

_NUMBER = re.compile(r"^(?P<base>.*?) #(?P<number>\d+)$", re.S)


def sanitize_title(text: str | None) -> str | None:
    """The title on one line without control and zero-width characters; None where nothing is left.

    Raises:
        TitleError: it is longer than 100 characters.
    """
    if text is None:
        return None
    kept = "".join(" " if char.isspace() else char for char in text if char.isspace() or _is_visible(char))
    title = " ".join(kept.split())
    if len(title) > TITLE_CHARACTERS:
        raise TitleError(f"the title has {len(title)} characters, {TITLE_CHARACTERS} are allowed; shorten it")
    return title or None


def base_of(title: str) -> str:
    """The title without its number: `plan` of `plan #2`."""
    match = _NUMBER.match(title)
    return match["base"] if match else title


def numbered(title: str, taken: set[str]) -> str:
    """The first of `plan`, `plan #2`, `plan #3` … that is not taken."""
    base, number, candidate = base_of(title), 2, title
    while candidate in taken:
        ending = f" #{number}"
        candidate = base[: TITLE_CHARACTERS - len(ending)] + ending
        number += 1
    return candidate


def _is_visible(char: str) -> bool:
    # A joiner between letters or emoji is part of the word.
    return char == "\u200d" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn")
