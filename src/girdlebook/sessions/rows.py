"""Messages ⇄ rows of the table `messages` (pure).

Columns hold text that any SQLite can show: lone surrogates and NUL become U+FFFD there.  What a column cannot hold
exactly stands in `extra` as JSON, so that any message comes back equal (report L2-50).
"""

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from girdlebook.encodable import encodable
from girdlebook.messages import Attachment, ImagePart, Message, OpaquePart, Part, TextPart, ToolCall
from girdlebook.words import index_words

_TEXTS = ("tool_call_id", "tool_name", "finish_reason", "reasoning")
_PARTS: Mapping[str, Callable[..., Part]] = {"text": TextPart, "image": ImagePart, "opaque": OpaquePart}


def to_row(message: Message) -> dict[str, Any]:
    """The columns of a message."""
    extra: dict[str, Any] = {}
    row: dict[str, Any] = {"role": message.role, "content": plain(message.text)}
    if row["content"] != message.content:
        extra["content"] = _encode_content(message.content)
    for name in _TEXTS:
        value = getattr(message, name)
        row[name] = None if value is None else plain(value)
        if row[name] != value:
            extra[name] = value
    if message.attachments:
        extra["attachments"] = [[attachment.kind, attachment.text] for attachment in message.attachments]
    if message.is_error:
        extra["is_error"] = True
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    row["tool_calls"] = _to_json(calls) if calls else None
    row["extra"] = _to_json(extra) if extra else None
    return row


def from_row(row: sqlite3.Row | Mapping[str, Any]) -> Message:
    """The message that a row holds."""
    extra = json.loads(row["extra"]) if row["extra"] else {}
    calls = json.loads(row["tool_calls"]) if row["tool_calls"] else []
    return Message(
        role=row["role"],
        content=_decode_content(extra["content"]) if "content" in extra else row["content"] or "",
        tool_calls=tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in calls),
        is_error=extra.get("is_error", False),
        attachments=tuple(Attachment(kind, text) for kind, text in extra.get("attachments", ())),
        **{name: extra.get(name, row[name]) for name in _TEXTS},
    )


def plain(text: str) -> str:
    """The text without what SQLite or UTF-8 cannot carry."""
    return encodable(text).replace("\0", "\ufffd")


def content_words(content: str | None) -> str:
    """The SQL function `girdle_words`: what the index holds of a message's text."""
    return index_words(content or "")


def call_words(tool_name: str | None, tool_calls: str | None) -> str:
    """The SQL function `girdle_call_words`: what the index holds of tool names and arguments (report L2-20)."""
    calls = json.loads(tool_calls) if tool_calls else []
    return index_words(plain(" ".join([tool_name or "", *(f"{call['name']} {call['arguments']}" for call in calls)])))


def _encode_content(content: str | tuple[Part, ...]) -> Any:
    return content if isinstance(content, str) else [_encode_part(part) for part in content]


def _encode_part(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImagePart(source, media_type, detail):
            return {"type": "image", "source": source, "media_type": media_type, "detail": detail}
        case OpaquePart(vendor, data):
            return {"type": "opaque", "vendor": vendor, "data": dict(data)}


def _decode_content(content: Any) -> str | tuple[Part, ...]:
    return content if isinstance(content, str) else tuple(_decode_part(part) for part in content)


def _decode_part(part: dict[str, Any]) -> Part:
    fields = dict(part)
    return _PARTS[fields.pop("type")](**fields)


def _to_json(value: Any) -> str:
    """JSON with readable letters, or with every odd one escaped where a surrogate is among them."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or plain(text) == text else json.dumps(value)
