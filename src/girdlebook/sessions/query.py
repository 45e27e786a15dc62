"""What a person or a model typed → full-text queries (pure).

Nothing typed can be a syntax error: every word is quoted, and operators are not read as such (reports L2-09, L2-10).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from girdlebook.words import index_words, terms

QUERY_LIMIT = 2_048
"""Characters of a query that are read."""

TERM_LIMIT = 64
"""Terms of a query that are searched for."""

_PHRASE = re.compile(r'"([^"]+)"')
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The terms that were asked for; each is one word or several that stand together."""

    terms: tuple[tuple[str, ...], ...]

    def every(self) -> str:
        """The FTS5 expression that wants all terms."""
        return " AND ".join(map(_quoted, self.terms))

    def any(self) -> str:
        """The FTS5 expression that wants at least one."""
        return " OR ".join(map(_quoted, self.terms))


def parse(text: str) -> SearchQuery:
    """Read a query: phrases in quotes stay together, AND, OR and NOT are no words, stop words are dropped."""
    text = text[:QUERY_LIMIT]
    phrases = [tuple(words.split()) for phrase in _PHRASE.findall(text) if (words := index_words(phrase))]
    rest = _OPERATOR.sub(" ", _PHRASE.sub(" ", text))
    loose: Sequence[tuple[str, ...]] = terms(rest)
    return SearchQuery(tuple(dict.fromkeys([*phrases, *loose]))[:TERM_LIMIT])


def _quoted(term: tuple[str, ...]) -> str:
    words = " ".join(term).replace('"', "")
    # One character of an unspaced script begins its bigrams.
    prefix = "*" if len(words) == 1 and not words.isascii() else ""
    return f'"{words}"{prefix}'
