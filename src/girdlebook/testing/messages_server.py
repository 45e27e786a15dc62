"""A server on loopback that speaks Anthropic's Messages API and says what it was told to say."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from girdlebook.dialects import anthropic as dialect
from girdlebook.dialects.validity import anthropic_fault, marker_fault
from girdlebook.messages import Reply, Usage
from girdlebook.testing.model_server import ModelServer

_PIECE = 3
"""Characters that one event of a stream brings."""


class MessagesServer(ModelServer):
    """Stands in for Anthropic: refuses broken transcripts, misplaced cache markers and more than four of them."""

    path = "/v1/messages"

    def fault(self, body: Mapping[str, Any]) -> str | None:
        if not isinstance(body.get("max_tokens"), int):
            return "max_tokens: Field required"
        return anthropic_fault(body.get("messages") or []) or marker_fault(body)

    def failure(self, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        usage = _usage(reply.usage or Usage())
        return _envelope(model) | {"content": _blocks(reply), "stop_reason": _stop_reason(reply), "usage": usage}

    def stream(self, reply: Reply, model: str) -> Iterable[str]:
        usage = _usage(reply.usage or Usage())
        yield _event("message_start", message=_started(model, usage))
        for index, block in enumerate(_blocks(reply)):
            yield from _streamed_block(index, block)
        delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage={"output_tokens": usage["output_tokens"]})
        yield _event("message_stop")

    def broken_stream(self, text: str, model: str) -> Iterable[str]:
        yield _event("message_start", message=_started(model, _usage(Usage())))
        yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    (message,) = dialect.render([reply.message])
    blocks: list[dict[str, Any]] = message["content"]
    return blocks


def _streamed_block(index: int, block: Mapping[str, Any]) -> Iterator[str]:
    match block["type"]:
        case "text":
            opening: Mapping[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        case "thinking":
            opening = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use":
            opening = {**block, "input": {}}
            whole = json.dumps(block["input"], ensure_ascii=False)
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(whole)]
        case _:
            opening, deltas = block, []
    yield _event("content_block_start", index=index, content_block=opening)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}"


def _envelope(model: str) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}


def _started(model: str, usage: Mapping[str, Any]) -> dict[str, Any]:
    return _envelope(model) | {"content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}


def _stop_reason(reply: Reply) -> str:
    return reply.message.finish_reason or ("tool_use" if reply.message.tool_calls else "end_turn")


def _usage(usage: Usage) -> dict[str, int]:
    """The vendor counts cached tokens apart."""
    return {
        "input_tokens": usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    }
