"""What a vendor would refuse, found before anything is sent (pure).

A broken transcript costs a call and, worse, every later call of its conversation; so `request` of each dialect checks
its body here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from girdlebook.encodable import encodable
from girdlebook.errors import InvalidRequest

MOST_MARKERS = 4
"""Cache markers that Anthropic takes in one request, tools and system included."""

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_UNMARKED = ("thinking", "redacted_thinking")

Body = Mapping[str, Any]


def check_openai_chat(body: Body) -> None:
    """Check a chat completions request.

    Raises:
        InvalidRequest: naming the first place that is wrong.
    """
    _raise_for(openai_chat_fault(body["messages"]) or _tool_fault([tool["function"] for tool in body.get("tools", ())]))


def check_anthropic(body: Body) -> None:
    """Check a request of the Messages API, its cache markers included.

    Raises:
        InvalidRequest: naming the first place that is wrong.
    """
    _raise_for(anthropic_fault(body["messages"]) or _tool_fault(body.get("tools", ())) or marker_fault(body))


def sendable(body: dict[str, Any]) -> dict[str, Any]:
    """The body with what has no UTF-8 form (lone surrogates) as U+FFFD; no request could be made of it otherwise."""
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        replaced: dict[str, Any] = _replaced(body)
        return replaced
    return body


def openai_chat_fault(messages: Sequence[Body]) -> str | None:
    """What is wrong with a chat completions transcript, None if nothing.

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
        if "" in open_calls or len(set(open_calls)) < len(open_calls):
            return f"messages[{index}]: its calls have no ids or the same ones: {open_calls}"
        if message["role"] == "assistant" and not message.get("content") and not open_calls:
            return f"messages[{index}]: an assistant message with neither content nor calls"
    return f"the calls {open_calls} have no result" if open_calls else None


def anthropic_fault(messages: Sequence[Body]) -> str | None:
    """What is wrong with a Messages API transcript, None if nothing.

    The person begins and has the last word; results stand at the front of the message directly behind their calls,
    each once; no block is empty; thinking keeps its signature.
    """
    if not messages or messages[0]["role"] != "user":
        return "messages[0]: the first message must be the user's"
    if messages[-1]["role"] != "user":
        return f"messages[{len(messages) - 1}]: the last message must be the user's"
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        fault = _blocks_fault(message["content"]) or _results_fault(message, open_calls)
        if fault:
            return f"messages[{index}]: {fault}"
        open_calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        if len(set(open_calls)) < len(open_calls):
            return f"messages[{index}]: its calls have the same ids: {open_calls}"
    return None


def marker_fault(body: Body) -> str | None:
    """What is wrong with the cache markers of a Messages API request, None if nothing (report L3-50)."""
    marked = [block for block in cacheable_places(body) if "cache_control" in block]
    if len(marked) > MOST_MARKERS:
        return f"{len(marked)} cache markers; {MOST_MARKERS} are allowed"
    wrong = next((block for block in marked if not may_be_marked(block)), None)
    return None if wrong is None else f"a cache marker on a block that takes none: {wrong['type']}"


def cacheable_places(body: Body) -> Iterator[Any]:
    """Everything in a Messages API request that can carry a cache marker: tools, system blocks, message blocks."""
    yield from body.get("tools", ())
    yield from body.get("system", ())
    for message in body["messages"]:
        for block in message["content"]:
            yield block
            if block["type"] == "tool_result" and isinstance(block.get("content"), list):
                yield from block["content"]


def may_be_marked(block: Body) -> bool:
    """Whether the vendor takes a marker here: neither on thinking nor on empty text."""
    if block.get("type") == "text":
        return bool(block["text"].strip())
    return block.get("type") not in _UNMARKED


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, Mapping):
        return {_replaced(key): _replaced(item) for key, item in value.items()}
    return [_replaced(item) for item in value] if isinstance(value, list | tuple) else value


def _blocks_fault(blocks: Sequence[Body]) -> str | None:
    if not blocks:
        return "it is empty"
    for block in blocks:
        if block["type"] == "text" and not block["text"].strip():
            return "a text block is blank"
        if block["type"] == "thinking" and not block.get("signature"):
            return "a thinking block has no signature"
        if block["type"] == "tool_use" and not _CALL_ID.fullmatch(block["id"]):
            return f"the call id {block['id']!r} may hold letters, digits, - and _ only"
    return None


def _results_fault(message: Body, open_calls: Sequence[str]) -> str | None:
    given = [block.get("tool_use_id") for block in message["content"] if block["type"] == "tool_result"]
    if given and message["role"] != "user":
        return "results stand in a message that is not the user's"
    unknown = [call_id for call_id in given if call_id not in open_calls]
    if unknown:
        return f"no call {unknown[0]!r} waits for this result"
    if len(set(given)) < len(given):
        return f"a call has two results: {given}"
    missing = [call_id for call_id in open_calls if call_id not in given]
    if missing:
        return f"the calls {missing} before it have no result"
    if any(block["type"] != "tool_result" for block in message["content"][: len(given)]):
        return "results must stand before everything else"
    return None


def _tool_fault(tools: Sequence[Body]) -> str | None:
    names = [tool["name"] for tool in tools if "name" in tool]
    for name in names:
        if not _TOOL_NAME.fullmatch(name):
            return f"the tool name {name!r} may hold letters, digits, - and _ only, 128 at most"
        if names.count(name) > 1:
            return f"two tools are called {name!r}"
    return None


def _raise_for(fault: str | None) -> None:
    if fault:
        raise InvalidRequest(f"the request would be refused and was not sent: {fault}")
