"""Any OpenAI-compatible endpoint, through the official SDK (extra `[openai]`).

This module is loaded only when such a model is asked for; `open_model` says what to install.
"""

import os
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import httpx2
import openai

from girdlebook.context import Context
from girdlebook.dialects import openai_chat
from girdlebook.dialects.caching import Ttl, system_and_3_envelope, wants_envelope
from girdlebook.errors import ModelError, ModelTimeout, ModelUnavailable, one_line
from girdlebook.messages import Reply
from girdlebook.models.base import OnText
from girdlebook.models.failures import translate
from girdlebook.models.windows import known_window, window_listed

_LISTING_SECONDS = 3.0
"""How long an endpoint may take to list its models."""

_STATUS_CODES = frozenset(map(str, range(400, 600)))


class OpenAIChatModel:
    """A model behind the chat completions API.

    Parameters:
        name: the model's name at the endpoint.
        base_url: the endpoint, None for the SDK's own choice (`OPENAI_BASE_URL`, else OpenAI).
        cache_ttl: how long a cached prefix is kept, at gateways that take cache markers.
        timeout: seconds that a call waits for the endpoint to say something, and it is then not tried again; None
            for the SDK's own waiting and trying.

    The key is `OPENAI_API_KEY`; an endpoint that was named needs none, as local servers do.

    Raises:
        ModelUnavailable: no key is set and no endpoint named.
        ModelError: the SDK cannot be set up.
    """

    def __init__(
        self, name: str, *, base_url: str | None = None, cache_ttl: Ttl = "5m", timeout: float | None = None
    ) -> None:
        self.name = name
        self._cache_ttl = cache_ttl
        # The SDK refuses to start without a key, even where the server wants none.
        key = os.environ.get("OPENAI_API_KEY") or ("unused" if base_url else None)
        try:
            client = openai.OpenAI(base_url=base_url, api_key=key)
        except openai.OpenAIError as error:
            raise translate(f"cannot use {name}", None, str(error)) from error
        self._client = client if timeout is None else client.with_options(timeout=timeout, max_retries=0)

    def reply(self, context: Context, on_text: OnText | None = None) -> Reply:
        """Ask the model; with `on_text` the answer is streamed.

        Raises:
            InvalidRequest: the transcript would be refused; nothing was sent.
            ContextOverflow: the request is too long for the model.
            ModelUnavailable: the endpoint is out of reach or overloaded, or refuses the key or for a limit.
            ModelTimeout: it did not answer in time.
            ModelError: it refused for another reason, or broke off.
        """
        body = openai_chat.request(context)
        if wants_envelope(str(self._client.base_url), self.name):
            body = system_and_3_envelope(body, ttl=self._cache_ttl)
        try:
            return self._whole(body) if on_text is None else self._streamed(body, on_text)
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            # The SDK lets errors of the transport through while it streams.
            raise _failure(f"{self.name} at {self._client.base_url}", error) from error

    def context_length(self) -> int | None:
        """The model's window in tokens: what the endpoint tells, else the published figure, None for neither.

        The endpoint is asked once and has three seconds; one that does not answer is no error.
        """
        return self._context_length

    def close(self) -> None:
        """Close the connections that are kept open between calls."""
        self._client.close()

    @cached_property
    def _context_length(self) -> int | None:
        asking = self._client.with_options(timeout=_LISTING_SECONDS, max_retries=0)
        try:
            listing = asking.models.with_raw_response.list().http_response.json()
        except (openai.OpenAIError, httpx2.HTTPError, ValueError):
            return known_window(self.name)
        return window_listed(listing, self.name) or known_window(self.name)

    def _whole(self, body: dict[str, Any]) -> Reply:
        return openai_chat.reply(self._client.chat.completions.create(model=self.name, **body))

    def _streamed(self, body: dict[str, Any], on_text: OnText) -> Reply:
        chunks: Iterable[Any] = self._client.chat.completions.create(
            model=self.name, stream=True, stream_options={"include_usage": True}, **body
        )
        streamed = openai_chat.StreamedReply()
        for chunk in chunks:
            if text := streamed.add(chunk):
                on_text(text)
        return streamed.reply()


def _failure(what: str, error: Exception) -> ModelError:
    match error:
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return ModelTimeout(f"{what}: {one_line(error)}")
        case openai.APIConnectionError() | httpx2.TransportError():
            return ModelUnavailable(f"{what}: {one_line(error)}")
        case openai.APIStatusError():
            return translate(what, error.status_code, str(error))
        case openai.APIError(code=str() as code):
            # An error inside a stream: gateways put the status of the endpoint behind them into the code.
            status = int(code) if code in _STATUS_CODES else None
            return translate(what, status, f"{error} ({code})")
        case _:
            return translate(what, None, str(error))
