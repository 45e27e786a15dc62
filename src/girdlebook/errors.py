"""Every error that girdlebook raises on purpose.

    GirdleError
    ├── ConfigError               a setting is wrong or unknown
    ├── ProfileError              a profile's name is wrong, taken or unknown
    ├── MissingExtra              an optional dependency is not installed
    ├── MemoryFileError           layer 1: the change was refused, the file is as it was
    │   ├── InvalidEntry              empty text, a delimiter inside, a missing argument
    │   ├── ThreatFound               the text looks like an instruction to the agent
    │   ├── OverLimit                 the entries would not fit
    │   ├── NoMatch                   no entry holds the given text
    │   ├── AmbiguousMatch            several entries hold it
    │   ├── TargetDisabled            the settings switched this target off
    │   └── UnreadableFile            the file exists but cannot be read as text
    ├── LedgerError               a change is not known, or cannot be taken back any more
    ├── LockTimeout               another process holds a lock for too long
    ├── StoreError                layer 2: the database refused
    │   ├── StoreBusy                 other writers kept it locked until the deadline
    │   ├── StoreFull                 no space left; what was stored before is intact
    │   ├── StoreCorrupt              the file is damaged or not a database
    │   ├── StoreForked               a connection was carried over a fork
    │   ├── SessionNotFound           no session has this id
    │   ├── AmbiguousSession          several sessions begin with this
    │   └── SessionMoved              somebody else went on with the session meanwhile
    ├── TitleError                a title is too long or taken
    ├── TransferError             an export, import, backup or restore was refused
    ├── ScopeError                a store bound to one user was asked about another
    ├── TurnError                 the five verbs were called in an impossible order
    ├── ToolError                 a tool refuses; its text goes to the model
    ├── ContextTooLarge           what cannot be compressed does not fit into the window
    └── ModelError                the model could not be asked, or answered nonsense
        ├── InvalidRequest            the vendor would refuse the request; it was not sent
        ├── ModelUnavailable          key, quota, overload or connection: it cannot be had now
        ├── ModelTimeout              it did not answer in time
        └── ContextOverflow           the model says that the request is too long

Each message says what was wrong and what to do next.  `answer()` is what a model sees when the error ends a tool
call; only `Toolbox` calls it.
"""

from collections.abc import Mapping, Sequence
from typing import Any


class GirdleError(Exception):
    """Base of all errors of this package."""

    def answer(self) -> dict[str, Any]:
        """The error as a tool answer: `success` false, `error` the message, and what helps to go on."""
        return {"success": False, "error": str(self)}


class ConfigError(GirdleError):
    """A setting is wrong or unknown."""


class ProfileError(GirdleError):
    """A profile's name is wrong, taken or unknown."""


class MissingExtra(GirdleError):
    """An optional dependency is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'girdlebook[{extra}]'")


class MemoryFileError(GirdleError):
    """A change to MEMORY.md or USER.md was refused; the file is as it was.

    `current_entries` and `usage` ("used/limit", characters) let the caller correct itself without another call; they
    are left out of the answer where they do not help.
    """

    def __init__(
        self,
        message: str,
        *,
        current_entries: Sequence[str] | None = None,
        usage: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.current_entries = None if current_entries is None else tuple(current_entries)
        self.usage = usage
        self.extra = dict(extra or {})

    def answer(self) -> dict[str, Any]:
        answer = super().answer()
        if self.current_entries is not None:
            answer["current_entries"] = list(self.current_entries)
        if self.usage is not None:
            answer["usage"] = self.usage
        return answer | self.extra


class InvalidEntry(MemoryFileError):
    """The text or the arguments cannot be an entry or name one."""


class ThreatFound(MemoryFileError):
    """The text looks like an instruction to the agent or hides characters."""


class OverLimit(MemoryFileError):
    """The entries would not fit into the character limit."""


class NoMatch(MemoryFileError):
    """No entry holds the given text."""


class AmbiguousMatch(MemoryFileError):
    """Several different entries hold the given text."""


class TargetDisabled(MemoryFileError):
    """The settings switched this target off."""


class UnreadableFile(MemoryFileError):
    """The file exists but cannot be read as UTF-8 text.  It is never treated as empty."""


class LedgerError(GirdleError):
    """A change is not known, or cannot be taken back any more."""


class LockTimeout(GirdleError):
    """Another process holds a lock for too long."""


class StoreError(GirdleError):
    """The session database refused."""


class StoreBusy(StoreError):
    """Other writers kept the database locked until the deadline."""


class StoreFull(StoreError):
    """No space left on the device; what was stored before is intact and this message is not stored."""


class StoreCorrupt(StoreError):
    """The file is damaged or is no database."""


class StoreForked(StoreError):
    """A connection was carried over a fork; open the store in the child instead."""


class SessionNotFound(StoreError):
    """No session has this id."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"no session {session_id[:80]!r}; `girdle sessions list` shows them")


class AmbiguousSession(StoreError):
    """Several sessions begin with what was given."""


class SessionMoved(StoreError):
    """Somebody else went on with the session meanwhile; resume it to go on from there."""


class TitleError(GirdleError):
    """A title is too long, or another session has it."""


class TransferError(GirdleError):
    """An export, import, backup or restore was refused; nothing was changed."""


class ScopeError(GirdleError):
    """A store bound to one user was asked about another."""


class TurnError(GirdleError):
    """begin_turn, context, add_reply, add_tool_result and end_turn were called in an impossible order."""


class ToolError(GirdleError):
    """A tool refuses; the text goes to the model as the call's result."""


class ModelError(GirdleError):
    """The model could not be asked, or its answer could not be understood."""


class InvalidRequest(ModelError):
    """A request that the vendor would refuse; it was not sent."""


class ModelUnavailable(ModelError):
    """The model cannot be had now: key, quota, rate limit, overload or connection."""


class ModelTimeout(ModelError):
    """The model did not answer in time."""


class ContextOverflow(ModelError):
    """The model says that the request is too long.

    `limit` is the window in tokens that it named, None where it named none.
    """

    def __init__(self, message: str, *, limit: int | None = None) -> None:
        super().__init__(message)
        self.limit = limit


class ContextTooLarge(GirdleError):
    """What cannot be compressed does not fit into the model's window; the message names the sizes."""


def one_line(error: Exception) -> str:
    """What a foreign error says, on one line of at most 300 characters."""
    return " ".join(str(error).split())[:300]
