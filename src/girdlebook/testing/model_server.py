"""What servers on loopback that stand in for a model's endpoint share: they say what they were told to say.

With them an agent can be tested over real HTTP with the real SDK.  Like a strict vendor they refuse a request whose
transcript is broken.
"""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from girdlebook.messages import Reply


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

_MODELS = "/v1/models"


class ModelServer(ABC):
    """Use as a context manager; `url` is the base URL, `requests` holds every request body that came in.

    Parameters:
        answers: what each request gets, in order.
        models: the entries of `GET /v1/models`; None for an endpoint that does not list its models (404).
    """

    base = ""
    """What SDKs put before `path`."""

    path = ""
    """Where requests are taken."""

    def __init__(self, *answers: Answer, models: Sequence[Mapping[str, Any]] | None = None) -> None:
        self.requests: list[dict[str, Any]] = []
        self.models = models
        self._answers = list(answers)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL, as an SDK wants it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{self.base}"

    def __enter__(self) -> Self:
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
        fault = self.fault(body)
        if fault:
            return HttpFailure(400, fault)
        if not self._answers:
            return HttpFailure(500, "the script is at its end")
        return self._answers.pop(0)

    def listing(self, path: str) -> Mapping[str, Any] | None:
        """What `GET /v1/models` gets, or `GET /v1/models/ID`; None for any other path and where nothing is listed."""
        if self.models is None or not path.startswith(_MODELS):
            return None
        if path == _MODELS:
            return {"object": "list", "data": list(self.models)}
        return next((entry for entry in self.models if path == f"{_MODELS}/{entry['id']}"), None)

    @abstractmethod
    def fault(self, body: Mapping[str, Any]) -> str | None:
        """What a strict vendor would refuse in a request, None if nothing."""

    @abstractmethod
    def failure(self, message: str) -> dict[str, Any]:
        """An error in the vendor's form."""

    @abstractmethod
    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        """An answer in one piece."""

    @abstractmethod
    def stream(self, reply: Reply, model: str) -> Iterable[str]:
        """An answer as the lines of server-sent events."""

    @abstractmethod
    def broken_stream(self, text: str, model: str) -> Iterable[str]:
        """The lines of an answer that breaks off behind `text`."""

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                found = script.listing(self.path.partition("?")[0])
                self._send(200 if found else 404, found or script.failure(f"no such path {self.path}"))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path.partition("?")[0] != script.base + script.path:
                    self._send(404, script.failure(f"no such path {self.path}"))
                    return
                match script.next_answer(body):
                    case HttpFailure(status, message):
                        self._send(status, script.failure(message))
                    case BrokenStream(text):
                        self._stream(script.broken_stream(text, body["model"]))
                    case Reply() as reply if body.get("stream"):
                        self._stream(script.stream(reply, body["model"]))
                    case Reply() as reply:
                        self._send(200, script.whole(reply, body["model"]))

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: a test's output is its own."""

            def _send(self, status: int, body: Mapping[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, events: Iterable[str]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for event in events:
                    self.wfile.write(f"{event}\n\n".encode())
                    self.wfile.flush()
                self.close_connection = True

        return Handler
