"""What a session costs with a vendor's prompt cache: `python -m benchmarks.prompt_cache [--json] [--turns N …]`.

Sessions are held through `Memory`, with scripted answers: four model calls a turn, about 14,000 tokens of instructions
and tools, 1,300 of memory, a memory write in every tenth turn, compression at 150,000 tokens by the digest.  The
requests are those of `girdlebook.dialects`; what a cache makes of them is `girdlebook.cache_account`, with its sizes.

`frozen` is this project's way: the memory in the system prompt stays as it was when the session began.  `live` is the
same session with the memory put in anew after each write.  Costs are in tokens at the base input price; answers cost
the same either way and are left out.
"""

import argparse
import datetime
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from girdlebook import Context, Memory, MemorySession, Message, Reply, ToolCall, ToolSpec
from girdlebook.cache_account import CacheAccount, CachedRequest, PromptCache, summed
from girdlebook.compression.flush import LEAST_MESSAGES, flush_on_auxiliary, flush_on_main
from girdlebook.curated.tool import MemoryTool
from girdlebook.dialects import anthropic
from girdlebook.dialects.caching import Ttl, system_and_3
from girdlebook.models.base import OnText
from girdlebook.tokens import estimate_context, estimate_text

LEAST_FROZEN_HIT_RATIO = 0.985
DOLLARS_PER_MILLION = 3.0
TTLS: tuple[Ttl, ...] = ("5m", "1h")

_CONTEXT_LENGTH = 300_000
_TOOL_CALLS = 3
_WRITE_EVERY = 10
_DAY = datetime.date(2026, 11, 30)
_FLUSH_SECONDS = 30.0
_WORDS = (
    *("the", "of", "and", "a", "to", "in", "is", "that", "for", "with", "on", "as", "by", "this", "from", "or", "not"),
    *("server", "release", "branch", "column", "report", "customer", "ledger", "window", "garden", "weather"),
    *("reads", "keeps", "writes", "returns", "compares", "moves", "opens", "closes", "counts", "answers", "waits"),
    *("small", "early", "second", "open", "plain", "written", "green", "quiet", "northern", "weekly", "shared"),
)

Kind = Literal["turn", "flush_main", "flush_auxiliary"]


@dataclass(frozen=True, slots=True)
class Size:
    """How large the parts of a session are, in tokens, and the seconds between its requests."""

    instructions: int = 7_000
    tools: int = 12
    tool: int = 410
    memory: int = 1_300
    question: int = 100
    argument: int = 60
    result: int = 700
    answer: int = 300
    between_calls: float = 8.0
    between_turns: float = 45.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that the session made: what the model saw, the same with the live memory, when, and what for."""

    context: Context
    live: Context
    at: float
    kind: Kind = "turn"


@dataclass(frozen=True, slots=True)
class Replayed:
    """A session's requests in order, and what happened in it."""

    asked: list[Asked]
    compressions: int
    memory_writes: int


@dataclass(frozen=True, slots=True)
class Figures:
    """One session with one time to live.  Costs are in tokens at the base input price.

    `flush_main` is what flushes with the session's own model add to its cost, `flush_auxiliary` what they cost with
    another model, at that model's price; below `auxiliary_price_to_gain` of the main price the other one is cheaper.
    """

    turns: int
    ttl: Ttl
    requests: int
    input_tokens: int
    compressions: int
    memory_writes: int
    flushes: int
    frozen_hit_ratio: float
    live_hit_ratio: float
    cost_none: int
    cost_frozen: int
    cost_live: int
    cost_frozen_to_none: float
    cost_live_to_frozen: float
    flush_main: int
    flush_auxiliary: int
    auxiliary_price_to_gain: float | None
    dollars: dict[str, float]
    moved: list[str]


@dataclass(frozen=True, slots=True)
class PromptCacheFigures:
    """All figures; the ratios of the first session with the shorter time to live stand on top.

    `beginning_tokens` are the system prompt and the tools, without the memory.
    """

    frozen_hit_ratio: float
    live_hit_ratio: float
    cost_frozen_to_none: float
    cost_live_to_frozen: float
    least_frozen_hit_ratio: float
    beginning_tokens: int
    memory_tokens: int
    sessions: list[Figures]
    seconds: float
    machine: str


def main() -> None:
    """Measure and print; the exit code is 1 where too little is read from the cache."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--turns", type=int, nargs="+", default=[30, 200], help="length of each session")
    arguments = parser.parse_args()
    figures = measure(arguments.turns)
    print(json.dumps(asdict(figures), indent=2) if arguments.json else as_text(figures))
    sys.exit(figures.least_frozen_hit_ratio < LEAST_FROZEN_HIT_RATIO)


def measure(turns: Sequence[int], size: Size | None = None) -> PromptCacheFigures:
    """Hold a session of each length, each in a home of its own, and account for it with each time to live.

    Parameters:
        size: None for the session that this module describes.
    """
    size = size or Size()
    started = time.perf_counter()
    sessions: list[Figures] = []
    memory_tokens = sum(map(estimate_text, memory_entries(size)))
    beginning = 0
    for length in turns:
        with tempfile.TemporaryDirectory() as folder:
            replayed = replay(Path(folder), length, size)
        sessions += figures_of(replayed, length)
        beginning = estimate_context(replace(replayed.asked[0].context, messages=()))
    first = sessions[0]
    return PromptCacheFigures(
        frozen_hit_ratio=first.frozen_hit_ratio,
        live_hit_ratio=first.live_hit_ratio,
        cost_frozen_to_none=first.cost_frozen_to_none,
        cost_live_to_frozen=first.cost_live_to_frozen,
        least_frozen_hit_ratio=min(one.frozen_hit_ratio for one in sessions),
        beginning_tokens=beginning - memory_tokens,
        memory_tokens=memory_tokens,
        sessions=sessions,
        seconds=round(time.perf_counter() - started, 1),
        machine=f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
    )


def as_text(figures: PromptCacheFigures) -> str:
    """The figures for people."""
    lines = [
        f"{one.turns:>4} turns {one.ttl}  {one.input_tokens / 1e6:5.1f} M tokens  hit {one.frozen_hit_ratio:.1%} frozen"
        f" {one.live_hit_ratio:.1%} live  ${one.dollars['frozen']:.2f} frozen ${one.dollars['live']:.2f} live"
        f" ${one.dollars['none']:.2f} none  {one.flushes} flushes ${one.dollars['flush_main']:.2f} main"
        f" ${one.dollars['flush_auxiliary']:.2f} auxiliary"
        for one in figures.sessions
    ]
    return "\n".join([*lines, f"${DOLLARS_PER_MILLION:g} a million tokens, {figures.seconds} s, {figures.machine}"])


# ── the session ─────────────────────────────────────────────────────────────────────────────────────────────────


def replay(home: Path, turns: int, size: Size) -> Replayed:
    """Hold a session through `Memory` and keep what the model was shown."""
    with Memory.open(home, context_length=_CONTEXT_LENGTH) as memory:
        for place, entry in enumerate(memory_entries(size)):
            memory.store.add("user" if place == 0 else "memory", entry)
        with memory.session(instructions(size), tools=tool_specs(size), today=_DAY) as session:
            holder = _Holder(memory, session, size)
            for turn in range(turns):
                holder.hold(turn)
            holder.flush_at_the_end()
            return Replayed(holder.asked, holder.compressions, holder.memory_writes)


@dataclass(slots=True)
class _Holder:
    """Holds the turns of one session, its clock and its list of requests."""

    memory: Memory
    session: MemorySession
    size: Size
    asked: list[Asked] = field(default_factory=list)
    compressions: int = 0
    memory_writes: int = 0
    _frozen: str = ""
    _flushed_at: int = 0
    _now: float = 0.0
    _random: random.Random = field(default_factory=lambda: random.Random(7))

    def __post_init__(self) -> None:
        self._frozen = self.memory.store.snapshot().text

    def hold(self, turn: int) -> None:
        """One turn: three rounds of the caller's tool, then an answer; in some, a memory write beside the first."""
        self._now += self.size.between_turns
        self.session.begin_turn(f"Question {turn}: {filler(self.size.question, self._random)}")
        for number in range(_TOOL_CALLS):
            self._ask()
            calls = [self._tool_call(turn, number)]
            if number == 0 and turn % _WRITE_EVERY == _WRITE_EVERY - 1:
                calls.insert(0, memory_call(turn))
                self.memory_writes += 1
            self.session.add_reply(Reply(Message("assistant", "Let me look that up.", tuple(calls))))
            for call in self.session.pending_calls:
                self.session.add_tool_result(call.id, filler(self.size.result, self._random))
        self._ask()
        self.session.add_reply(Reply(Message("assistant", filler(self.size.answer, self._random))))
        self.session.end_turn()

    def flush_at_the_end(self) -> None:
        """What closing a session flushes, where enough turns have passed."""
        if 0 < self.memory.config.memory.flush_min_turns <= self.session.turns - self._flushed_at:
            self._flush()

    def _ask(self) -> None:
        self._now += self.size.between_calls
        fill = self.session.fill
        if fill.tokens >= fill.threshold:
            self._flush()
        before = len(self.session.messages)
        context = self.session.context()
        if len(context.messages) < before:
            self.compressions += 1
            self._frozen = self.memory.store.snapshot().text
        self.asked.append(Asked(context, self._live(context), self._now))

    def _live(self, context: Context) -> Context:
        """The same with the memory as it is now."""
        assert self._frozen in context.system
        live = self.memory.store.snapshot().text
        return replace(context, system=context.system.replace(self._frozen, live))

    def _flush(self) -> None:
        """The requests that a flush makes here, with the session's own model and with another one."""
        if not self.asked or len(self.session.messages) < LEAST_MESSAGES:
            return
        self._flushed_at = self.session.turns
        context = replace(self.asked[-1].context, messages=self.session.messages)
        tool = MemoryTool(self.memory.store).tool
        listener = _Listener()
        flush_on_main(listener, context, tool, timeout=_FLUSH_SECONDS)
        flush_on_auxiliary(listener, context, tool, timeout=_FLUSH_SECONDS)
        kinds: tuple[Kind, Kind] = ("flush_main", "flush_auxiliary")
        for kind, heard in zip(kinds, listener.heard, strict=True):
            self.asked.append(Asked(heard, heard, self._now, kind))

    def _tool_call(self, turn: int, number: int) -> ToolCall:
        arguments = json.dumps({"query": filler(self.size.argument, self._random)})
        return ToolCall(f"call_{turn}_{number}", "tool_0", arguments)


class _Listener:
    """A model that keeps what it was shown and saves nothing."""

    name = "listener"

    def __init__(self) -> None:
        self.heard: list[Context] = []

    def reply(self, context: Context, on_text: OnText | None = None) -> Reply:
        """Nothing to save."""
        self.heard.append(context)
        return Reply(Message("assistant", "Nothing to save."))


# ── its words ───────────────────────────────────────────────────────────────────────────────────────────────────


def filler(tokens: int, source: random.Random) -> str:
    """Sentences of about that many tokens."""
    sentences: list[str] = []
    total = 0
    while total < tokens:
        sentence = " ".join(source.choices(_WORDS, k=14)).capitalize() + f" {source.randrange(100)}."
        sentences.append(sentence)
        total += estimate_text(sentence)
    return " ".join(sentences)


def instructions(size: Size) -> str:
    """The caller's part of the system prompt."""
    return filler(size.instructions, random.Random(1))


def tool_specs(size: Size) -> list[ToolSpec]:
    """The caller's tools."""
    source = random.Random(2)
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    return [ToolSpec(f"tool_{number}", filler(size.tool, source), schema) for number in range(size.tools)]


def memory_entries(size: Size) -> list[str]:
    """What the memory holds from the start: one entry on the person, and notes in Chinese, which are dense."""
    source = random.Random(3)
    note = "服务 {port} 的测试用 pytest 运行，发布以前先做备份，每个星期一写一份简短的报告，不要加班。"
    entries, total = ["The person prefers short answers and works in Xiamen. " + _STATE.format(turn=0)], 0
    while total < size.memory:
        entries.append(note.format(port=source.randrange(10_000, 60_000)))
        total = sum(map(estimate_text, entries))
    return entries


_STATE = "Note of turn {turn:03}."


def memory_call(turn: int) -> ToolCall:
    """A memory write that keeps the size: it replaces what the last one wrote."""
    edit = {"action": "replace", "target": "user", "old_text": "The person prefers short answers"}
    content = "The person prefers short answers and works in Xiamen. " + _STATE.format(turn=turn)
    return ToolCall(f"memory_{turn}", "memory", json.dumps(edit | {"content": content}))


# ── its account ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Caches:
    """The caches of one time to live, one for each way to hold the session."""

    def __init__(self, ttl: Ttl) -> None:
        self.ttl = ttl
        self._caches = {name: PromptCache() for name in ("frozen", "live", "flushed", "auxiliary")}
        self._seen: dict[str, list[CachedRequest]] = {name: [] for name in self._caches}

    def send(self, name: str, body: dict[str, object], at: float) -> None:
        """Send a request, not marked yet, to one of the caches."""
        self._seen[name].append(self._caches[name].send(system_and_3(body, ttl=self.ttl), at))

    def account(self, name: str) -> CacheAccount:
        """The account of one of the ways."""
        return summed(self._seen[name], dollars_per_million=DOLLARS_PER_MILLION)


def figures_of(replayed: Replayed, turns: int) -> list[Figures]:
    """The figures of one session, for each time to live."""
    caches = [_Caches(ttl) for ttl in TTLS]
    for asked in replayed.asked:
        body = anthropic.request(asked.context)
        live = body | {"system": [{"type": "text", "text": asked.live.system}]}
        for cache in caches:
            for name in _ways(asked.kind):
                cache.send(name, live if name == "live" else body, asked.at)
    return [_figures(replayed, turns, cache) for cache in caches]


def _ways(kind: Kind) -> Iterator[str]:
    match kind:
        case "turn":
            yield from ("frozen", "live", "flushed")
        case "flush_main":
            yield "flushed"
        case "flush_auxiliary":
            yield "auxiliary"


def _figures(replayed: Replayed, turns: int, caches: _Caches) -> Figures:
    frozen, live = caches.account("frozen"), caches.account("live")
    auxiliary = caches.account("auxiliary")
    flush_main = caches.account("flushed").cost - frozen.cost
    costs = {
        "none": float(frozen.input_tokens),
        "frozen": frozen.cost,
        "live": live.cost,
        "flush_main": flush_main,
        "flush_auxiliary": auxiliary.cost,
    }
    return Figures(
        turns=turns,
        ttl=caches.ttl,
        requests=len(frozen.requests),
        input_tokens=frozen.input_tokens,
        compressions=replayed.compressions,
        memory_writes=replayed.memory_writes,
        flushes=len(auxiliary.requests),
        frozen_hit_ratio=round(frozen.hit_ratio, 4),
        live_hit_ratio=round(live.hit_ratio, 4),
        cost_none=frozen.input_tokens,
        cost_frozen=round(frozen.cost),
        cost_live=round(live.cost),
        cost_frozen_to_none=round(frozen.cost_to_none, 4),
        cost_live_to_frozen=round(live.cost / frozen.cost, 4),
        flush_main=round(flush_main),
        flush_auxiliary=round(auxiliary.cost),
        auxiliary_price_to_gain=round(flush_main / auxiliary.cost, 4) if auxiliary.cost else None,
        dollars={name: round(cost * DOLLARS_PER_MILLION / 1e6, 4) for name, cost in costs.items()},
        moved=list(_moves(frozen.requests)),
    )


def _moves(requests: Iterable[CachedRequest]) -> Iterator[str]:
    for number, request in enumerate(requests, 1):
        if request.moved is not None:
            yield f"request {number}: {request.moved}"


if __name__ == "__main__":
    main()
