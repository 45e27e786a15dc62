"""What can be said of a transcript, and how one from elsewhere is made valid (pure)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from girdlebook.messages import Message, ToolCall

NOT_RUN = "not run: interrupted"


def open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls at the end of a transcript that have no result yet."""
    answered: set[str | None] = set()
    for message in reversed(messages):
        if message.role != "tool":
            return [call for call in message.tool_calls if call.id not in answered]
        answered.add(message.tool_call_id)
    return []


def turns_since_call(messages: Sequence[Message], tool: str) -> int:
    """How many messages of the person came after the last call of a tool, or after the last nudge to call it.

    All of them, where there was neither.
    """
    turns = 0
    for message in reversed(messages):
        if any(call.name == tool for call in message.tool_calls):
            return turns
        if any(attachment.kind == "nudge" for attachment in message.attachments):
            return turns
        turns += message.role == "user"
    return turns


def mended(messages: Iterable[Message]) -> list[Message]:
    """A transcript that any model accepts: every result directly behind its call, every call with its result.

    Results without a call and assistant messages without anything are left out, missing results are put in, except at
    the end, where they may still come.  A transcript that is valid comes back equal.
    """
    valid: list[Message] = []
    waiting: dict[str, ToolCall] = {}
    for message in messages:
        if message.role == "tool":
            if waiting.pop(message.tool_call_id or "", None) is not None:
                valid.append(message)
            continue
        if message.role == "assistant" and not message.content and not message.tool_calls:
            continue
        valid += map(_not_run, waiting.values())
        waiting = {call.id: call for call in message.tool_calls}
        valid.append(message if len(waiting) == len(message.tool_calls) else _without_doubles(message, waiting))
    return valid


def _not_run(call: ToolCall) -> Message:
    return Message("tool", NOT_RUN, tool_call_id=call.id, tool_name=call.name, is_error=True)


def _without_doubles(message: Message, calls: dict[str, ToolCall]) -> Message:
    return replace(message, tool_calls=tuple(calls.values()))
