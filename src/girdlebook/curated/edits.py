"""What `add`, `replace` and `remove` do to a list of entries.  Pure: no file, no limit."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

from girdlebook.curated.document import SEPARATOR, folded, holds_separator, tidy
from girdlebook.errors import AmbiguousMatch, InvalidEntry, LedgerError, MemoryFileError, NoMatch, ThreatFound
from girdlebook.safety import SCAN_LIMIT, scan

Action = Literal["add", "replace", "remove"]
ACTIONS: tuple[Action, ...] = get_args(Action)

_PREVIEW_CHARS = 80
_ALLOWED_CONTROLS = "\t\n\r"


@dataclass(frozen=True, slots=True)
class Operation:
    """One change that is asked for.

    `content` is the new text of add and replace; `old_text` names the entry of replace and remove: the whole entry, or
    a piece that only this entry holds.
    """

    action: Action
    content: str | None = None
    old_text: str | None = None

    @classmethod
    def of(cls, arguments: object) -> Self:
        """Read what a model or a caller wrote; `new_text` may stand for `content` (report L1-22).

        Raises:
            InvalidEntry: it is no object, the action is missing or unknown, or a text is not text.
        """
        if isinstance(arguments, cls):
            return arguments
        if not isinstance(arguments, Mapping):
            raise InvalidEntry(f"an operation must be an object with an action, not {type(arguments).__name__}.")
        action = arguments.get("action")
        if action not in ACTIONS:
            raise InvalidEntry(f"action is {action!r}; it must be one of {', '.join(ACTIONS)}.")
        content = arguments.get("content")
        if content is None:
            content = arguments.get("new_text")
        return cls(action, _text("content", content), _text("old_text", arguments.get("old_text")))


@dataclass(frozen=True, slots=True)
class Edit:
    """One entry that changed: its text before (None if it is new) and after (None if it is gone)."""

    action: Action
    before: str | None
    after: str | None


class WorkingCopy:
    """The entries of one file while operations are applied to them, and the edits so far.

    Parameters:
        entries: what the file holds.
        shown: how an entry may be shown to a model; what it gives is accepted as the entry's name, too.
    """

    def __init__(self, entries: Sequence[str], shown: Callable[[str], str]) -> None:
        self.entries = list(entries)
        self.edits: list[Edit] = []
        self.duplicates = 0
        self._shown = shown

    def apply(self, operation: Operation) -> None:
        """Apply one operation; adding what is there already changes nothing.

        Raises:
            InvalidEntry: a text is missing, empty or cannot be an entry.
            ThreatFound: the scan holds the new text back.
            NoMatch, AmbiguousMatch: `old_text` names no entry, or several different ones.
        """
        match operation.action:
            case "add":
                self._add(checked(operation.content, "add"))
            case "replace":
                wanted = _named(operation.old_text, "replace")
                content = checked(operation.content, "replace")
                self._replace(self._find(wanted), content)
            case "remove":
                self._remove(self._find(_named(operation.old_text, "remove")))

    def apply_all(self, operations: Sequence[Operation | Mapping[str, object]]) -> None:
        """Apply operations one after the other, each to what the ones before it left.

        Raises:
            MemoryFileError: of the first that fails, with its place and action.  Throw this copy away then.
        """
        for number, operation in enumerate(operations, 1):
            try:
                self.apply(Operation.of(operation))
            except MemoryFileError as error:
                place = f"operation {number}{_action_of(operation)}"
                raise type(error)(
                    f"{place}: {error} None of the operations were applied.", extra=error.extra
                ) from error

    def take_back(self, before: str | None, after: str | None) -> None:
        """Undo a change, whatever the scan says of the text that comes back: it was there before.

        Parameters:
            before, after: the entry's text before and after the change; None where it was new or went.

        Raises:
            LedgerError: the entry has changed since, or is there already.
        """
        if after is not None and after not in self.entries:
            raise LedgerError("the entry has changed since; take back its later change first")
        if before is not None and before in self.entries:
            raise LedgerError("the entry is there already; there is nothing to take back")
        if after is None:
            self.entries.append(before or "")
            self.edits.append(Edit("add", None, before))
        elif before is None:
            self.entries.remove(after)
            self.edits.append(Edit("remove", after, None))
        else:
            self.entries[self.entries.index(after)] = before
            self.edits.append(Edit("replace", after, before))

    def _add(self, content: str) -> None:
        if self._twin(content) is None:
            self.entries.append(content)
            self.edits.append(Edit("add", None, content))
        else:
            self.duplicates += 1

    def _replace(self, index: int, content: str) -> None:
        before = self.entries[index]
        if before == content:
            self.duplicates += 1
            return
        del self.entries[index]
        twin = self._twin(content)
        if twin is None:
            self.entries.insert(index, content)
        self.edits.append(Edit("replace", before, content if twin is None else twin))

    def _remove(self, index: int) -> None:
        self.edits.append(Edit("remove", self.entries.pop(index), None))

    def _twin(self, content: str) -> str | None:
        return next((entry for entry in self.entries if folded(entry) == folded(content)), None)

    def _find(self, wanted: str) -> int:
        """The place of the entry that is meant: an exact match wins over a substring (report L1-17)."""
        exact = [i for i, entry in enumerate(self.entries) if wanted in (entry, self._shown(entry))]
        found = exact or [i for i, entry in enumerate(self.entries) if wanted in entry]
        if not found:
            raise NoMatch(f"no entry holds {_preview(wanted)!r}; copy old_text letter by letter from current_entries.")
        if len(found) > 1:
            raise self._ambiguous(found)
        return found[0]

    def _ambiguous(self, found: Sequence[int]) -> AmbiguousMatch:
        return AmbiguousMatch(
            f"{len(found)} entries hold old_text; give more of the one that is meant, or all of it.",
            extra={"matches": [_preview(self._shown(self.entries[index])) for index in found]},
        )


def checked(content: str | None, action: Action) -> str:
    """The text as it will be stored: plain line ends, no outer blanks.

    Raises:
        InvalidEntry: it is missing or empty, or holds the separator, control characters or half a surrogate pair.
        ThreatFound: the scan holds it back.
    """
    if content is None:
        raise InvalidEntry(f"{action} needs content: the text of the entry.")
    entry = tidy(content)
    if not entry:
        raise InvalidEntry("content is empty; to delete an entry use the action remove.")
    if holds_separator(content):
        raise InvalidEntry(f"content has a line that holds only {SEPARATOR}, which parts entries; leave that line out.")
    _check_characters(content)
    _check_threats(content.strip().removeprefix("\ufeff"))
    return entry


def _check_characters(content: str) -> None:
    if len(content) > SCAN_LIMIT:
        raise InvalidEntry(f"content has {len(content):,} characters; say it in a few sentences.")
    for char in content:
        if unicodedata.category(char) in ("Cc", "Cs") and char not in _ALLOWED_CONTROLS:
            raise InvalidEntry(f"content holds U+{ord(char):04X}, a character that is no text; leave it out.")


def _check_threats(content: str) -> None:
    verdict = scan(content)
    if verdict.action == "quarantine":
        raise ThreatFound(
            f"content was not saved: it matches {', '.join(verdict.rules)}. Memory holds facts, never instructions to "
            "the agent or hidden characters; state the plain fact, or leave it out.",
            extra={"rules": list(verdict.rules)},
        )


def _named(old_text: str | None, action: Action) -> str:
    """The text that names an entry.  An empty one names none, or it would name all (report L1-22)."""
    wanted = tidy(old_text or "")
    if not wanted:
        raise InvalidEntry(f"{action} needs old_text: the entry's text, or a piece that only this entry holds.")
    return wanted


def _action_of(operation: object) -> str:
    action = operation.get("action") if isinstance(operation, Mapping) else getattr(operation, "action", None)
    return f" ({action})" if action in ACTIONS else ""


def _text(name: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidEntry(f"{name} must be text, not {type(value).__name__}.")
    return value


def _preview(text: str) -> str:
    return text if len(text) <= _PREVIEW_CHARS else text[:_PREVIEW_CHARS] + "..."
