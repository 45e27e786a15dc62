"""`Memory` and `MemorySession` for asyncio: the same names, run in worker threads.

SQLite and files block, so nothing is gained by a second code base; what a caller waits for here runs in a thread and
leaves the event loop free.  Properties that only look at what is there stay plain properties.
"""

import asyncio
import datetime
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from girdlebook.compression.compressor import CompressionResult
from girdlebook.config import Config
from girdlebook.context import Context
from girdlebook.curated.ledger import Ledger
from girdlebook.curated.store import MemoryStore
from girdlebook.errors import ContextOverflow, StoreError
from girdlebook.memory import Memory
from girdlebook.messages import Message, Reply, ToolCall, Usage
from girdlebook.meter import ContextFill
from girdlebook.models.base import ChatModel
from girdlebook.profiles import Home
from girdlebook.session import MemorySession
from girdlebook.sessions.store import SessionStore
from girdlebook.tools import ToolSpec

THREADS = 8
"""Worker threads of one home; SQLite lets one of them write at a time."""

R = TypeVar("R")


class _Threads(ThreadPoolExecutor):
    """Threads that know whether they were sent home."""

    is_closed = False

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.is_closed = True
        super().shutdown(wait, cancel_futures=cancel_futures)


class _Worker:
    """Runs calls in threads, one at a time for whoever shares this worker."""

    def __init__(self, threads: _Threads) -> None:
        self.threads = threads
        self._turn = asyncio.Lock()

    async def run(self, call: Callable[[], R]) -> R:
        """The call's result.  Who is cancelled meanwhile waits until the thread is done, so that none overlap."""
        async with self._turn:
            if self.threads.is_closed:
                raise StoreError("the memory is closed; open it again")
            running = asyncio.get_running_loop().run_in_executor(self.threads, call)
            cancelled: asyncio.CancelledError | None = None
            while not running.done():
                try:
                    await asyncio.wait([running])
                except asyncio.CancelledError as error:
                    cancelled = error
            if cancelled is not None:
                raise cancelled
            return running.result()


class AsyncMemorySession:
    """A `MemorySession` whose calls run in a worker thread, one after the other.  `AsyncMemory.session` makes one."""

    def __init__(self, session: MemorySession, threads: _Threads) -> None:
        self._session = session
        self._worker = _Worker(threads)

    async def begin_turn(self, text: str) -> None:
        await self._worker.run(partial(self._session.begin_turn, text))

    async def context(self) -> Context:
        return await self._worker.run(self._session.context)

    async def add_reply(self, reply: Reply) -> None:
        await self._worker.run(partial(self._session.add_reply, reply))

    async def add_tool_result(self, call_id: str, content: str, *, is_error: bool = False) -> None:
        await self._worker.run(partial(self._session.add_tool_result, call_id, content, is_error=is_error))

    async def end_turn(self) -> None:
        await self._worker.run(self._session.end_turn)

    async def interrupt(self, why: str = "interrupted") -> None:
        await self._worker.run(partial(self._session.interrupt, why))

    async def compress(self, focus: str | None = None) -> CompressionResult:
        return await self._worker.run(partial(self._session.compress, focus))

    async def overflowed(self, error: ContextOverflow) -> None:
        await self._worker.run(partial(self._session.overflowed, error))

    async def close(self, reason: str = "closed") -> None:
        await self._worker.run(partial(self._session.close, reason))

    @property
    def id(self) -> str:
        """The id under which the transcript is stored."""
        return self._session.id

    @property
    def usage(self) -> Usage:
        """What the session's model calls used."""
        return self._session.usage

    @property
    def turns(self) -> int:
        """How many turns there were."""
        return self._session.turns

    @property
    def notices(self) -> list[str]:
        return self._session.notices

    @property
    def fill(self) -> ContextFill:
        return self._session.fill

    @property
    def messages(self) -> tuple[Message, ...]:
        return self._session.messages

    @property
    def in_turn(self) -> bool:
        return self._session.in_turn

    @property
    def pending_calls(self) -> tuple[ToolCall, ...]:
        return self._session.pending_calls

    @property
    def awaiting_model(self) -> bool:
        return self._session.awaiting_model

    @property
    def turns_since_memory(self) -> int:
        return self._session.turns_since_memory

    @property
    def last_text(self) -> str:
        return self._session.last_text

    async def __aenter__(self) -> "AsyncMemorySession":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close("closed" if kind is None else "error")


class AsyncMemory:
    """A `Memory` whose calls run in worker threads: any number of sessions of one home at the same time."""

    def __init__(self, memory: Memory, threads: _Threads) -> None:
        self._memory = memory
        self._threads = threads
        self._worker = _Worker(threads)

    @classmethod
    async def open(
        cls,
        home: Home | Path | str | None = None,
        *,
        user_id: str | None = None,
        auxiliary_model: ChatModel | None = None,
        context_length: int | None = None,
    ) -> "AsyncMemory":
        threads = _Threads(THREADS, thread_name_prefix="girdlebook")
        return cls(
            await _Worker(threads).run(
                partial(
                    Memory.open, home, user_id=user_id, auxiliary_model=auxiliary_model, context_length=context_length
                )
            ),
            threads,
        )

    def for_user(self, user_id: str) -> "AsyncMemory":
        return AsyncMemory(self._memory.for_user(user_id), self._threads)

    async def session(
        self,
        instructions: str = "",
        *,
        source: str = "library",
        title: str | None = None,
        project: Path | None = None,
        tools: Sequence[ToolSpec] = (),
        model: str | None = None,
        main_model: ChatModel | None = None,
        context_length: int | None = None,
        today: datetime.date | None = None,
    ) -> AsyncMemorySession:
        session = await self._worker.run(
            partial(
                self._memory.session,
                instructions,
                source=source,
                title=title,
                project=project,
                tools=tools,
                model=model,
                main_model=main_model,
                context_length=context_length,
                today=today,
            )
        )
        return AsyncMemorySession(session, self._threads)

    async def resume(
        self,
        name: str,
        instructions: str = "",
        *,
        tools: Sequence[ToolSpec] = (),
        main_model: ChatModel | None = None,
        context_length: int | None = None,
        today: datetime.date | None = None,
    ) -> AsyncMemorySession:
        session = await self._worker.run(
            partial(
                self._memory.resume,
                name,
                instructions,
                tools=tools,
                main_model=main_model,
                context_length=context_length,
                today=today,
            )
        )
        return AsyncMemorySession(session, self._threads)

    async def close(self) -> None:
        if not self._threads.is_closed:
            await self._worker.run(self._memory.close)
            self._threads.shutdown(wait=False)

    @property
    def home(self) -> Home:
        """The home that is open."""
        return self._memory.home

    @property
    def config(self) -> Config:
        """Its settings."""
        return self._memory.config

    @property
    def user_id(self) -> str | None:
        """Whose memory this is; None for the home's owner."""
        return self._memory.user_id

    @property
    def store(self) -> MemoryStore:
        """Layer 1; its calls block."""
        return self._memory.store

    @property
    def ledger(self) -> Ledger:
        """What was done to the memory files; its calls block."""
        return self._memory.ledger

    @property
    def sessions(self) -> SessionStore:
        return self._memory.sessions

    @property
    def own_sessions(self) -> SessionStore:
        return self._memory.own_sessions

    async def __aenter__(self) -> "AsyncMemory":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _document(kind: type, original: type) -> None:
    """Give everything public the original's words."""
    for name, member in vars(original).items():
        if not name.startswith("_") and member.__doc__:
            twin = vars(kind)[name]
            getattr(twin, "__func__", twin).__doc__ = member.__doc__


_document(AsyncMemorySession, MemorySession)
_document(AsyncMemory, Memory)
