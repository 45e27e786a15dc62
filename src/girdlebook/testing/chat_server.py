"""A server on loopback that speaks the chat completions wire format and says what it was told to say.

It stands in for any compatible endpoint (a local server, a gateway), so that an agent can be tested over real HTTP
with the real SDK.  Like a strict vendor it refuses a transcript whose calls and results do not match.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from girdlebook.messages import Reply, Usage


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """An answer with an HTTP error status."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class BrokenStream:
    """A streamed answer that is cut off behind `text`."""

    text: str


Answer = Reply | HttpFailure | BrokenStream


class ChatServer:
    """Use as a context manager; `url` is the base URL, `requests` holds every request body that came in."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[dict[str, Any]] = []
        self._answers = list(answers)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL, as an SDK wants it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "ChatServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def next_answer(self, body: dict[str, Any]) -> Answer:
        """Record a request and choose what it gets."""
        self.requests.append(body)
        fault = transcript_fault(body.get("messages") or [])
        if fault:
            return HttpFailure(400, fault)
        if not self._answers:
            return HttpFailure(500, "the script is at its end")
        return self._answers.pop(0)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path != "/v1/chat/completions":
                    self._send(404, _failure(f"no such path {self.path}"))
                    return
                match script.next_answer(body):
                    case HttpFailure(status, message):
                        self._send(status, _failure(message))
                    case BrokenStream(text):
                        self._stream([_chunk(body["model"], {"content": text})])
                    case Reply() as reply if body.get("stream"):
                        self._stream([*_chunks(reply, body["model"]), None])
                    case Reply() as reply:
                        self._send(200, _completion(reply, body["model"]))

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: a test's output is its own."""

            def _send(self, status: int, body: Mapping[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, chunks: Sequence[Mapping[str, Any] | None]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for chunk in chunks:
                    data = "[DONE]" if chunk is None else json.dumps(chunk)
                    self.wfile.write(f"data: {data}\n\n".encode())
                    self.wfile.flush()
                self.close_connection = True

        return Handler


def transcript_fault(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """What a strict vendor would refuse in a transcript, None if nothing.

    Every call is answered by tool messages directly behind it, each once, and no tool message stands elsewhere.
    """
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"messages[{index}]: no call {message['tool_call_id']!r} waits for this result"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages[{index}]: the calls {open_calls} before it have no result"
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        if message["role"] == "assistant" and not message.get("content") and not open_calls:
            return f"messages[{index}]: an assistant message with neither content nor calls"
    return f"the calls {open_calls} have no result" if open_calls else None


def _failure(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error"}}


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
