"""Anthropic's models, through the official SDK (extra `[anthropic]`).

This module is loaded only when such a model is asked for; `open_model` says what to install.
"""

from typing import Any

import anthropic
import httpx2

from girdlebook.context import Context
from girdlebook.dialects import anthropic as dialect
from girdlebook.dialects.caching import Ttl, system_and_3
from girdlebook.dialects.validity import check_anthropic
from girdlebook.errors import ModelError, one_line
from girdlebook.messages import Reply
from girdlebook.models.base import OnText

MAX_TOKENS = 8_192
"""Tokens that one answer may have; the API wants a limit with every call."""


class AnthropicChatModel:
    """A model behind the Messages API, with `system_and_3` cache markers on every request.

    Parameters:
        name: the model's name.
        base_url: the endpoint, None for the SDK's own choice (`ANTHROPIC_BASE_URL`, else Anthropic).
        cache_ttl: how long the vendor keeps a cached prefix (`prompt_caching.cache_ttl`).
        max_tokens: the most tokens of one answer.

    The key is `ANTHROPIC_API_KEY`.

    Raises:
        ModelError: the SDK cannot be set up.
    """

    def __init__(
        self, name: str, *, base_url: str | None = None, cache_ttl: Ttl = "5m", max_tokens: int = MAX_TOKENS
    ) -> None:
        self.name = name
        self._cache_ttl = cache_ttl
        self._max_tokens = max_tokens
        try:
            self._client = anthropic.Anthropic(base_url=base_url)
        except anthropic.AnthropicError as error:
            raise ModelError(f"cannot use {name}: {one_line(error)}") from error

    def reply(self, context: Context, on_text: OnText | None = None) -> Reply:
        """Ask the model; with `on_text` the answer is streamed.

        Raises:
            InvalidRequest: the transcript would be refused; nothing was sent.
            ModelError: the endpoint is out of reach, refused, or broke off.
        """
        body = system_and_3(dialect.request(context), ttl=self._cache_ttl)
        check_anthropic(body)
        try:
            return self._whole(body) if on_text is None else self._streamed(body, on_text)
        # A TypeError is the SDK's word for a missing key; transport errors come through while it streams.
        except (anthropic.AnthropicError, httpx2.HTTPError, TypeError) as error:
            raise ModelError(f"{self.name} at {self._client.base_url}: {one_line(error)}") from error

    def close(self) -> None:
        """Close the connections that are kept open between calls."""
        self._client.close()

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
