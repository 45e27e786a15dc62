"""Phases 2 and 3: what of a transcript stays as it is, and what is to be summarised (pure; article section 6.1).

A call and its results are one unit and are never parted (report L3-01).  The newest message of the person always
stays, and stands behind the summary, so that it is the last word of a person that the model reads (report L3-25).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from girdlebook.compression.summary import is_bridge, is_summary
from girdlebook.messages import Message

LEAST_TAIL = 3
"""Messages that the tail has at the least."""


@dataclass(frozen=True, slots=True)
class Window:
    """Indexes into a transcript: `head`, an earlier summary, the `middle` to be summarised, then what stays."""

    head: tuple[int, ...]
    previous: int | None
    middle: tuple[int, ...]
    kept: tuple[int, ...]


def divide(
    messages: Sequence[Message],
    *,
    protect_first: int,
    head_tokens: int,
    tail_tokens: int,
    ceiling_tokens: int,
    size: Callable[[Message], int],
) -> Window:
    """Divide a valid transcript.

    Parameters:
        protect_first: messages of the head, beside the system message.
        head_tokens: what they may have at the most.
        tail_tokens: the tail's budget.
        ceiling_tokens: what the tail may reach so that a unit is not split.
        size: the tokens of a message.
    """
    previous = next((index for index, message in enumerate(messages) if is_summary(message)), None)
    newest = max((index for index, message in enumerate(messages) if _is_request(message)), default=None)
    whole = [unit for unit in units(messages) if not is_bridge(messages[unit.start])]
    border = min(index for index in (previous, newest, len(messages)) if index is not None)
    head = _head(messages, whole, border, protect_first, head_tokens, size)
    rest = [unit for unit in whole if unit.start > (head[-1] if head else -1) and unit.start != previous]
    tail = _tail(messages, rest, tail_tokens, ceiling_tokens, size)
    kept = sorted({*tail, *([newest] if newest is not None and newest not in head else [])})
    middle = [index for unit in rest for index in unit if index not in kept]
    return Window(tuple(head), previous, tuple(middle), tuple(kept))


def units(messages: Sequence[Message]) -> list[range]:
    """The smallest parts that may stand alone: a message, or a call with its results."""
    starts = [index for index, message in enumerate(messages) if message.role != "tool" or index == 0]
    return [range(start, end) for start, end in zip(starts, [*starts[1:], len(messages)], strict=True)]


def _is_request(message: Message) -> bool:
    return message.role == "user" and not is_summary(message)


def _head(
    messages: Sequence[Message],
    whole: Sequence[range],
    border: int,
    protect_first: int,
    most_tokens: int,
    size: Callable[[Message], int],
) -> list[int]:
    head: list[int] = []
    count = tokens = 0
    for unit in whole:
        is_system = messages[unit.start].role == "system"
        if unit.start >= border or (not is_system and count >= protect_first):
            break
        cost = sum(size(messages[index]) for index in unit)
        if not is_system and tokens + cost > most_tokens:
            break
        head += unit
        count += 0 if is_system else len(unit)
        tokens += 0 if is_system else cost
    return head


def _tail(
    messages: Sequence[Message], rest: Sequence[range], budget: int, ceiling: int, size: Callable[[Message], int]
) -> list[int]:
    tail: list[int] = []
    tokens = 0
    for unit in reversed(rest):
        cost = sum(size(messages[index]) for index in unit)
        if len(tail) >= LEAST_TAIL and (tokens >= budget or tokens + cost > ceiling):
            break
        tail += unit
        tokens += cost
    return tail
