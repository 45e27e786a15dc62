"""A model that says what it was told to say: for tests, examples and demonstrations."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from girdlebook.context import Context
from girdlebook.dialects import openai_chat
from girdlebook.errors import ModelError
from girdlebook.messages import Message, Reply, ToolCall, Usage
from girdlebook.models.base import OnText


class ScriptedModel:
    """Gives its replies in order and keeps every request as it would have gone over the wire.

    Parameters:
        replies: a text, a tool call, several calls made at once, or a whole `Reply`, each for one model call.
    """

    name = "scripted"

    def __init__(self, *replies: "str | ToolCall | tuple[ToolCall, ...] | Reply") -> None:
        self._replies = [_as_reply(reply) for reply in replies]
        self.requests: list[dict[str, Any]] = []

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedModel":
        """Read a script: JSON lines such as `{"text": "Hi"}` or
        `{"tool_calls": [{"name": "memory", "arguments": {…}}]}`, each with `usage` where wanted.

        Raises:
            ModelError: the file cannot be read, or a line is no such object.
        """
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"cannot read the script {path}: {error}") from error
        return cls(*(_read_line(path, number, line) for number, line in enumerate(lines, 1) if line.strip()))

    def reply(self, context: Context, on_text: OnText | None = None) -> Reply:
        """The next reply.

        Raises:
            ModelError: the script is at its end.
        """
        self.requests.append({"model": self.name, **openai_chat.request(context)})
        if len(self.requests) > len(self._replies):
            raise ModelError(f"the script holds {len(self._replies)} replies and was asked for one more")
        reply = self._replies[len(self.requests) - 1]
        if on_text is not None and reply.message.text:
            on_text(reply.message.text)
        return reply


def _as_reply(reply: str | ToolCall | tuple[ToolCall, ...] | Reply) -> Reply:
    match reply:
        case Reply():
            return reply
        case str():
            return Reply(Message(role="assistant", content=reply))
        case ToolCall():
            return Reply(Message(role="assistant", tool_calls=(reply,)))
        case _:
            return Reply(Message(role="assistant", tool_calls=reply))


def _read_line(path: Path, number: int, line: str) -> Reply:
    try:
        row = json.loads(line)
        calls = tuple(_read_call(number, index, call) for index, call in enumerate(row.get("tool_calls", ())))
        usage = Usage(**row["usage"]) if "usage" in row else None
        return Reply(Message(role="assistant", content=row.get("text", ""), tool_calls=calls), usage)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"{path}:{number} is no scripted reply: {error}") from error


def _read_call(number: int, index: int, call: Mapping[str, Any]) -> ToolCall:
    arguments = json.dumps(call.get("arguments", {}), ensure_ascii=False)
    return ToolCall(call.get("id") or f"call_{number}_{index}", call["name"], arguments)
