"""A server on loopback that speaks the chat completions wire format and says what it was told to say."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from girdlebook.dialects.validity import openai_chat_fault
from girdlebook.messages import Reply, Usage
from girdlebook.testing.model_server import BrokenStream, HttpFailure, ModelServer

__all__ = ["BrokenStream", "ChatServer", "HttpFailure", "transcript_fault"]

transcript_fault = openai_chat_fault


class ChatServer(ModelServer):
    """Stands in for any endpoint that speaks chat completions (a local server, a gateway)."""

    base = "/v1"
    path = "/chat/completions"

    def fault(self, body: Mapping[str, Any]) -> str | None:
        return openai_chat_fault(body.get("messages") or [])

    def failure(self, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error"}}

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        return _completion(reply, model)

    def stream(self, reply: Reply, model: str) -> Iterable[str]:
        return [*(f"data: {json.dumps(chunk)}" for chunk in _chunks(reply, model)), "data: [DONE]"]

    def broken_stream(self, text: str, model: str) -> Iterable[str]:
        return [f"data: {json.dumps(_chunk(model, {'content': text}))}"]


def _completion(reply: Reply, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.message.text or None, "tool_calls": _calls(reply)}
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return _envelope("chat.completion", model) | {"choices": [choice]} | _usage(reply.usage)


def _chunks(reply: Reply, model: str) -> Iterator[dict[str, Any]]:
    """The answer in small pieces: text by three characters, arguments in halves."""
    for start in range(0, len(reply.message.text), 3):
        yield _chunk(model, {"content": reply.message.text[start : start + 3]})
    for index, call in enumerate(_calls(reply) or ()):
        whole = call["function"]["arguments"]
        half = len(whole) // 2
        opening = {"name": call["function"]["name"], "arguments": whole[:half]}
        yield _chunk(model, {"tool_calls": [{**call, "index": index, "function": opening}]})
        yield _chunk(model, {"tool_calls": [{"index": index, "function": {"arguments": whole[half:]}}]})
    yield _chunk(model, {}, _finish(reply))
    if reply.usage:
        yield _envelope("chat.completion.chunk", model) | {"choices": []} | _usage(reply.usage)


def _chunk(model: str, delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return _envelope("chat.completion.chunk", model) | {"choices": [choice]}


def _envelope(kind: str, model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": model}


def _calls(reply: Reply) -> list[dict[str, Any]] | None:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.message.tool_calls
    ] or None


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.message.tool_calls else "stop"


def _usage(usage: Usage | None) -> dict[str, Any]:
    if usage is None:
        return {}
    return {
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        }
    }
