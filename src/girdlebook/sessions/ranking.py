"""From index hits to a ranked list: what stands beside a message is evidence for it too (pure).

In a talk the question often holds the words of the turn before the answer.  So a message gets a share of its
neighbours' scores; the longer the neighbour, the smaller the share, since a long text holds any word by chance.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

NEIGHBOUR_SHARE = 0.4
"""The share of a short neighbour's score."""

SHORT_CHARACTERS = 400
"""Up to this length a neighbour counts in full; beyond it in inverse proportion."""

EVERY_BONUS = 1.25
"""What a message gets for holding all the words itself."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A message that may be an answer: `score` higher is better, `size` in characters."""

    id: int
    session_id: str
    score: float
    size: int
    has_every: bool


def ranked(found: Sequence[Candidate], beside: Iterable[Candidate]) -> list[Candidate]:
    """The candidates by score, best first; those with every word stand before the others.

    Parameters:
        found: hits of the index.
        beside: messages next to them; known ones are ignored.
    """
    known = {candidate.id: candidate for candidate in beside} | {candidate.id: candidate for candidate in found}
    order = sorted(known.values(), key=lambda candidate: (candidate.session_id, candidate.id))
    scored = []
    for index, candidate in enumerate(order):
        around = [order[at] for at in (index - 1, index + 1) if 0 <= at < len(order)]
        support = sum(_share(other) for other in around if other.session_id == candidate.session_id)
        own = candidate.score * (EVERY_BONUS if candidate.has_every else 1.0)
        scored.append(replace(candidate, score=own + support))
    return sorted(scored, key=lambda candidate: (-candidate.score, -candidate.id))


def _share(neighbour: Candidate) -> float:
    return NEIGHBOUR_SHARE * neighbour.score * min(1.0, SHORT_CHARACTERS / max(1, neighbour.size))
