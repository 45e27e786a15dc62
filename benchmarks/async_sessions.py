"""Many sessions of one home at once: `python -m benchmarks.async_sessions [--json] [--sessions N] [--turns N]`.

N sessions hold their turns at the same time through `AsyncMemory`.  `ratio` is the time that this takes over the time
of the same turns one after the other through `Memory`.  Every message is counted afterwards.
"""

import argparse
import asyncio
import json
import os
import platform
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from girdlebook import AsyncMemory, Memory, Message, Reply
from girdlebook.sessions.sqlite import SQLiteSessionStore


@dataclass(frozen=True, slots=True)
class AsyncSessions:
    """The figures; a turn is two messages.  Seconds are wall time."""

    sessions: int
    turns_each: int
    ratio: float
    turns_per_second: float
    seconds: float
    longest_wait: float
    messages_lost: int
    machine: str


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--sessions", type=int, default=200, help="sessions at the same time")
    parser.add_argument("--turns", type=int, default=5, help="turns of each")
    arguments = parser.parse_args()
    figures = asdict(measure(arguments.sessions, arguments.turns))
    print(json.dumps(figures, indent=2) if arguments.json else "\n".join(f"{k:>18}  {v}" for k, v in figures.items()))


def measure(sessions: int, turns: int) -> AsyncSessions:
    """Hold the conversations both ways, each in a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        alone, together = Path(folder) / "alone", Path(folder) / "together"
        started = time.perf_counter()
        one_after_the_other(alone, sessions, turns)
        baseline = time.perf_counter() - started
        started = time.perf_counter()
        waits = asyncio.run(at_once(together, sessions, turns))
        seconds = time.perf_counter() - started
        with SQLiteSessionStore.open_read_only(together / "state.db") as store:
            stored = store.totals().messages
    return AsyncSessions(
        sessions=sessions,
        turns_each=turns,
        ratio=round(seconds / baseline, 2),
        turns_per_second=round(sessions * turns / seconds, 1),
        seconds=round(seconds, 2),
        longest_wait=round(max(waits), 2),
        messages_lost=2 * sessions * turns - stored,
        machine=f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
    )


def one_after_the_other(home: Path, sessions: int, turns: int) -> None:
    """The yardstick."""
    with Memory.open(home) as memory:
        opened = [memory.session() for _ in range(sessions)]
        for turn in range(turns):
            for session in opened:
                session.begin_turn(f"what about {turn}?")
                session.add_reply(Reply(Message("assistant", f"this about {turn}")))
                session.end_turn()


async def at_once(home: Path, sessions: int, turns: int) -> list[float]:
    """All of them together; gives how long each turn took."""
    waits: list[float] = []

    async def talk(memory: AsyncMemory) -> None:
        session = await memory.session()
        for turn in range(turns):
            started = time.perf_counter()
            await session.begin_turn(f"what about {turn}?")
            await session.add_reply(Reply(Message("assistant", f"this about {turn}")))
            await session.end_turn()
            waits.append(time.perf_counter() - started)

    async with await AsyncMemory.open(home) as memory:
        await asyncio.gather(*(talk(memory) for _ in range(sessions)))
    return waits


if __name__ == "__main__":
    main()
