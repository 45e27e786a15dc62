"""The OpenAI chat completions shape, which most local servers and gateways speak too.

`parse` and `render` translate transcripts, `request` a whole context, `reply` an answer, `StreamedReply` an answer that
comes in chunks.  Plain text stays a string on the wire, since several compatible servers take nothing else.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from girdlebook.context import Context
from girdlebook.dialects.validity import check_openai_chat, sendable
from girdlebook.errors import ModelError
from girdlebook.messages import ImagePart, Message, OpaquePart, Part, Reply, Role, TextPart, ToolCall, Usage
from girdlebook.tools import ToolSpec

VENDOR = "openai"

NOTHING = "(no text)"
"""A message of which nothing can be sent, since all of it was another vendor's."""

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def request(context: Context) -> dict[str, Any]:
    """`messages` and, where tools are on offer, `tools`, as keywords of a chat completions call.

    Raises:
        InvalidRequest: the vendor would refuse it.
    """
    system = [{"role": "system", "content": context.system}] if context.system else []
    body: dict[str, Any] = {"messages": [*system, *render(context.messages)]}
    if context.tools:
        body["tools"] = [_render_tool(spec) for spec in context.tools]
    body = sendable(body)
    check_openai_chat(body)
    return body


def render(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Messages in wire form."""
    return [_render_message(message) for message in messages]


def parse(messages: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Wire messages as our own.

    Raises:
        ValueError: a role is none of system, developer, user, assistant and tool.
    """
    names: dict[str, str] = {}
    parsed = []
    for message in messages:
        names |= {call["id"]: call["function"]["name"] for call in message.get("tool_calls") or ()}
        parsed.append(_parse_message(message, names))
    return parsed


def reply(response: Any) -> Reply:
    """A completion, as the SDK's object or as a dictionary.

    Raises:
        ModelError: it holds no choice.
    """
    body = response if isinstance(response, Mapping) else response.model_dump()
    choices = body.get("choices") or ()
    if not choices:
        raise ModelError(f"the model's answer holds no choice: {json.dumps(body, default=str)[:200]}")
    choice = choices[0]
    return _reply(choice.get("message") or {}, choice.get("finish_reason"), body)


class StreamedReply:
    """Puts the chunks of a streamed completion together."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._finish_reason: str | None = None
        self._body: dict[str, Any] = {}

    def add(self, chunk: Any) -> str:
        """Take one chunk and give the piece of text that it brings, often an empty one."""
        body = chunk if isinstance(chunk, Mapping) else chunk.model_dump()
        self._body |= {key: body[key] for key in ("model", "usage") if body.get(key)}
        choices = body.get("choices") or ()
        return self._add_choice(choices[0]) if choices else ""

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            ModelError: the stream ended before the model said that it had finished.
        """
        if self._finish_reason is None:
            raise ModelError("the model's answer broke off before its end; ask again")
        calls = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for _, call in sorted(self._calls.items())
        ]
        message = {"content": "".join(self._text), "reasoning_content": "".join(self._reasoning), "tool_calls": calls}
        return _reply(message, self._finish_reason, self._body)

    def _add_choice(self, choice: Mapping[str, Any]) -> str:
        delta = choice.get("delta") or {}
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        self._reasoning.append(delta.get("reasoning_content") or "")
        for piece in delta.get("tool_calls") or ():
            self._add_call(piece)
        text = delta.get("content") or ""
        self._text.append(text)
        return text

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        # Some servers leave the index out and send each call whole.
        index = piece.get("index")
        position = len(self._calls) if index is None else index
        call = self._calls.setdefault(position, {"id": "", "name": "", "arguments": ""})
        function = piece.get("function") or {}
        call["id"] = piece.get("id") or call["id"]
        call["name"] += function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""


def _render_tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _render_message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": _render_content(message)}
    if not message.tool_calls:
        content = _render_content(message)
        return {"role": message.role, "content": NOTHING if content == [] else content}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": _render_content(message) or None, "tool_calls": calls}


def _render_content(message: Message) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.sent_text
    parts: Sequence[Part] = [*message.content, *(TextPart(attachment.text) for attachment in message.attachments)]
    return [rendered for part in parts if (rendered := _render_part(part)) is not None]


def _render_part(part: Part) -> dict[str, Any] | None:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImagePart(source, media_type, detail):
            url = source if media_type is None else f"data:{media_type};base64,{source}"
            return {"type": "image_url", "image_url": {"url": url} | ({"detail": detail} if detail else {})}
        case OpaquePart(vendor, data):
            return dict(data) if vendor == VENDOR else None


def _parse_message(message: Mapping[str, Any], names: Mapping[str, str]) -> Message:
    role = _ROLES.get(message["role"])
    if role is None:
        raise ValueError(f"unknown role {message['role']!r}; known are {', '.join(_ROLES)}")
    call_id = message.get("tool_call_id")
    return Message(
        role=role,
        content=_parse_content(message.get("content")),
        tool_calls=_parse_calls(message),
        tool_call_id=call_id,
        tool_name=names.get(call_id) if call_id else None,
        reasoning=message.get("reasoning_content") or None,
    )


def _parse_content(content: str | Sequence[Mapping[str, Any]] | None) -> str | tuple[Part, ...]:
    if content is None or isinstance(content, str):
        return content or ""
    return tuple(_parse_part(part) for part in content)


def _parse_part(part: Mapping[str, Any]) -> Part:
    image = part.get("image_url")
    if part.get("type") == "text":
        return TextPart(part["text"])
    if part.get("type") == "image_url" and isinstance(image, Mapping) and image.keys() <= {"url", "detail"}:
        return ImagePart(image["url"], detail=image.get("detail"))
    return OpaquePart(VENDOR, part)


def _parse_calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls") or ()
    return tuple(
        ToolCall(call.get("id") or "", call["function"]["name"], call["function"].get("arguments") or "{}")
        for call in calls
        if call.get("function")
    )


def _reply(message: Mapping[str, Any], finish_reason: str | None, body: Mapping[str, Any]) -> Reply:
    return Reply(
        Message(
            role="assistant",
            content=message.get("content") or message.get("refusal") or "",
            tool_calls=_parse_calls(message),
            finish_reason=finish_reason,
            reasoning=message.get("reasoning_content") or None,
        ),
        usage=_parse_usage(body.get("usage")),
        model=body.get("model"),
    )


def _parse_usage(usage: Mapping[str, Any] | None) -> Usage | None:
    if not usage:
        return None
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return Usage(
        input_tokens=usage.get("prompt_tokens") or 0,
        output_tokens=usage.get("completion_tokens") or 0,
        cache_read_tokens=prompt.get("cached_tokens") or 0,
        cache_write_tokens=prompt.get("cache_write_tokens") or 0,
        reasoning_tokens=completion.get("reasoning_tokens") or 0,
        cost_usd=usage.get("cost"),
    )
