"""Talking to a model: `open_model` finds the one that a person named."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from girdlebook.dialects.caching import Ttl
from girdlebook.errors import MissingExtra, ModelError
from girdlebook.models.base import ChatModel

EXTRACTIVE = "extractive"

_FORMS = f"anthropic:NAME, openai:NAME, URL#NAME, scripted:FILE or {EXTRACTIVE}"
_CLASSES = {"anthropic": "AnthropicChatModel", "openai": "OpenAIChatModel"}


def open_model(spec: str | None = None, *, cache_ttl: Ttl = "5m", timeout: float | None = None) -> ChatModel:
    """The model that `spec` names.

    Parameters:
        spec: None or `extractive` for the embedded responder, `anthropic:NAME`, `openai:NAME`, `URL#NAME` for any
            endpoint that speaks chat completions, `scripted:FILE` for a script.
        cache_ttl: how long a vendor that takes cache markers keeps a prefix (`prompt_caching.cache_ttl`).
        timeout: seconds that one call over the network may take; None for the SDK's default.

    Raises:
        ModelError: the name has none of these forms, or the model cannot be set up.
        MissingExtra: the SDK is not installed.
    """
    check_spec(spec or EXTRACTIVE)
    if spec is None or spec == EXTRACTIVE:
        model: ChatModel = import_module("girdlebook.models.extractive").ExtractiveModel()
        return model
    if spec.startswith(("http://", "https://")):
        base_url, _, name = spec.partition("#")
        return _through_sdk("openai", name, spec, base_url=base_url, cache_ttl=cache_ttl, timeout=timeout)
    kind, _, name = spec.partition(":")
    if kind == "scripted":
        scripted: ChatModel = import_module("girdlebook.models.scripted").ScriptedModel.from_file(Path(name))
        return scripted
    return _through_sdk(kind, name, spec, base_url=None, cache_ttl=cache_ttl, timeout=timeout)


def check_spec(spec: str) -> None:
    """Check that a model's name has one of the known forms; nothing is opened.

    Raises:
        ModelError: it has none of them.
    """
    kind, _, name = spec.partition(":")
    if spec.startswith(("http://", "https://")):
        kind, name = "openai", spec.partition("#")[2]
    if spec != EXTRACTIVE and (kind not in (*_CLASSES, "scripted") or not name):
        raise ModelError(f"unknown model {spec!r}; write {_FORMS}")


def _through_sdk(
    vendor: str, name: str, spec: str, *, base_url: str | None, cache_ttl: Ttl, timeout: float | None
) -> ChatModel:
    if find_spec(vendor) is None:
        raise MissingExtra(f"the model {spec}", vendor)
    module = import_module(f"girdlebook.models.{vendor}")
    model: ChatModel = getattr(module, _CLASSES[vendor])(name, base_url=base_url, cache_ttl=cache_ttl, timeout=timeout)
    return model
