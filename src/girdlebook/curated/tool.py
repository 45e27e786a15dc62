"""The `memory` tool: how a model reads and changes layer 1 (article section 3.2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from girdlebook.curated.document import CharUsage
from girdlebook.curated.edits import ACTIONS, Action, Edit, Operation
from girdlebook.curated.ledger import Provenance
from girdlebook.curated.snapshot import FILE_NAMES, Target, shown
from girdlebook.curated.store import Change, MemoryStore
from girdlebook.errors import AmbiguousMatch, InvalidEntry, MemoryFileError, NoMatch, OverLimit
from girdlebook.tools import Tool, ToolSpec, Trust
from girdlebook.words import index_words

NAME = "memory"

MAX_FAILURES = 3
"""Failed consolidations in a turn after which a failing answer is final (reports L1-20, L1-23)."""

_SAID_SHARE = 0.5
"""The share of an entry's words from which on it is what the person said."""

_GUIDANCE = """\
Keep facts that will still matter in later conversations. What you save appears in your system prompt from the next \
conversation on; this one's prompt stays as it is.

SAVE without being asked, as soon as you learn it:
1. first: the person corrects you, or tells a preference, a habit or something about themselves;
2. then: a fact about the environment: machines, tools, versions, paths, conventions of a project;
3. last: a procedure or a trick that worked and will be needed again.
Write one short, self-contained statement of fact per entry, in the person's language; no orders to yourself.

DO NOT SAVE the progress of a task, what a session achieved, to-do lists, raw output, or what is easily looked up or \
stale in a week. Past conversations keep all that: use session_search.

TARGETS:"""

_TARGET_GUIDANCE: Mapping[Target, str] = {
    "user": "who the person is: name, role, preferences, style of communication, what annoys them",
    "memory": "your own notes: environment, projects and their conventions, quirks of tools, lessons learnt",
}

_HOW = """\
ACTIONS: add (content), replace (old_text, content), remove (old_text), list. old_text is the whole entry, or a piece \
of it that no other entry holds. When something saved turns out wrong, replace it rather than adding a second entry; \
when asked to forget something, remove it.

Make ONE call per turn and target: put several changes into operations. They are applied all or none, and only the \
result must fit.

WHEN FULL: in one call, remove what is out of date, replace related entries by one shorter entry, add the new one."""


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """One entry that the tool changed: `content` its text now (None if removed), `old_text` the text before, whole."""

    action: Action
    target: Target
    content: str | None
    old_text: str | None


class MemoryTool:
    """The tool over one store.

    Parameters:
        store: where the entries are; it must have at least one target.
        on_write: called once for each entry that a call changed, after the file is written.
    """

    def __init__(self, store: MemoryStore, *, on_write: Callable[[MemoryWrite], None] | None = None) -> None:
        self.spec = ToolSpec(NAME, _description(store.targets), _parameters(store.targets))
        self.tool = Tool(self.spec, self._run)
        self._store = store
        self._on_write = on_write
        self._failures = 0
        self._session_id: str | None = None
        self._said: frozenset[str] = frozenset()
        self._heard: set[Trust] = set()

    def start_turn(self, session_id: str | None = None, said: str = "") -> None:
        """A new turn: failures are counted from zero, and nothing was heard from other tools yet.

        Parameters:
            session_id: where it takes place, for the ledger.
            said: what the person wrote.
        """
        self._failures = 0
        self._session_id = session_id
        self._said = frozenset(index_words(said).split())
        self._heard = set()

    def heard(self, trust: Trust) -> None:
        """Another tool answered in this turn; what is written from now on may come from there."""
        self._heard.add(trust)

    def _provenance(self, arguments: Mapping[str, Any]) -> Provenance:
        """Where a write comes from: what the person said this turn stays theirs, whatever was read besides."""
        operations = arguments.get("operations") or [arguments]
        texts = [str(one.get("content") or one.get("new_text") or "") for one in operations if isinstance(one, Mapping)]
        words = index_words(" ".join(texts)).split()
        if words and sum(word in self._said for word in words) >= _SAID_SHARE * len(words):
            return Provenance("user_said", self._session_id)
        if "untrusted" in self._heard:
            return Provenance("untrusted", self._session_id)
        return Provenance("local_tool" if self._heard else "agent", self._session_id)

    def _run(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        target = self._store.target(arguments.get("target"))
        if arguments.get("action") in ("list", "read") and not arguments.get("operations"):
            return self._listing(target)
        change = self._counted(target, arguments)
        for edit in change.edits:
            self._tell(MemoryWrite(edit.action, change.target, edit.after, edit.before))
        return _answer(change)

    def _listing(self, target: Target) -> dict[str, Any]:
        entries = self._store.entries(target)
        usage = self._store.usage(target)
        message = "These are the entries as they are now."
        return _state(target, usage, entries, message) | {"entries": [shown(target, entry) for entry in entries]}

    def _counted(self, target: Target, arguments: Mapping[str, Any]) -> Change:
        """Change the store; a model that fails again and again is told to stop (report L1-20)."""
        batch = arguments.get("operations")
        try:
            change = self._batch(target, arguments) if batch else self._single(target, arguments)
        except AmbiguousMatch:
            raise
        except MemoryFileError as error:
            if batch or isinstance(error, (OverLimit, NoMatch)):
                self._failures += 1
            if self._failures > MAX_FAILURES:
                raise _final(error) from error
            raise
        self._failures = 0
        return change

    def _single(self, target: Target, arguments: Mapping[str, Any]) -> Change:
        if arguments.get("action") is None and arguments.get("operations") is not None:
            raise InvalidEntry("operations is empty; list at least one, or use a single action.")
        return self._store.edit(target, Operation.of(arguments), provenance=self._provenance(arguments))

    def _batch(self, target: Target, arguments: Mapping[str, Any]) -> Change:
        operations = arguments["operations"]
        if not isinstance(operations, list):
            raise InvalidEntry(f"operations must be a list of objects, not {type(operations).__name__}.")
        if any(arguments.get(name) for name in ("content", "new_text", "old_text")):
            raise InvalidEntry("give either operations or a single action with its texts, not both.")
        return self._store.apply(target, operations, provenance=self._provenance(arguments))

    def _tell(self, write: MemoryWrite) -> None:
        if self._on_write is not None:
            self._on_write(write)


def _answer(change: Change) -> dict[str, Any]:
    answer = _state(change.target, change.usage, change.entries, _message(change))
    described = [_described(change.target, edit) for edit in change.edits]
    if not described:
        return answer | {"duplicate": True}
    return answer | (described[0] if len(described) == 1 else {"changes": described})


def _state(target: Target, usage: CharUsage, entries: Sequence[str], message: str) -> dict[str, Any]:
    state = {
        "success": True,
        "done": True,
        "target": target,
        "usage": str(usage),
        "entry_count": len(entries),
        "message": message,
    }
    if usage.is_high:
        state["warning"] = (
            f"{FILE_NAMES[target]} is nearly full ({usage.share} characters, {usage.free:,} free). With your next "
            "change, remove or shorten what matters least, in one call with operations."
        )
    return state


def _message(change: Change) -> str:
    if not change.edits:
        return "It was there already; nothing changed, and nothing is left to do."
    if len(change.edits) + change.duplicates > 1:
        return f"Applied {len(change.edits) + change.duplicates} operations. They are stored; do not repeat them."
    done = {"add": "Added", "replace": "Replaced", "remove": "Removed"}[change.edits[0].action]
    return f"{done}. It is stored; do not repeat the call."


def _described(target: Target, edit: Edit) -> dict[str, str]:
    described: dict[str, str] = {"action": edit.action}
    if edit.after is not None:
        described["entry"] = edit.after
    if edit.before is not None:
        described["removed_entry" if edit.after is None else "replaced_entry"] = shown(target, edit.before)
    return described


def _final(error: MemoryFileError) -> MemoryFileError:
    return type(error)(
        f"{error} This failed {MAX_FAILURES + 1} times in this turn: stop changing the memory now, go on with the "
        "person's request, and tell them what could not be saved.",
        usage=error.usage,
        extra={"done": True},
    )


def _description(targets: Sequence[Target]) -> str:
    lines = [f"- {target}: {_TARGET_GUIDANCE[target]}" for target in targets]
    return "\n".join([_GUIDANCE, *lines, "", _HOW])


def _parameters(targets: Sequence[Target]) -> dict[str, Any]:
    """The schema.  A batch has no `action`, so it is not required; vendors refuse a top-level `allOf` or `anyOf`."""
    content = {"type": "string", "description": "The entry's new text, for add and replace."}
    old_text = {"type": "string", "description": "The entry meant, or a piece only it holds: replace, remove."}
    operation = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "content": content,
            "old_text": old_text,
        },
        "required": ["action"],
    }
    return {
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": [*ACTIONS, "list"],
                "description": "What to do; leave it out where operations is given.",
            },
            "target": {"type": "string", "enum": list(targets), "description": "Which of the memories."},
            "content": content,
            "old_text": old_text,
            "operations": {
                "type": "array",
                "items": operation,
                "description": "Several changes of this target, applied all or none; only the result must fit.",
            },
        },
        "required": ["target"],
    }
