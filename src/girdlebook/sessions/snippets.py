"""A readable piece of a message around the words that were found (pure)."""

from bisect import bisect_left
from collections.abc import Collection

from girdlebook.words import Word, words

SNIPPET_CHARACTERS = 200
"""The length of a snippet, without its marks."""

_CONTROLS = dict.fromkeys((*range(0x20), 0x7F), " ")
_SCANNED = 100_000
_ROOM = 40


def snippet(text: str, wanted: Collection[str]) -> str:
    """The part of `text` that holds most of the words, each marked as >>>word<<<, `…` where it is cut.

    Parameters:
        wanted: search words, as `girdlebook.words` makes them.
    """
    hits = _merged([word for word in words(text[:_SCANNED]) if word.text in wanted])
    start = _best_start(hits)
    end = min(len(text), start + SNIPPET_CHARACTERS)
    marked, at = [], start
    for left, right in hits:
        if left >= start and right <= end:
            marked += [text[at:left], ">>>", text[left:right], "<<<"]
            at = right
    marked.append(text[at:end])
    return (
        ("…" if start else "")
        + " ".join("".join(marked).translate(_CONTROLS).split())
        + ("…" if end < len(text) else "")
    )


def _merged(hits: list[Word]) -> list[tuple[int, int]]:
    """Spans of the hits; overlapping bigrams become one span."""
    spans: list[tuple[int, int]] = []
    for hit in hits:
        if spans and hit.start <= spans[-1][1] and hit.start < hit.end and spans[-1][1] > hit.start:
            spans[-1] = (spans[-1][0], max(spans[-1][1], hit.end))
        else:
            spans.append((hit.start, hit.end))
    return spans


def _best_start(hits: list[tuple[int, int]]) -> int:
    """Where a window begins that holds the most hits, with a little room before the first."""
    if not hits:
        return 0
    starts = [left for left, _ in hits]
    reach = SNIPPET_CHARACTERS - _ROOM
    best = max(range(len(starts)), key=lambda at: bisect_left(starts, starts[at] + reach) - at)
    return max(0, starts[best] - _ROOM)
