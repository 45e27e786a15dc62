"""Anthropic's models, through the official SDK (extra `[anthropic]`).

This module is loaded only when such a model is asked for; `open_model` says what to install.
"""

from functools import cached_property
from typing import Any

import anthropic
import httpx2

from girdlebook.context import Context
from girdlebook.dialects import anthropic as dialect
from girdlebook.dialects.caching import Ttl, system_and_3
from girdlebook.dialects.validity import check_anthropic
from girdlebook.errors import ModelError, ModelTimeout, ModelUnavailable, one_line
from girdlebook.messages import Reply
from girdlebook.models.base import OnText
from girdlebook.models.failures import translate
from girdlebook.models.windows import known_window, window_told

MAX_TOKENS = 8_192
"""Tokens that one answer may have; the API wants a limit with every call."""

_LISTING_SECONDS = 3.0
"""How long the endpoint may take to describe its model."""


class AnthropicChatModel:
    """A model behind the Messages API, with `system_and_3` cache markers on every request.

    Parameters:
        name: the model's name.
        base_url: the endpoint, None for the SDK's own choice (`ANTHROPIC_BASE_URL`, else Anthropic).
        cache_ttl: how long the vendor keeps a cached prefix (`prompt_caching.cache_ttl`).
        max_tokens: the most tokens of one answer.
        timeout: seconds that a call waits for the endpoint to say something, and it is then not tried again; None
            for the SDK's own waiting and trying.

    The key is `ANTHROPIC_API_KEY`.

    Raises:
        ModelError: the SDK cannot be set up.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        cache_ttl: Ttl = "5m",
        max_tokens: int = MAX_TOKENS,
        timeout: float | None = None,
    ) -> None:
        self.name = name
        self._cache_ttl = cache_ttl
        self._max_tokens = max_tokens
        try:
            client = anthropic.Anthropic(base_url=base_url)
        except anthropic.AnthropicError as error:
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
        body = system_and_3(dialect.request(context), ttl=self._cache_ttl)
        check_anthropic(body)
        try:
            return self._whole(body) if on_text is None else self._streamed(body, on_text)
        # A TypeError is the SDK's word for a missing key; transport errors come through while it streams.
        except (anthropic.AnthropicError, httpx2.HTTPError, TypeError) as error:
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
            entry = asking.models.with_raw_response.retrieve(self.name).http_response.json()
        # A TypeError is the SDK's word for a missing key.
        except (anthropic.AnthropicError, httpx2.HTTPError, TypeError, ValueError):
            return known_window(self.name)
        return (window_told(entry) if isinstance(entry, dict) else None) or known_window(self.name)

    def _whole(self, body: dict[str, Any]) -> Reply:
        return dialect.reply(self._client.messages.create(model=self.name, max_tokens=self._max_tokens, **body))

    def _streamed(self, body: dict[str, Any], on_text: OnText) -> Reply:
        with self._client.messages.stream(model=self.name, max_tokens=self._max_tokens, **body) as stream:
            for text in stream.text_stream:
                on_text(text)
            message = stream.get_final_message()
        if message.stop_reason is None:
            raise ModelError("the model's answer broke off before its end; ask again")
        return dialect.reply(message)


def _failure(what: str, error: Exception) -> ModelError:
    match error:
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return ModelTimeout(f"{what}: {one_line(error)}")
        case anthropic.APIConnectionError() | httpx2.TransportError():
            return ModelUnavailable(f"{what}: {one_line(error)}")
        case anthropic.APIStatusError():
            return translate(what, error.status_code, str(error))
        case _:
            return translate(what, None, str(error))
