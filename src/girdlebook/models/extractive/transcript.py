"""Context → what the responder needs of it: the message to answer, the entries, what its calls gave.  Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from girdlebook.context import Context
from girdlebook.messages import ToolCall

_RULE = "═" * 46
_BLOCK = re.compile(rf"{_RULE}\n(MEMORY|USER PROFILE) [^\n]*\n{_RULE}\n(.*?)(?=\n\n{_RULE}\n|\n\nToday is |\Z)", re.S)
_TARGETS = {"MEMORY": "memory", "USER PROFILE": "user"}
_SEPARATOR = "\n§\n"


@dataclass(frozen=True, slots=True)
class Finished:
    """A call made in this turn and its answer, an empty one where it was no JSON object."""

    name: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def is_list(self) -> bool:
        """Whether it read the memory and changed nothing."""
        return self.name == "memory" and self.arguments.get("action") == "list"

    @property
    def is_write(self) -> bool:
        """Whether it tried to change the memory."""
        return self.name == "memory" and not self.is_list


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a turn stands.

    `earlier` are the person's messages before in this conversation; `targets` the memories that can be changed;
    `entries` the memories, live where they were listed, else as in the prompt.
    """

    text: str
    earlier: tuple[str, ...]
    finished: tuple[Finished, ...]
    targets: tuple[str, ...]
    can_search: bool
    entries: Mapping[str, tuple[str, ...]]
    length: int

    @classmethod
    def of(cls, context: Context) -> "Moment":
        """Read a context."""
        said = [at for at, message in enumerate(context.messages) if message.role == "user"]
        last = said[-1] if said else len(context.messages)
        finished = tuple(_finished(context, last))
        listed = {
            str(done.arguments.get("target")): tuple(map(str, done.answer.get("entries", ())))
            for done in finished
            if done.is_list and done.answer.get("success")
        }
        return cls(
            text=context.messages[last].text if said else "",
            earlier=tuple(context.messages[at].text for at in said[:-1]),
            finished=finished,
            targets=_targets(context),
            can_search=any(tool.name == "session_search" for tool in context.tools),
            entries={**snapshot_entries(context.system), **listed},
            length=len(context.messages),
        )

    @property
    def listed(self) -> bool:
        """Whether the memory was read in this turn."""
        return any(done.is_list for done in self.finished)

    @property
    def writes(self) -> tuple[Finished, ...]:
        """The calls that tried to change the memory."""
        return tuple(done for done in self.finished if done.is_write)

    @property
    def searches(self) -> tuple[Finished, ...]:
        """The searches of earlier conversations, lists of conversations left out."""
        return tuple(done for done in self.finished if done.name == "session_search" and done.arguments.get("query"))

    @property
    def browsed(self) -> Finished | None:
        """The list of the latest conversations, if it was asked for."""
        lists = (done for done in self.finished if done.name == "session_search" and not done.arguments.get("query"))
        return next(lists, None)


def snapshot_entries(system: str) -> dict[str, tuple[str, ...]]:
    """The entries of the memory blocks of a system prompt, by target."""
    return {_TARGETS[title]: tuple(body.split(_SEPARATOR)) for title, body in _BLOCK.findall(system)}


def _finished(context: Context, last: int) -> Iterator[Finished]:
    calls: dict[str, ToolCall] = {}
    for message in context.messages[last + 1 :]:
        calls |= {call.id: call for call in message.tool_calls}
        call = calls.get(message.tool_call_id or "")
        if message.role == "tool" and call is not None:
            yield Finished(call.name, call.parsed(), _object(message.text))


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _targets(context: Context) -> tuple[str, ...]:
    for tool in context.tools:
        if tool.name == "memory":
            return tuple(tool.parameters.get("properties", {}).get("target", {}).get("enum", ("memory", "user")))
    return ()
