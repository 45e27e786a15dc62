"""What a vendor's prompt cache makes of a session's requests: tokens read, written and plain, and their cost (pure).

The public rules: a request is one row of blocks, tools before system before messages, and every marked block ends a
prefix that the vendor writes.  A later request reads the longest written prefix that it begins with, looked for at each
of its markers and up to 20 blocks back, if that was used within its time to live.  What it reads costs a tenth of the
base input price; what follows, up to the last marker, is written for 1.25 times that price (5 minutes) or twice it
(1 hour); the rest is plain.  Sizes are this project's estimates, so the figures compare requests and replace no bill.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from girdlebook.context import Context
from girdlebook.dialects import anthropic
from girdlebook.dialects.caching import Ttl, system_and_3
from girdlebook.messages import Message
from girdlebook.tokens import IMAGE_TOKENS, MESSAGE_TOKENS, estimate_text
from girdlebook.transcripts import mended

Body = Mapping[str, Any]
Sent = tuple[Body, float]
"""A request and the seconds at which it was sent, counted from any moment."""

_SECTIONS = ("tools", "system", "messages")
_DIGEST_BYTES = 16
_MILLION = 1_000_000

# Messages that no request was sent for.
_UNASKED = ("interrupted", "compression")

_Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class CacheRules:
    """The vendor's figures; prices are multiples of the base input price.

    Parameters:
        look_back: blocks that are looked at for each marker, the marked one included.
        least_tokens: a shorter prefix is not kept, whatever is marked.
        seconds: how long an unused prefix is kept, by the marker's ttl.
        write: the price of writing, by the marker's ttl.
        read: the price of reading.
    """

    look_back: int = 20
    least_tokens: int = 1_024
    seconds: Mapping[str, float] = field(default_factory=lambda: {"5m": 300.0, "1h": 3_600.0})
    write: Mapping[str, float] = field(default_factory=lambda: {"5m": 1.25, "1h": 2.0})
    read: float = 0.1


@dataclass(frozen=True, slots=True)
class CachedRequest:
    """What the cache made of one request, in tokens.

    `cost` is in tokens at the base input price.  `moved` is the first place at which the request is not the one before
    it (`system[0]`, `messages[3].content[0]`), None where it only grew.  `expired` are tokens that it would have read
    if they had not become too old.
    """

    at: float
    input_tokens: int
    read: int
    written: int
    plain: int
    cost: float
    moved: str | None = None
    expired: int = 0


@dataclass(frozen=True, slots=True)
class CacheAccount:
    """The sums over a session's requests, in tokens.

    `hit_ratio` is the share of the input that was read from the cache, `cost` is in tokens at the base input price,
    `dollars` is that in US dollars where a price was given.
    """

    requests: tuple[CachedRequest, ...]
    input_tokens: int
    read: int
    written: int
    plain: int
    hit_ratio: float
    cost: float
    dollars: float | None = None

    @property
    def cost_to_none(self) -> float:
        """The cost over what the same requests cost without a cache; 1 where there are none."""
        return self.cost / self.input_tokens if self.input_tokens else 1.0


def account(
    sent: Iterable[Sent], *, rules: CacheRules | None = None, dollars_per_million: float | None = None
) -> CacheAccount:
    """The account of a session's Messages API requests, in the order they were sent.

    Parameters:
        rules: None for the public ones.
        dollars_per_million: the base price of a million input tokens.
    """
    cache = PromptCache(rules)
    return summed([cache.send(request, at) for request, at in sent], dollars_per_million=dollars_per_million)


def summed(requests: Sequence[CachedRequest], *, dollars_per_million: float | None = None) -> CacheAccount:
    """The sums of what a `PromptCache` told request by request."""
    total = sum(request.input_tokens for request in requests)
    read = sum(request.read for request in requests)
    cost = sum(request.cost for request in requests)
    return CacheAccount(
        tuple(requests),
        input_tokens=total,
        read=read,
        written=sum(request.written for request in requests),
        plain=sum(request.plain for request in requests),
        hit_ratio=read / total if total else 0.0,
        cost=cost,
        dollars=None if dollars_per_million is None else cost * dollars_per_million / _MILLION,
    )


def rebuilt(
    context: Context, seconds: Sequence[float], *, answers: Collection[int] | None = None, ttl: Ttl = "5m"
) -> Iterator[Sent]:
    """The requests that led to a transcript's answers, with their markers: one for each, up to the message before it.

    Parameters:
        seconds: when each message was said; a request was sent when the last message in it was there.
        answers: the places of the answers that are wanted; None for all.

    Raises:
        InvalidRequest: the vendor would refuse them.
    """
    times = {id(message): said for message, said in zip(context.messages, seconds, strict=True)}
    wanted = range(len(context.messages)) if answers is None else answers
    wanted_ids = {id(context.messages[place]) for place in wanted}
    transcript = mended(context.messages)
    asked = [
        id(message) in wanted_ids and _was_asked_for(transcript, place) for place, message in enumerate(transcript)
    ]
    if not any(asked):
        return
    end = max(place for place, is_asked in enumerate(asked) if is_asked)
    body = anthropic.request(Context(context.system, tuple(transcript[:end]), context.tools))
    wire = body["messages"]
    ends = [place for place, message in enumerate(wire) if message["role"] == "assistant"] + [len(wire)]
    at, answer = 0.0, 0
    for message, is_asked in zip(transcript[: end + 1], asked, strict=False):
        if is_asked:
            yield system_and_3({**body, "messages": wire[: ends[answer]]}, ttl=ttl), at
        answer += message.role == "assistant"
        at = times.get(id(message), at)


def _was_asked_for(transcript: Sequence[Message], place: int) -> bool:
    message = transcript[place]
    if message.role != "assistant" or message.finish_reason in _UNASKED:
        return False
    return place > 0 and transcript[place - 1].role != "assistant"


@dataclass(slots=True)
class _Written:
    """A prefix in the cache: when it was last used, and how long it is kept after that, in seconds."""

    used_at: float
    kept: float


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of a request: where it stands, what it says, and the prefix that it ends.

    `own` is the digest of the block, `prefix` that of everything up to its end; `tokens` and `end` are their sizes.
    """

    place: _Place
    head: str
    body: Body
    ttl: str | None
    own: bytes
    tokens: int
    prefix: bytes
    end: int


class PromptCache:
    """A vendor's prompt cache, as the requests sent to it fill it.

    A request must not be changed after it was sent, since the next one is compared with it: only blocks that are new
    are written out and measured.  An answer is taken to begin before the next request is sent.
    """

    def __init__(self, rules: CacheRules | None = None) -> None:
        self._rules = rules or CacheRules()
        self._written: dict[bytes, _Written] = {}
        self._model: object = None
        self._before: list[_Block] | None = None

    def send(self, request: Body, at: float) -> CachedRequest:
        """What the cache makes of the next request.

        Parameters:
            request: a Messages API body with its `cache_control` markers.
            at: seconds, never less than at the request before.
        """
        blocks = self._blocks(request)
        moved = self._moved(request.get("model"), blocks)
        self._model, self._before = request.get("model"), blocks
        marked = [place for place, one in enumerate(blocks) if one.ttl and one.end >= self._rules.least_tokens]
        read, known = self._longest(blocks, marked, at), self._longest(blocks, marked, None)
        written, price = self._price(blocks, marked, read)
        self._use(blocks, marked, read, at)
        total = blocks[-1].end if blocks else 0
        return CachedRequest(
            at=at,
            input_tokens=total,
            read=read,
            written=written,
            plain=total - read - written,
            cost=read * self._rules.read + price + (total - read - written),
            moved=moved,
            expired=known - read,
        )

    def _blocks(self, request: Body) -> list[_Block]:
        before = self._before or []
        prefix, end = _digest(repr(request.get("model")).encode()), 0
        blocks: list[_Block] = []
        for index, (place, head, marked) in enumerate(_laid_out(request)):
            body, ttl = _unmarked(marked)
            old = before[index] if index < len(before) else None
            if old is not None and old.head == head and _same(old.body, body):
                own, tokens = old.own, old.tokens
            else:
                own, tokens = _digest(head.encode(), json.dumps(body, default=str).encode()), _size(head, body)
            prefix, end = _digest(prefix, own), end + tokens
            blocks.append(_Block(place, head, body, ttl, own, tokens, prefix, end))
        return blocks

    def _moved(self, model: object, blocks: Sequence[_Block]) -> str | None:
        if self._before is None:
            return None
        if model != self._model:
            return "model"
        for old, new in zip(self._before, blocks, strict=False):
            if old.prefix != new.prefix:
                return _described(min(old.place, new.place))
        return _described(self._before[len(blocks)].place) if len(blocks) < len(self._before) else None

    def _longest(self, blocks: Sequence[_Block], marked: Sequence[int], now: float | None) -> int:
        """Tokens of the longest written prefix in sight of a marker; with `now`, of those that are not too old."""
        for marker in reversed(marked):
            for place in range(marker, max(-1, marker - self._rules.look_back), -1):
                entry = self._written.get(blocks[place].prefix)
                if entry is not None and (now is None or now - entry.used_at <= entry.kept):
                    return blocks[place].end
        return 0

    def _price(self, blocks: Sequence[_Block], marked: Sequence[int], read: int) -> tuple[int, float]:
        """Tokens that are written, and what writing them costs."""
        done, price = read, 0.0
        for block in (blocks[place] for place in marked):
            if block.end > done:
                price += (block.end - done) * self._rules.write[block.ttl or "5m"]
                done = block.end
        return done - read, price

    def _use(self, blocks: Sequence[_Block], marked: Sequence[int], read: int, at: float) -> None:
        """Every prefix inside of what was read is used, every marked one is kept from now on."""
        for block in blocks:
            if block.end > read:
                break
            entry = self._written.get(block.prefix)
            if entry is not None and at - entry.used_at <= entry.kept:
                entry.used_at = at
        for block in (blocks[place] for place in marked):
            entry, kept = self._written.get(block.prefix), self._rules.seconds[block.ttl or "5m"]
            is_alive = entry is not None and at - entry.used_at <= entry.kept
            self._written[block.prefix] = _Written(at, max(kept, entry.kept) if entry and is_alive else kept)


def _laid_out(request: Body) -> Iterator[tuple[_Place, str, Body]]:
    """The blocks of a request in the vendor's order: place, kind or role, block."""
    for index, tool in enumerate(request.get("tools") or ()):
        yield (0, index, 0), "tools", tool
    for index, block in enumerate(_as_blocks(request.get("system") or ())):
        yield (1, index, 0), "system", block
    for index, message in enumerate(request["messages"]):
        for number, block in enumerate(_as_blocks(message["content"])):
            # A block that begins a message is not the same as one that goes on with it.
            yield (2, index, number), message["role"] if number else f"<{message['role']}>", block


def _as_blocks(content: str | Sequence[Body]) -> Sequence[Body]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _unmarked(block: Body) -> tuple[Body, str | None]:
    """The block without its marker, and the marker's ttl; a marker inside a tool's result ends the whole block."""
    parts = block.get("content")
    inner = [part["cache_control"] for part in parts if "cache_control" in part] if isinstance(parts, list) else []
    markers = [*inner, *([block["cache_control"]] if block.get("cache_control") else [])]
    if not markers:
        return block, None
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    if inner and isinstance(parts, list):
        plain["content"] = [{key: one for key, one in part.items() if key != "cache_control"} for part in parts]
    return plain, markers[-1].get("ttl") or "5m"


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are written the same way; unlike `==`, the order of keys counts."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _size(head: str, block: Body) -> int:
    """Tokens of a block, and of the message's border where it begins one."""
    return _tokens(block) + (MESSAGE_TOKENS if head.startswith("<") else 0)


def _tokens(block: Body) -> int:
    if "input_schema" in block:
        return estimate_text(block["name"] + block.get("description", "") + json.dumps(block["input_schema"]))
    match block.get("type"):
        case "text":
            return estimate_text(block["text"])
        case "image":
            return IMAGE_TOKENS
        case "tool_use":
            return estimate_text(block["name"]) + estimate_text(json.dumps(block["input"], ensure_ascii=False))
        case "tool_result":
            return sum(map(_tokens, _as_blocks(block.get("content") or ())))
        case _:
            return estimate_text(json.dumps(block, ensure_ascii=False, default=str))


def _digest(*parts: bytes) -> bytes:
    return blake2b(b"\0".join(parts), digest_size=_DIGEST_BYTES).digest()


def _described(place: _Place) -> str:
    section, index, number = place
    return f"{_SECTIONS[section]}[{index}]" + (f".content[{number}]" if section == 2 else "")
