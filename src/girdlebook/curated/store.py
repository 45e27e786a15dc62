"""MemoryStore: the live entries of MEMORY.md and USER.md, changed under a lock."""

import hashlib
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self, cast

from girdlebook.curated.document import CharUsage, join, measure, parse
from girdlebook.curated.edits import Edit, Operation, WorkingCopy
from girdlebook.curated.ledger import OWNER, Ledger, Provenance
from girdlebook.curated.snapshot import FILE_NAMES, MemorySnapshot, Target, render_block, shown
from girdlebook.errors import (
    AmbiguousMatch,
    ConfigError,
    InvalidEntry,
    LedgerError,
    MemoryFileError,
    NoMatch,
    OverLimit,
    TargetDisabled,
    UnreadableFile,
)
from girdlebook.files import lock, write_atomically

_DIGEST_CHARS = 12
# Refusals that the caller can mend when it sees the entries.
_CORRECTABLE = (OverLimit, NoMatch, AmbiguousMatch, InvalidEntry)


@dataclass(frozen=True, slots=True)
class Change:
    """What a call did.

    `edits` are in the order they were made; it is empty where everything was there already.  `duplicates` counts the
    operations that changed nothing for that reason.  `entries` and `usage` describe the target afterwards.
    """

    target: Target
    edits: tuple[Edit, ...]
    duplicates: int
    entries: tuple[str, ...]
    usage: CharUsage


class MemoryStore:
    """Layer 1: a few entries in two files, within a limit of characters.

    It keeps no entries of its own.  Each read looks at the file; each change re-reads it under the lock, so what other
    writers and editors did is merged (report L1-01).  One store may be used by many threads.

    Entries that errors quote for a model (`current_entries`, `matches`) are shown as the snapshot shows them.
    """

    def __init__(
        self,
        paths: Mapping[Target, Path],
        limits: Mapping[Target, int],
        scopes: Mapping[Target, str],
        ledger: Ledger | None,
    ) -> None:
        self._paths = dict(paths)
        self._limits = dict(limits)
        self._scopes = dict(scopes)
        self._ledger = ledger

    @classmethod
    def open(
        cls,
        folder: Path | str,
        *,
        memory_char_limit: int = 2200,
        user_char_limit: int = 1375,
        user_folder: Path | str | None = None,
        targets: Sequence[str] = ("memory", "user"),
        ledger: Ledger | None = None,
    ) -> Self:
        """The store of a folder.  Nothing is read or made yet (report L1-38).

        Parameters:
            folder: where MEMORY.md and USER.md lie; made absolute here (report L1-36).
            memory_char_limit: characters that MEMORY.md may hold.
            user_char_limit: characters that USER.md may hold.
            user_folder: where USER.md lies if not in `folder`.
            targets: the targets that are switched on.
            ledger: where each change is entered; None for no record.

        Raises:
            ConfigError: a limit is not positive, or a target is unknown.
        """
        limits: dict[Target, int] = {"memory": memory_char_limit, "user": user_char_limit}
        folders: dict[Target, Path | str] = {"memory": folder, "user": folder if user_folder is None else user_folder}
        if unknown := [target for target in targets if target not in FILE_NAMES]:
            raise ConfigError(f"unknown memory target {unknown[0]!r}; there are: {', '.join(FILE_NAMES)}")
        for target, limit in limits.items():
            if limit < 1:
                raise ConfigError(f"the limit of {FILE_NAMES[target]} is {limit} characters; it must be at least 1")
        paths = {
            target: Path(folders[target]).absolute() / name for target, name in FILE_NAMES.items() if target in targets
        }
        user_scope = "user" if user_folder is None else f"user:{Path(user_folder).name}"
        return cls(paths, limits, {"memory": "memory", "user": user_scope}, ledger)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets that are switched on, memory before user."""
        return tuple(self._paths)

    def target(self, name: object) -> Target:
        """The target of this name.

        Raises:
            InvalidEntry: there is none.
            TargetDisabled: it is switched off.
        """
        names = ", ".join(repr(target) for target in self.targets) or "none"
        if not isinstance(name, str) or name not in FILE_NAMES:
            raise InvalidEntry(f"target is {name!r}; it must be one of: {names}.")
        target = cast("Target", name)
        if target not in self._paths:
            raise TargetDisabled(f"the target {name!r} is switched off in the settings; there are: {names}.")
        return target

    def path(self, target: str) -> Path:
        """The file of a target.  Raises as `target`."""
        return self._paths[self.target(target)]

    def entries(self, target: str) -> tuple[str, ...]:
        """The live entries, raw: also those that the snapshot holds back.

        Raises:
            InvalidEntry, TargetDisabled: as `target`.
            UnreadableFile: the file exists and is no UTF-8 text.
        """
        known = self.target(target)
        path = self._paths[known]
        return parse(_decoded(path, _read(path)), self._limits[known])

    def usage(self, target: str) -> CharUsage:
        """How full a target is.  Raises as `entries`."""
        known = self.target(target)
        return measure(self.entries(known), self._limits[known])

    def snapshot(self) -> MemorySnapshot:
        """The blocks for a system prompt, as the files are now.

        Raises:
            UnreadableFile: a file exists and is no UTF-8 text.
        """
        for target in self.targets:
            self._notice(target)
        return MemorySnapshot(**{target: self._block(target) for target in self.targets})

    def scopes(self) -> tuple[str, ...]:
        """The names that the ledger knows this store's files by."""
        return tuple(map(self.scope, self.targets))

    def scope(self, target: str) -> str:
        """The name that the ledger knows a target's file by.  Raises as `target`."""
        return self._scopes[self.target(target)]

    def add(self, target: str, content: str, *, provenance: Provenance = OWNER) -> Change:
        """Add an entry at the end; one that is there already, but for blanks, stays as it is.

        Parameters:
            provenance: who causes it, for the ledger.

        Raises:
            MemoryFileError: the change was refused; its type says why.  The file is as it was.
            LockTimeout: another process held the file for too long.
        """
        return self.edit(target, Operation.of({"action": "add", "content": content}), provenance=provenance)

    def replace(self, target: str, old_text: str, content: str, *, provenance: Provenance = OWNER) -> Change:
        """Put `content` in the place of the entry that is, or alone holds, `old_text`.  Raises as `add`."""
        operation = Operation.of({"action": "replace", "content": content, "old_text": old_text})
        return self.edit(target, operation, provenance=provenance)

    def remove(self, target: str, old_text: str, *, provenance: Provenance = OWNER) -> Change:
        """Remove the entry that is, or alone holds, `old_text`.  Raises as `add`."""
        operation = Operation.of({"action": "remove", "old_text": old_text})
        return self.edit(target, operation, provenance=provenance)

    def edit(self, target: str, operation: Operation, *, provenance: Provenance = OWNER) -> Change:
        """Apply one operation.  Raises as `add`."""
        return self._change(target, lambda copy: copy.apply(operation), provenance)

    def apply(
        self,
        target: str,
        operations: Sequence[Operation | Mapping[str, object]],
        *,
        provenance: Provenance = OWNER,
    ) -> Change:
        """Apply all operations, or none; only the result must fit into the limit (report L1-26).  Raises as `add`."""
        if not operations:
            raise InvalidEntry("operations is empty; list at least one, or use a single action.")
        return self._change(target, lambda copy: copy.apply_all(operations), provenance)

    def undo(self, number: int) -> Change:
        """Take a change back, by its number in the ledger; the way back is a change of its own.

        Raises:
            LedgerError: there is no ledger or no such change here, or the entry has changed since.
            MemoryFileError, LockTimeout: as `add`.
        """
        if self._ledger is None:
            raise LedgerError("no record is kept of this memory, so nothing can be taken back")
        event = self._ledger.event(number)
        target = next((one for one, scope in self._scopes.items() if scope == event.scope), None)
        if target is None:
            raise LedgerError(f"the change {number} is of another memory; name its user or profile")
        reason = Provenance("owner", reason=f"takes back change {number}")
        return self._change(target, lambda copy: copy.take_back(event.before, event.after), reason, undoes=number)

    def _block(self, target: Target) -> str | None:
        entries = self.entries(target)
        return render_block(target, entries, measure(entries, self._limits[target]))

    def _notice(self, target: Target) -> None:
        """Enter what an editor did meanwhile; a file that is as it was left is not locked for it."""
        if self._ledger is None:
            return
        scope, entries = self._scopes[target], self.entries(target)
        if (self._ledger.known(scope) or ()) != entries:
            with lock(self._paths[target]):
                self._ledger.notice(scope, self.entries(target))

    def _change(
        self,
        target: str,
        edit: Callable[[WorkingCopy], None],
        provenance: Provenance,
        *,
        undoes: int | None = None,
    ) -> Change:
        known = self.target(target)
        path = self._paths[known]
        try:
            with lock(path):
                return self._edit_locked(known, _read(path), edit, provenance, undoes)
        except OSError as error:
            raise MemoryFileError(f"{path} could not be changed: {error}. Free the way, then try again.") from error

    def _edit_locked(
        self,
        target: Target,
        data: bytes,
        edit: Callable[[WorkingCopy], None],
        provenance: Provenance,
        undoes: int | None,
    ) -> Change:
        path, limit = self._paths[target], self._limits[target]
        before = parse(_decoded(path, data), limit)
        if self._ledger is not None:
            self._ledger.notice(self._scopes[target], before)
        copy = WorkingCopy(before, partial(shown, target))
        usage = measure(before, limit)
        try:
            edit(copy)
            after = measure(copy.entries, limit)
            _check_size(path, usage, after, copy.edits)
        except _CORRECTABLE as error:
            error.current_entries = tuple(shown(target, entry) for entry in before)
            error.usage = usage.share
            error.extra["free_characters"] = usage.free
            raise
        if copy.edits:
            if _decoded(path, data).strip() != join(before):
                _back_up(path, data)
            write_atomically(path, join(copy.entries).encode())
            if self._ledger is not None:
                self._ledger.record(self._scopes[target], copy.edits, copy.entries, provenance, undoes=undoes)
        return Change(target, tuple(copy.edits), copy.duplicates, tuple(copy.entries), after)


def _check_size(path: Path, before: CharUsage, after: CharUsage, edits: Sequence[Edit]) -> None:
    """What shrinks is allowed even above the limit, so that an overfull file can be tidied step by step."""
    longest = max((len(edit.after or "") for edit in edits), default=0)
    if longest > after.limit or (after.used > after.limit and after.used > before.used):
        raise OverLimit(
            f"{path.name} would hold {after.share} characters, {after.used - after.limit:,} too many; {before.free:,} "
            "are free. Make room and add in one call: list in operations which entries to remove or to replace by "
            "something shorter, and the new entry; only the result must fit."
        )


def _read(path: Path) -> bytes:
    """The bytes of a file, none where it does not exist."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise UnreadableFile(f"{path} is no ordinary file; move it away, then try again.")
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}. Nothing was changed.") from error


def _decoded(path: Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"{path} is not UTF-8 text (byte {error.start}). Nothing was changed; save it as UTF-8, or move it away."
        ) from error
    if "\0" in text:
        raise UnreadableFile(f"{path} holds NUL bytes, so it is no text. Nothing was changed; move it away.")
    return text


def _back_up(path: Path, data: bytes) -> None:
    """Keep a hand-written layout that a rewrite will lose, once for each content (report L1-12)."""
    backup = path.with_name(f"{path.name}.bak.{hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]}")
    if not backup.exists():
        write_atomically(backup, data)
