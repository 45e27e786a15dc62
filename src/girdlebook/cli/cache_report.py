"""What a prompt cache made of a stored conversation: the report of `girdle sessions cache`."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from girdlebook import settings
from girdlebook.cache_account import CacheAccount, CachedRequest, Sent, account, rebuilt
from girdlebook.cli.output import COLUMNS, clip, notice, out, out_json
from girdlebook.cli.times import clock, iso
from girdlebook.compression.summary import bridge, is_summary, origin_of
from girdlebook.context import Context
from girdlebook.dialects.caching import Ttl
from girdlebook.profiles import Home
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.store import SessionRecord, StoredMessage
from girdlebook.tools import specs_from_json

_MOVES_SHOWN = 10


def report(store: SQLiteSessionStore, record: SessionRecord, home: Home, *, as_json: bool) -> None:
    """Print the account of one conversation.

    Parameters:
        home: whose settings say the ttl and the prices.
    """
    config = settings.load(home).config
    history, prompt, tools = store.history(record.id), *store.prompt_of(record.id)
    replaced = [one for one in store.replaced_summaries(record.id) if origin_of(one.message)]
    price = config.prices.get(record.model or "")
    ttl: Ttl = config.prompt_caching.cache_ttl
    sent: list[Sent] = []
    compressed_at: set[int] = set()
    for seen, answers in _between_compressions(history, replaced):
        compressed_at.add(len(sent))
        shown = Context(prompt or "", tuple(stored.message for stored in seen), specs_from_json(tools or "[]"))
        sent += rebuilt(shown, [stored.timestamp for stored in seen], answers=answers, ttl=ttl)
    figures = account(sent, dollars_per_million=price.input if price else None)
    moves = list(_cache_moves(figures.requests, compressed_at))
    if as_json:
        out_json(_cache_json(record.id, ttl, figures) | {"prompt_stored": prompt is not None, "moves": moves})
    else:
        _print_cache(record, ttl, figures, moves)
        if prompt is None:
            notice("the system prompt and the tools of this conversation are not stored, and not counted")


def _between_compressions(
    history: Sequence[StoredMessage], replaced: Sequence[StoredMessage]
) -> Iterator[tuple[Sequence[StoredMessage], list[int]]]:
    """What the model saw up to each compression and up to the end, and at which places new answers stand in it.

    Every summary tells which messages it stands for; what stood before it is taken to be what stands there now.
    """
    put_in = _put_in(history)
    said = sorted((stored for stored in history if stored.id not in put_in), key=lambda stored: stored.id)
    shown = [stored for stored in history if not stored.archived]
    place = next((place for place, stored in enumerate(shown) if is_summary(stored.message)), None)
    if place is None:
        yield history, list(range(len(history)))
        return
    numbers = [stored.id for stored in (*replaced, shown[place])]
    first = [stored for stored in said if stored.id < numbers[0]]
    yield first, list(range(len(first)))
    for summary, end in zip(replaced, numbers[1:], strict=True):
        origin = origin_of(summary.message)
        tail = [stored for stored in said if stored.id < end and origin is not None and stored.id > origin.last]
        noted = [replace(summary, message=bridge())] if tail and tail[0].message.role == "user" else []
        seen = [*shown[:place], summary, *noted, *tail]
        yield seen, [index for index, stored in enumerate(seen) if summary.id < stored.id and index > place]
    new = [index for index, stored in enumerate(shown) if stored.id > numbers[-1] and stored.id not in put_in]
    yield shown, [index for index in new if index > place]


def _put_in(history: Sequence[StoredMessage]) -> set[int]:
    """The messages that compression put between older ones, by their numbers."""
    found: set[int] = set()
    lowest = history[-1].id if history else 0
    for stored in reversed(history):
        if stored.id > lowest:
            found.add(stored.id)
        lowest = min(lowest, stored.id)
    return found


def _cache_moves(requests: Sequence[CachedRequest], compressed_at: Collection[int]) -> Iterator[dict[str, Any]]:
    """The requests at which cached tokens were lost: why, at which place, and what had to be written again.

    Parameters:
        compressed_at: the places of the first requests after each compression.
    """
    for place, request in enumerate(requests):
        if request.moved is None and not request.expired:
            continue
        why = "pause" if request.moved is None else "compression" if place in compressed_at else "change"
        yield {
            "request": place + 1,
            "at": iso(request.at),
            "why": why,
            "place": request.moved,
            "written_tokens": request.written,
        }


def _cache_json(session_id: str, ttl: Ttl, figures: CacheAccount) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "ttl": ttl,
        "requests": len(figures.requests),
        "input_tokens": figures.input_tokens,
        "read_tokens": figures.read,
        "written_tokens": figures.written,
        "plain_tokens": figures.plain,
        "hit_ratio": round(figures.hit_ratio, 4),
        "cost_tokens": round(figures.cost),
        "cost_to_none": round(figures.cost_to_none, 4),
        "cost_usd": figures.dollars,
    }


def _print_cache(record: SessionRecord, ttl: Ttl, figures: CacheAccount, moves: Sequence[dict[str, Any]]) -> None:
    out(clip(f"{record.id}  {record.title or ''}", COLUMNS))
    if not figures.requests:
        out("no answer was asked for yet")
        return
    out(f"requests       {len(figures.requests):>15,}   estimated, for a cache of {ttl}")
    out(f"input tokens   {figures.input_tokens:>15,}")
    for name, tokens in (("read", figures.read), ("written", figures.written), ("plain", figures.plain)):
        out(f"  {name:<12} {tokens:>15,}   {tokens / max(1, figures.input_tokens):6.1%}")
    dollars = "" if figures.dollars is None else f", {figures.dollars:.4f} USD"
    out(f"cost           {round(figures.cost):>15,}   {figures.cost_to_none:6.1%} of no cache{dollars}")
    if not moves:
        out("moved          nothing: every request begins with the one before it")
    for move, request in ((move, figures.requests[move["request"] - 1]) for move in moves[:_MOVES_SHOWN]):
        line = f"{clock(request.at)}, request {move['request']:,}: {move['why']}, {request.written:,} written"
        out(f"moved          {clip(line, COLUMNS - 15)}")
    if len(moves) > _MOVES_SHOWN:
        out(f"               and {len(moves) - _MOVES_SHOWN} more; --json tells all")
