"""The shape of Anthropic's Messages API.

`parse` and `render` translate transcripts, `request` a whole context, `reply` an answer.  Content is in blocks always,
so that a cache marker never changes a message's shape.  Thinking blocks and the vendor's other own blocks are kept and
sent back untouched, each at its place.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from girdlebook.context import Context
from girdlebook.dialects.validity import check_anthropic, sendable
from girdlebook.messages import ImagePart, Message, OpaquePart, Part, Reply, TextPart, ToolCall, Usage
from girdlebook.tools import ToolSpec

VENDOR = "anthropic"

BEGINNING = "(the conversation goes on)"
"""The person's first message where a transcript begins with the assistant, which the vendor refuses."""

NOTHING = "(no text)"
"""A message of which nothing can be sent: it was blank, or all of it was another vendor's."""

# Where a call stood among blocks that came after it; calls at the end need no such mark.
_PLACE = "girdle_call"

_DATA_URL = re.compile(r"data:(?P<type>[\w/+.-]+);base64,(?P<data>.*)", re.DOTALL)
_NO_ID_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")

Block = dict[str, Any]


def request(context: Context) -> dict[str, Any]:
    """`system`, `messages` and `tools`, as keywords of a Messages call beside `model` and `max_tokens`.

    Raises:
        InvalidRequest: the vendor would refuse it.
    """
    messages = render(context.messages)
    if messages and messages[0]["role"] == "assistant":  # as in a transcript whose beginning was left behind
        messages = [{"role": "user", "content": [{"type": "text", "text": BEGINNING}]}, *messages]
    body: dict[str, Any] = {"messages": messages}
    if context.system.strip():
        body["system"] = [{"type": "text", "text": context.system}]
    if context.tools:
        body["tools"] = [_render_tool(spec) for spec in context.tools]
    body = sendable(body)
    check_anthropic(body)
    return body


def render(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Messages in wire form; results that follow one another become one message of the user."""
    rendered = []
    for are_results, group in groupby(messages, key=lambda message: message.role == "tool"):
        if are_results:
            rendered.append({"role": "user", "content": [_render_result(message) for message in group]})
        else:
            rendered += [_render_message(message) for message in group]
    return rendered


def parse(messages: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Wire messages as our own.

    Raises:
        ValueError: a role is neither user nor assistant.
    """
    names: dict[str, str] = {}
    parsed: list[Message] = []
    for message in messages:
        blocks = _as_blocks(message["content"])
        if message["role"] == "assistant":
            parsed.append(_parse_assistant(blocks))
            names |= {call.id: call.name for call in parsed[-1].tool_calls}
        elif message["role"] == "user":
            parsed += _parse_user(blocks, names)
        else:
            raise ValueError(f"unknown role {message['role']!r}; known are user and assistant")
    return parsed


def reply(response: Any) -> Reply:
    """An answer, as the SDK's object or as a dictionary."""
    body = response if isinstance(response, Mapping) else response.to_dict(mode="json")
    message = _parse_assistant(body["content"], finish_reason=body.get("stop_reason"))
    return Reply(message, usage=_parse_usage(body.get("usage")), model=body.get("model"))


# ── out ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _render_tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "input_schema": dict(spec.parameters)}


def _render_message(message: Message) -> dict[str, Any]:
    role = "assistant" if message.role == "assistant" else "user"
    blocks = list(_render_blocks(message))
    # The calls that stood behind everything else.
    placed = {part.data["index"] for part in _parts(message) if isinstance(part, OpaquePart) and _is_place(part)}
    blocks += [_render_call(call) for index, call in enumerate(message.tool_calls) if index not in placed]
    return {"role": role, "content": blocks or [{"type": "text", "text": NOTHING}]}


def _render_blocks(message: Message) -> Iterator[Block]:
    for part in (*_parts(message), *(TextPart(attachment.text) for attachment in message.attachments)):
        match part:
            case TextPart(text) if text.strip():
                yield {"type": "text", "text": text}
            case ImagePart(source, media_type):
                yield _render_image(source, media_type)
            case OpaquePart(vendor, data) if vendor == VENDOR and not _is_unsigned(data):
                yield _render_call(message.tool_calls[data["index"]]) if _is_place(part) else dict(data)


def _is_unsigned(block: Mapping[str, Any]) -> bool:
    """Thinking that came without its signature, which the vendor takes back from nobody."""
    return block.get("type") == "thinking" and not block.get("signature")


def _render_image(source: str, media_type: str | None) -> Block:
    inline = _DATA_URL.fullmatch(source)
    if inline:
        source, media_type = inline["data"], inline["type"]
    if media_type is None:
        return {"type": "image", "source": {"type": "url", "url": source}}
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": source}}


def _render_call(call: ToolCall) -> Block:
    try:
        arguments = call.parsed()
    except ValueError:  # another vendor's model wrote it; this one wants an object
        arguments = {"arguments": call.arguments}
    return {"type": "tool_use", "id": _wire_id(call.id), "name": call.name, "input": arguments}


def _render_result(message: Message) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": _wire_id(message.tool_call_id or "")}
    content = list(_render_blocks(message))
    return block | ({"content": content} if content else {}) | ({"is_error": True} if message.is_error else {})


def _wire_id(call_id: str) -> str:
    """Ids of other vendors hold characters that this one refuses."""
    return _NO_ID_CHARACTER.sub(lambda match: f"_{ord(match[0]):x}_", call_id)


def _parts(message: Message) -> Sequence[Part]:
    return (TextPart(message.content),) if isinstance(message.content, str) else message.content


def _is_place(part: OpaquePart) -> bool:
    return part.vendor == VENDOR and part.data.get("type") == _PLACE


# ── in ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _parse_assistant(blocks: Sequence[Mapping[str, Any]], finish_reason: str | None = None) -> Message:
    calls: list[ToolCall] = []
    parts: list[Part] = []
    ending = _calls_at_the_end(blocks)
    for index, block in enumerate(blocks):
        if block["type"] == "tool_use":
            if index < len(blocks) - ending:
                parts.append(OpaquePart(VENDOR, {"type": _PLACE, "index": len(calls)}))
            calls.append(ToolCall(block["id"], block["name"], json.dumps(block["input"], ensure_ascii=False)))
        else:
            parts.append(_parse_block(block))
    return Message("assistant", _content(parts), tool_calls=tuple(calls), finish_reason=finish_reason)


def _calls_at_the_end(blocks: Sequence[Mapping[str, Any]]) -> int:
    count = 0
    while count < len(blocks) and blocks[-1 - count]["type"] == "tool_use":
        count += 1
    return count


def _parse_user(blocks: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Iterator[Message]:
    for block in blocks:
        if block["type"] == "tool_result":
            call_id = block["tool_use_id"]
            content = _content([_parse_block(one) for one in _as_blocks(block.get("content") or [])])
            failed = bool(block.get("is_error"))
            yield Message("tool", content, tool_call_id=call_id, tool_name=names.get(call_id), is_error=failed)
    rest = [_parse_block(block) for block in blocks if block["type"] != "tool_result"]
    if rest:
        yield Message("user", _content(rest))


def _parse_block(block: Mapping[str, Any]) -> Part:
    source = block.get("source") or {}
    match block["type"]:
        case "text" if not block.get("citations"):
            return TextPart(block["text"])
        case "image" if source.get("type") == "base64":
            return ImagePart(source["data"], source["media_type"])
        case "image" if source.get("type") == "url":
            return ImagePart(source["url"])
        case _:
            return OpaquePart(VENDOR, block)


def _content(parts: Sequence[Part]) -> str | tuple[Part, ...]:
    if not parts:
        return ""
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return tuple(parts)


def _as_blocks(content: str | Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _parse_usage(usage: Mapping[str, Any] | None) -> Usage | None:
    if not usage:
        return None
    read, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    return Usage(
        # The vendor counts cached tokens apart; ours is the whole prompt.
        input_tokens=(usage.get("input_tokens") or 0) + read + written,
        output_tokens=usage.get("output_tokens") or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
