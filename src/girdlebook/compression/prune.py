"""Phase 1: old tool outputs, long arguments and old images become short (pure; article section 6.1).

What is cut says what it was, so that a model that misses it knows what to ask for.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from girdlebook.compression.actions import Action, actions_of
from girdlebook.messages import ImagePart, Message, Part, TextPart, ToolCall

OUTPUT_CHARACTERS = 200
"""Tool outputs up to here stay as they are."""

ARGUMENT_CHARACTERS = 500
"""Arguments up to here stay as they are; of longer ones each text keeps this many characters less."""

TEXT_CHARACTERS = 200
IMAGE = "[an image was here]"

_SUBJECT_CHARACTERS = 100


def prune(messages: Sequence[Message], *, keep_from: int) -> list[Message]:
    """The transcript with everything before `keep_from` made short; messages that need nothing are the same objects.

    Parameters:
        keep_from: the index from which on nothing is touched.
    """
    actions = {action.call.id: action for action in actions_of(messages)}
    last_with = {message.text: index for index, message in enumerate(messages) if message.role == "tool"}
    return [
        message
        if index >= keep_from
        else _pruned(message, actions, is_repeated=last_with.get(message.text, index) > index)
        for index, message in enumerate(messages)
    ]


def shorten_output(message: Message, characters: int) -> Message:
    """A tool's output of which the middle is left out; what stays is as long as asked."""
    text = message.text
    if len(text) <= characters:
        return message
    half = max(1, (characters - 80) // 2)
    left_out = len(text) - 2 * half
    return replace(message, content=f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[-half:]}")


def output_line(action: Action) -> str:
    """A tool's output in one line: tool, main argument, outcome, size."""
    subject = _clipped(action.main_argument, _SUBJECT_CHARACTERS)
    return f"[{action.call.name}: {subject} → {action.outcome}, {len(action.output):,} characters, cleared]"


def _pruned(message: Message, actions: dict[str, Action], *, is_repeated: bool) -> Message:
    if message.role == "tool":
        return _pruned_output(message, actions.get(message.tool_call_id or ""), is_repeated=is_repeated)
    if any(len(call.arguments) > ARGUMENT_CHARACTERS for call in message.tool_calls):
        message = replace(message, tool_calls=tuple(map(_pruned_call, message.tool_calls)))
    return _without_images(message)


def _pruned_output(message: Message, action: Action | None, *, is_repeated: bool) -> Message:
    if len(message.text) <= OUTPUT_CHARACTERS or action is None:
        return _without_images(message)
    if is_repeated:
        return replace(message, content=f"[{action.call.name}: the same output came again later, see there]")
    return replace(message, content=output_line(action))


def _pruned_call(call: ToolCall) -> ToolCall:
    """The call with long texts in its arguments cut; the JSON stays valid, with the same keys (report L3-07)."""
    if len(call.arguments) <= ARGUMENT_CHARACTERS:
        return call
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return call
    shorter = json.dumps(_shortened(value), ensure_ascii=False)
    return replace(call, arguments=shorter) if len(shorter) < len(call.arguments) else call


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return _clipped(value, TEXT_CHARACTERS)
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return [_shortened(item) for item in value] if isinstance(value, list) else value


def _clipped(text: str, characters: int) -> str:
    if len(text) <= characters + len("…[+9,999,999 characters]"):
        return text
    return f"{text[:characters]}…[+{len(text) - characters:,} characters]"


def _without_images(message: Message) -> Message:
    if isinstance(message.content, str) or not any(isinstance(part, ImagePart) for part in message.content):
        return message
    parts: tuple[Part, ...] = tuple(
        TextPart(IMAGE) if isinstance(part, ImagePart) else part for part in message.content
    )
    return replace(message, content=parts)
