"""Any OpenAI-compatible endpoint, through the official SDK (extra `[openai]`).

This module is loaded only when such a model is asked for; `open_model` says what to install.
"""

import os
from collections.abc import Iterable
from typing import Any

import httpx2
import openai

from girdlebook.context import Context
from girdlebook.dialects import openai_chat
from girdlebook.dialects.caching import Ttl, system_and_3_envelope, wants_envelope
from girdlebook.errors import ModelError, one_line
from girdlebook.messages import Reply
from girdlebook.models.base import OnText


class OpenAIChatModel:
    """A model behind the chat completions API.

    Parameters:
        name: the model's name at the endpoint.
        base_url: the endpoint, None for the SDK's own choice (`OPENAI_BASE_URL`, else OpenAI).
        cache_ttl: how long a cached prefix is kept, at gateways that take cache markers.

    The key is `OPENAI_API_KEY`; an endpoint that was named needs none, as local servers do.

    Raises:
        ModelError: no key is set and no endpoint named.
    """

    def __init__(self, name: str, *, base_url: str | None = None, cache_ttl: Ttl = "5m") -> None:
        self.name = name
        self._cache_ttl = cache_ttl
        # The SDK refuses to start without a key, even where the server wants none.
        key = os.environ.get("OPENAI_API_KEY") or ("unused" if base_url else None)
        try:
            self._client = openai.OpenAI(base_url=base_url, api_key=key)
        except openai.OpenAIError as error:
            raise ModelError(f"cannot use {name}: {one_line(error)}") from error

    def reply(self, context: Context, on_text: OnText | None = None) -> Reply:
        """Ask the model; with `on_text` the answer is streamed.

        Raises:
            InvalidRequest: the transcript would be refused; nothing was sent.
            ModelError: the endpoint is out of reach, refused, or broke off.
        """
        body = openai_chat.request(context)
        if wants_envelope(str(self._client.base_url), self.name):
            body = system_and_3_envelope(body, ttl=self._cache_ttl)
        try:
            return self._whole(body) if on_text is None else self._streamed(body, on_text)
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            # The SDK lets errors of the transport through while it streams.
            raise ModelError(f"{self.name} at {self._client.base_url}: {one_line(error)}") from error

    def close(self) -> None:
        """Close the connections that are kept open between calls."""
        self._client.close()

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
