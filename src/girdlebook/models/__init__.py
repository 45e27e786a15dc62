"""Talking to a model: `open_model` finds the one that a person named."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from girdlebook.errors import MissingExtra, ModelError
from girdlebook.models.base import ChatModel

EXTRACTIVE = "extractive"


def open_model(spec: str | None = None) -> ChatModel:
    """The model that `spec` names.

    Parameters:
        spec: None or `extractive` for the embedded responder, `openai:NAME`, `URL#NAME` for any compatible endpoint,
            `scripted:FILE` for a script.

    Raises:
        ModelError: the name has none of these forms, or the model cannot be set up.
        MissingExtra: the SDK is not installed.
    """
    if spec is None or spec == EXTRACTIVE:
        model: ChatModel = import_module("girdlebook.models.extractive").ExtractiveModel()
        return model
    if spec.startswith("scripted:"):
        scripted: ChatModel = import_module("girdlebook.models.scripted").ScriptedModel.from_file(
            Path(spec.removeprefix("scripted:"))
        )
        return scripted
    if spec.startswith(("http://", "https://")):
        base_url, _, name = spec.partition("#")
        return _openai(name, base_url, spec)
    kind, _, name = spec.partition(":")
    return _openai(name if kind == "openai" else "", None, spec)


def _openai(name: str, base_url: str | None, spec: str) -> ChatModel:
    if not name:
        raise ModelError(f"unknown model {spec!r}; write openai:NAME, URL#NAME, scripted:FILE or {EXTRACTIVE}")
    if find_spec("openai") is None:
        raise MissingExtra(f"the model {spec}", "openai")
    module = import_module("girdlebook.models.openai")
    model: ChatModel = module.OpenAIChatModel(name, base_url=base_url)
    return model
