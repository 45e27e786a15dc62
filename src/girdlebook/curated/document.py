"""Entries and the text of their file: what parts them, how many characters they may have.  Pure.

A file is a list of entries parted by a line that holds only `§` (article section 3.1.1).  People edit these files, so
blank lines around the separator, spaces on it, CRLF and byte order marks are no obstacle, and a page of plain Markdown
that is longer than the limit is cut where its headings, paragraphs or lines allow.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

SEPARATOR = "§"
DELIMITER = f"\n{SEPARATOR}\n"

_SEPARATOR_LINE = re.compile(rf"^[^\S\n]*{SEPARATOR}[^\S\n]*$", re.MULTILINE)
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_CODE_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_WARNING_PERCENT = 80


@dataclass(frozen=True, slots=True)
class CharUsage:
    """How much of a target's limit is taken, in characters."""

    used: int
    limit: int

    @property
    def percent(self) -> int:
        """Rounded down and never above 100, as the article's header shows it (section 4.4)."""
        return min(100, int(self.used / self.limit * 100)) if self.limit > 0 else 0

    @property
    def free(self) -> int:
        """Characters that one more entry may have, its delimiter already taken off."""
        return max(0, self.limit - self.used - (len(DELIMITER) if self.used else 0))

    @property
    def is_high(self) -> bool:
        """Whether it is time to tidy up: from 80 % (report L1-23)."""
        return self.used * 100 >= self.limit * _WARNING_PERCENT

    @property
    def share(self) -> str:
        """`1,474/2,200`."""
        return f"{self.used:,}/{self.limit:,}"

    def __str__(self) -> str:
        return f"{self.percent}% — {self.share} chars"


def measure(entries: Sequence[str], limit: int) -> CharUsage:
    """The usage of entries: the characters of their joined text."""
    return CharUsage(len(join(entries)), limit)


def join(entries: Sequence[str]) -> str:
    """The text of the file."""
    return DELIMITER.join(entries)


def parse(text: str, limit: int) -> tuple[str, ...]:
    """The entries of a file's text, each once, in order.

    Parameters:
        text: what the file holds.
        limit: characters; a longer entry is cut at headings, else at blank lines, else at line ends (report L1-12).
    """
    pieces = (piece.strip() for piece in _SEPARATOR_LINE.split(tidy(text)))
    return tuple(dict.fromkeys(entry for piece in pieces if piece for entry in _fitting(piece, limit)))


def tidy(text: str) -> str:
    """Text with plain line ends, without byte order marks and outer blanks."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "").strip()


def folded(text: str) -> str:
    """Text for telling duplicates: runs of blanks count as one (report L1-27)."""
    return " ".join(text.split())


def holds_separator(text: str) -> bool:
    """Whether a line of the text could be taken for the separator, by us or by another reader (report L1-14).

    Characters that nobody sees count as blanks, and so does whatever some reader takes for a line end.
    """
    return any(_visible(line) == SEPARATOR for line in text.splitlines())


def _visible(line: str) -> str:
    return "".join(char for char in line if char.isprintable() and not char.isspace())


def _fitting(entry: str, limit: int) -> list[str]:
    """The entry, cut by the first means that makes pieces of it, until each piece fits or nothing cuts it further."""
    if len(entry) <= limit:
        return [entry]
    for cut in (_sections, _paragraphs, _lines):
        pieces = [stripped for piece in cut(entry) if (stripped := piece.strip())]
        if len(pieces) > 1:
            return [part for piece in pieces for part in _fitting(piece, limit)]
    return [entry]


def _sections(text: str) -> list[str]:
    """The text before each heading that follows a body; a `#` in a code block is no heading."""
    sections: list[list[str]] = [[]]
    in_code = has_body = False
    for line in _lines(text):
        in_code ^= bool(_CODE_FENCE.match(line))
        is_heading = not in_code and bool(_HEADING.match(line))
        if is_heading and has_body:
            sections.append([])
        has_body = not is_heading and (has_body or bool(line.strip()))
        sections[-1].append(line)
    return ["\n".join(section) for section in sections]


def _paragraphs(text: str) -> list[str]:
    return re.split(r"\n[^\S\n]*\n", text)


def _lines(text: str) -> list[str]:
    return text.split("\n")
