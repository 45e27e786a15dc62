"""The cache-friendly promise as an assertion."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any


def assert_prefix_stable(requests: Sequence[Mapping[str, Any]]) -> None:
    """Check that each request of one session extends the one before it.

    Two requests have the same prefix when, after `cache_control` is taken out and plain text is read as one text
    block, everything beside `messages` is equal (model, system, tools and all settings) and the earlier messages are
    the first of the later ones.

    Parameters:
        requests: wire requests in the order they were sent, with `messages` and whatever else went along.

    Raises:
        AssertionError: naming the request and the first place that moved.
    """
    canonical = [{key: _canonical(value) for key, value in request.items()} for request in requests]
    for number, (before, after) in enumerate(pairwise(canonical), 2):
        for key in sorted((before.keys() | after.keys()) - {"messages"}):
            if before.get(key) != after.get(key):
                raise AssertionError(f"request {number}: {key!r} changed:\n{before.get(key)}\n{after.get(key)}")
        _assert_extends(number, before["messages"], after["messages"])


def _assert_extends(number: int, before: Sequence[Any], after: Sequence[Any]) -> None:
    if len(after) < len(before):
        raise AssertionError(f"request {number}: it has {len(after)} messages, the one before had {len(before)}")
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new:
            raise AssertionError(f"request {number}: message {index} changed:\n{old}\n{new}")


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {key: _canonical(item) for key, item in value.items() if key != "cache_control"}
        if isinstance(kept.get("content"), str):
            kept["content"] = [{"type": "text", "text": kept["content"]}]
        return kept
    return [_canonical(item) for item in value] if isinstance(value, list | tuple) else value
