"""How many tokens a model takes: what endpoints tell, and a table for those that tell nothing (pure).

The table holds the vendors' published figures, of a family the smaller where its models differ.  A server may be
set to less, so what the settings and the endpoint say comes first.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_FAMILIES = {
    r"claude-(?:2\.0|instant)": 100_000,
    r"claude": 200_000,
    r"gpt-5[\w.]*-chat": 128_000,
    r"gpt-5": 400_000,
    r"gpt-4\.1": 1_047_576,
    r"gpt-4o|gpt-4-turbo|gpt-4\.5|chatgpt-4o": 128_000,
    r"gpt-4-32k": 32_768,
    r"gpt-4(?![.\d])": 8_192,
    r"gpt-3\.5": 16_385,
    r"gpt-oss": 131_072,
    r"o1-(?:mini|preview)": 128_000,
    r"o[134](?![a-z])": 200_000,
    r"gemini-1\.5-pro": 2_097_152,
    r"gemini": 1_048_576,
    r"gemma-?3": 131_072,
    r"kimi-k2-0711": 131_072,
    r"kimi-k2": 262_144,
    r"kimi|moonshot-v1-128k": 131_072,
    r"moonshot-v1-32k": 32_768,
    r"moonshot-v1-8k": 8_192,
    r"qwen3-coder|qwen3-next|qwen3-max|qwen-?3[\w.-]*-2507": 262_144,
    r"qwen-?3\.5": 262_144,
    r"qwen-?3": 32_768,
    r"qwen-?2\.5": 32_768,
    r"qwq": 131_072,
    r"deepseek": 128_000,
    r"llama3(?::|$)|llama-?3-(?:8b|70b)": 8_192,
    r"llama-?3": 128_000,
    r"llama-?4": 1_000_000,
    r"glm-(?:4\.[67]|5)": 200_000,
    r"glm-4": 128_000,
    r"grok-4-fast": 2_000_000,
    r"grok-(?:4|code)": 256_000,
    r"grok": 131_072,
    r"minimax-m2": 204_800,
    r"minimax-(?:m1|text-01)": 1_000_000,
    r"doubao-seed": 262_144,
    r"mistral-(?:large|medium|small)|ministral|devstral": 128_000,
    r"mixtral|mistral": 32_768,
    r"command-r": 128_000,
    r"command-a": 256_000,
}
"""The first family that a name belongs to counts; sizes in tokens."""

_TABLE = tuple((re.compile(rf"(?<![a-z0-9])(?:{family})(?!\d)"), window) for family, window in _FAMILIES.items())

_TOLD = ("context_length", "context_window", "max_model_len", "max_context_length", "max_input_tokens")
_TOLD_INSIDE = {"meta": ("n_ctx", "n_ctx_train"), "top_provider": ("context_length",)}


def known_window(name: str) -> int | None:
    """The published window in tokens of the family that a model's name belongs to, None for an unknown one.

    A gateway's or a publisher's name before it (`anthropic/claude-…`) and a size behind it (`qwen3:8b`) do no harm.
    """
    folded = name.lower()
    return next((window for family, window in _TABLE if family.search(folded)), None)


def window_listed(listing: object, name: str) -> int | None:
    """The window in tokens that the answer to `GET /models` tells of a model, None where it tells nothing.

    A server that serves one model only often takes any name for it, so a single entry counts for every name.
    """
    entries = listing.get("data") if isinstance(listing, Mapping) else None
    found = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    if len(found) > 1:
        found = [entry for entry in found if entry.get("id") == name]
    return window_told(found[0]) if found else None


def window_told(entry: Mapping[str, Any]) -> int | None:
    """The window in tokens that one model's entry tells: of several figures the smallest, None where it has none."""
    return min((size for size in _figures(entry) if _is_size(size)), default=None)


def _figures(entry: Mapping[str, Any]) -> Iterator[Any]:
    yield from (entry.get(key) for key in _TOLD)
    for place, keys in _TOLD_INSIDE.items():
        inside = entry.get(place)
        if isinstance(inside, Mapping):
            yield from (inside.get(key) for key in keys)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
