"""`system_and_3`: where a request says how far it may be cached (article section 4.2; pure).

Four breakpoints: the end of the system prompt, which the tools stand before, and the last three messages.  A later
request finds the longest of them that it shares.  Marks that were there before are taken off, so that there are never
more than the vendor takes (report L3-50).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal
from urllib.parse import urlsplit

from girdlebook.dialects.validity import MOST_MARKERS, may_be_marked

Ttl = Literal["5m", "1h"]

# Gateways that pass markers on, and the families of models behind them that understand them.
_ENVELOPE = {"openrouter.ai": ("claude", "kimi", "qwen"), "nousresearch.com": ("claude", "kimi", "qwen")}

# Schemas and arguments, in which the same word may be a tool's own.
_DATA = ("input", "input_schema", "parameters", "arguments")

Body = dict[str, Any]


def system_and_3(body: Mapping[str, Any], *, ttl: Ttl = "5m") -> Body:
    """A Messages API request with its markers; the one given is left alone.

    Parameters:
        ttl: how long the vendor keeps what is cached; an hour costs more to write.
    """
    marked: Body = _copy(body)
    if isinstance(marked.get("system"), str):
        marked["system"] = [{"type": "text", "text": marked["system"]}]
    for message in marked["messages"]:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    system = [block for block in marked.get("system", ()) if may_be_marked(block)]
    _mark(system[-1:], ttl)
    ends = (_last(message["content"]) for message in reversed(marked["messages"]))
    _mark(islice(filter(None, ends), MOST_MARKERS - len(system[-1:])), ttl)
    return marked


def system_and_3_envelope(body: Mapping[str, Any], *, ttl: Ttl = "5m") -> Body:
    """The same for a chat completions request to a gateway that passes markers on.

    Texts become blocks, marked or not, so that a marker never changes a message's shape.  Tool messages and empty ones
    carry none and are not counted.
    """
    marked: Body = _copy(body)
    messages = marked["messages"]
    for message in messages:
        if isinstance(message.get("content"), str) and message["role"] != "tool":
            message["content"] = [{"type": "text", "text": message["content"]}]
    system = [end for message in messages if message["role"] == "system" and (end := _last(_blocks(message)))]
    _mark(system[-1:], ttl)
    spoken = [message for message in messages if message["role"] in ("user", "assistant")]
    ends = (_last(_blocks(message)) for message in reversed(spoken))
    _mark(islice(filter(None, ends), MOST_MARKERS - len(system[-1:])), ttl)
    return marked


def wants_envelope(base_url: str, model: str) -> bool:
    """Whether an endpoint that speaks chat completions passes cache markers on to this model."""
    host = urlsplit(base_url).hostname or ""
    families = next((names for domain, names in _ENVELOPE.items() if f".{host}".endswith(f".{domain}")), ())
    return any(family in model.lower() for family in families)


def _last(blocks: Sequence[Body]) -> Body | None:
    """The last block that takes a marker."""
    return next((block for block in reversed(blocks) if may_be_marked(block)), None)


def _blocks(message: Mapping[str, Any]) -> Sequence[Body]:
    content = message.get("content")
    return content if isinstance(content, list) else ()


def _mark(blocks: Iterable[Body], ttl: Ttl) -> None:
    for block in blocks:
        block["cache_control"] = {"type": "ephemeral"} | ({"ttl": "1h"} if ttl == "1h" else {})


def _copy(value: Any) -> Any:
    """A copy of the containers without any marker; texts and pictures are shared, and what tools take stays whole."""
    if isinstance(value, Mapping):
        return {key: item if key in _DATA else _copy(item) for key, item in value.items() if key != "cache_control"}
    return [_copy(item) for item in value] if isinstance(value, list | tuple) else value
