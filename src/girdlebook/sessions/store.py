"""What a session store does, and the values it gives."""

import datetime
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from girdlebook.messages import Message, Role, Usage
from girdlebook.sessions.filters import SessionFilter


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """What is known of one conversation.  Times are seconds since 1970."""

    id: str
    source: str
    user_id: str | None
    title: str | None
    model: str | None
    parent_session_id: str | None
    started_at: float
    last_active: float
    ended_at: float | None = None
    end_reason: str | None = None
    message_count: int = 0
    tool_call_count: int = 0
    usage: Usage = field(default_factory=Usage)
    project: str | None = None
    preview: str = ""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one model used for one task (`chat`, `summary`, …); `calls` is the number of its calls."""

    model: str
    task: str
    calls: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Totals:
    """How much a store holds; `last_active` in seconds since 1970, None where nothing is there."""

    sessions: int
    messages: int
    last_active: float | None


@dataclass(frozen=True, slots=True)
class DayActivity:
    """One local day (`2026-11-30`): messages of how many conversations, and the tokens of the answers among them."""

    day: str
    sessions: int
    messages: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message with its number and its time.

    `archived` where compression took it out of the model's sight; `output_tokens` where the model told them.
    """

    id: int
    session_id: str
    timestamp: float
    message: Message
    archived: bool = False
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A message that was found; `score` is higher for better ones, `snippet` marks the words as >>>word<<<.

    `archived` says that compression took it out of the model's sight.
    """

    session_id: str
    message_id: int
    score: float
    snippet: str
    role: Role
    timestamp: float
    archived: bool = False


class SessionStore(Protocol):
    """Where conversations are kept.

    A store may be bound to one user: then sessions of others do not exist for it, and asking for them by `user_id`
    raises `ScopeError` (report L2-24).
    """

    @property
    def degraded(self) -> bool:
        """Whether the last search had to do without the index."""
        ...

    def create_session(
        self,
        id: str | None = None,
        *,
        source: str,
        user_id: str | None = None,
        title: str | None = None,
        started_at: float | None = None,
        parent_session_id: str | None = None,
        model: str | None = None,
        system_prompt: str | None = None,
        tool_specs: str | None = None,
        project: str | None = None,
    ) -> SessionRecord: ...

    def session(self, session_id: str) -> SessionRecord: ...

    def resolve(self, name: str) -> SessionRecord: ...

    def prompt_of(self, session_id: str) -> tuple[str | None, str | None]: ...

    def root_of(self, session_id: str) -> str: ...

    def tip_of(self, session_id: str) -> str: ...

    def titled(
        self,
        words: Collection[str],
        *,
        limit: int = 3,
        where: SessionFilter = SessionFilter(),  # noqa: B008
    ) -> list[SessionRecord]: ...

    def rename(self, session_id: str, title: str | None) -> SessionRecord: ...

    def reopen(
        self, session_id: str, *, system_prompt: str | None = None, tool_specs: str | None = None
    ) -> SessionRecord: ...

    def record_usage(self, session_id: str, usage: Usage, *, model: str | None, task: str) -> None: ...

    def usage(self, session_id: str | None = None) -> list[ModelUsage]: ...

    def activity(self, *, since: float) -> list[DayActivity]: ...

    def end_session(self, session_id: str, reason: str) -> None: ...

    def append(
        self,
        session_id: str,
        message: Message,
        *,
        timestamp: float | None = None,
        client_id: str | None = None,
        usage: Usage | None = None,
        model: str | None = None,
        after: int | None = None,
    ) -> int: ...

    def append_many(
        self, session_id: str, messages: Sequence[Message], *, timestamps: Sequence[float] | None = None
    ) -> list[int]: ...

    def messages(self, session_id: str, *, last: int | None = None) -> list[StoredMessage]: ...

    def history(self, session_id: str) -> list[StoredMessage]: ...

    def compact(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        numbers: Sequence[int | None],
        expected: Sequence[int],
        system_prompt: str,
        state: str,
    ) -> list[int]: ...

    def compression_state(self, session_id: str) -> str | None: ...

    def set_compression_state(self, session_id: str, state: str) -> None: ...

    def around(self, message_id: int, *, window: int = 5) -> list[StoredMessage]: ...

    def ends(self, session_id: str, *, first: int, last: int) -> tuple[list[StoredMessage], list[StoredMessage]]: ...

    def bookends(self, session_id: str, *, each: int = 3) -> tuple[list[StoredMessage], list[StoredMessage]]: ...

    def position(self, message_id: int) -> tuple[int, int]: ...

    def recent(
        self,
        *,
        limit: int = 20,
        offset: int = 0,
        where: SessionFilter = SessionFilter(),  # noqa: B008
    ) -> list[SessionRecord]: ...

    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        session_id: str | None = None,
        user_id: str | None = None,
        roles: Collection[str] | None = None,
        where: SessionFilter = SessionFilter(),  # noqa: B008
        live_excluded: str | None = None,
    ) -> list[SearchHit]: ...

    def delete_session(self, session_id: str) -> None: ...


def new_session_id() -> str:
    """An id that sorts by time and is read aloud easily: `20261201-142530-3f9c2a`."""
    return f"{datetime.datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
