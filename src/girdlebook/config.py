"""The settings of a home: which there are, what they mean, and their file config.yaml, checked when it is read.

A wrong key is an error and never ignored: a setting that silently does nothing is worse than none.  Where values come
from, and how they are changed, is in `settings.py`.
"""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt, ValidationError
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from girdlebook.errors import ConfigError

_WISHES = {
    "bool_type": "write true or false",
    "int_type": "write a whole number",
    "float_type": "write a number",
    "string_type": "write text",
    "model_type": "write it as a section",
}


class Section(BaseModel):
    """A group of settings: complete by its defaults, frozen, closed against unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class MemorySettings(Section):
    """Layer 1, and which external provider serves layer 4 (article section 3.1, section 8)."""

    memory_enabled: bool = True
    """Whether MEMORY.md is in the prompt and takes writes."""
    user_profile_enabled: bool = True
    """Whether USER.md is in the prompt and takes writes."""
    memory_char_limit: PositiveInt = 2200
    """Characters that MEMORY.md may hold."""
    user_char_limit: PositiveInt = 1375
    """Characters that USER.md may hold."""
    provider: str = ""
    """The external memory; empty for none.  Takes effect with layer 4, which is not built yet."""
    nudge_interval: NonNegativeInt = 10
    """Turns without a memory call after which the model is reminded; 0 for never."""
    flush_min_turns: NonNegativeInt = 6
    """Turns that a session must have for a flush at its end; 0 for no flush."""
    write_approval: Literal["off", "untrusted", "all"] = "untrusted"
    """Which writes of a model wait for a person's approval.  Takes effect with the approval inbox."""


class CompressionSettings(Section):
    """Layer 3 (article section 6)."""

    enabled: bool = True
    """Whether a full context window is compressed."""
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.50
    """The share of the context window from which on there is compression."""
    target_ratio: Annotated[float, Field(ge=0.10, le=0.80)] = 0.20
    """The share of the threshold that the untouched end of the transcript keeps."""
    protect_first_n: NonNegativeInt = 3
    """Messages at the beginning that are never compressed."""


class AuxiliaryTask(Section):
    """Which model does a task beside the conversation."""

    model: str = ""
    """The model, as `girdle chat --model` takes it; empty for none."""
    timeout: Annotated[float, Field(gt=0)] = 30.0
    """Seconds that its call may take."""


class AuxiliarySettings(Section):
    """Models for work beside the conversation."""

    compression: AuxiliaryTask = AuxiliaryTask()
    flush_memories: AuxiliaryTask = AuxiliaryTask()


class PromptCachingSettings(Section):
    """Cache markers at vendors that take them (article section 4.2)."""

    cache_ttl: Literal["5m", "1h"] = "5m"
    """How long the vendor keeps a cached prefix; an hour costs more to write."""


class SessionSettings(Section):
    """The stored conversations."""

    auto_prune: bool = False
    """Whether old conversations that have ended are deleted by themselves."""
    retention_days: PositiveInt = 90
    """Days without a message after which a conversation is old."""
    vacuum_after_prune: bool = True
    """Whether the file is then written anew, so that no deleted text is left in it."""
    min_interval_hours: NonNegativeInt = 24
    """Hours between two prunings."""


class ChatSettings(Section):
    """What `girdle chat` does unless an option says otherwise."""

    model: str = ""
    """The model, as `girdle chat --model` takes it; empty for the embedded responder."""
    max_iterations: PositiveInt = 30
    """The most model calls in one turn."""
    context_length: NonNegativeInt = 0
    """The model's window in tokens; 0 for what the model itself says, else 128,000."""


class Price(Section):
    """US dollars for a million tokens; what is not given is not known."""

    input: NonNegativeFloat | None = None
    """Prompt tokens that were not cached."""
    output: NonNegativeFloat | None = None
    """Tokens of the answer."""
    cache_read: NonNegativeFloat | None = None
    """Prompt tokens read from the vendor's cache."""
    cache_write: NonNegativeFloat | None = None
    """Prompt tokens written to it."""


class Config(Section):
    """All settings."""

    memory: MemorySettings = MemorySettings()
    compression: CompressionSettings = CompressionSettings()
    auxiliary: AuxiliarySettings = AuxiliarySettings()
    prompt_caching: PromptCachingSettings = PromptCachingSettings()
    sessions: SessionSettings = SessionSettings()
    chat: ChatSettings = ChatSettings()
    prices: Mapping[str, Price] = {}
    """What models cost, by their name.  A vendor's own figure counts more; without either a cost is not known."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file; a missing one gives the defaults.

        Raises:
            ConfigError: in one line, the file, the key, what was meant and what to do.
        """
        return cls.of(read_values(path), str(path))

    @classmethod
    def of(cls, values: Mapping[str, Any], place: str) -> Self:
        """Check values.

        Parameters:
            place: where they stand, for the message.

        Raises:
            ConfigError: in one line, the place, the key, what was meant and what to do.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(f"{place}: {_explain(error, 0)}") from error

    @classmethod
    def faults(cls, values: Mapping[str, Any], place: str) -> list[str]:
        """Everything that is wrong with values, a line each."""
        try:
            cls.model_validate(values)
        except ValidationError as error:
            return [f"{place}: {_explain(error, number)}" for number in range(error.error_count())]
        return []


def read_values(path: Path) -> dict[str, Any]:
    """What a settings file holds, by section; nothing where there is no file.

    Raises:
        ConfigError: it cannot be read, or holds no sections.
    """
    try:
        values = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, YAMLError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {_fault(error)}; correct it, or move it away") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds no settings; write sections with keys, such as `memory:`")
    # A section whose keys are all commented out is None.
    return {key: {} if value is None else value for key, value in values.items()}


def keys() -> list[str]:
    """All keys that hold one value, as `memory.nudge_interval`."""
    return list(_keys(Config))


def field(key: str) -> FieldInfo:
    """The description, type and default of a key.

    Raises:
        ConfigError: there is no such key; the message names the one that was meant.
    """
    section: Any = Config
    steps = key.split(".")
    for number, step in enumerate(steps, 1):
        info = section.model_fields.get(step) if _is_section(section) else None
        if info is None:
            break
        if number == len(steps) and not _is_section(info.annotation):
            return info  # type: ignore[no-any-return]
        section = info.annotation
    raise ConfigError(f"unknown key {key}{meant(key)}")


def meant(key: str) -> str:
    """The known key that was probably meant; its name in another section counts too."""
    by_name = {known.rpartition(".")[2]: known for known in [*keys(), *Config.model_fields]}
    near = difflib.get_close_matches(key.rpartition(".")[2], by_name, n=1)
    return f" (did you mean {by_name[near[0]]}?)" if near else " (all of them: girdle config get)"


def _fault(error: Exception) -> str:
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


def _explain(error: ValidationError, number: int) -> str:
    first = error.errors(include_url=False)[number]
    key = ".".join(str(step) for step in first["loc"])
    if first["type"] in ("extra_forbidden", "invalid_key"):
        return f"unknown key {key}{meant(key)}; correct or remove it"
    wish = _WISHES.get(first["type"]) or first["msg"].replace("Input should be", "it must be", 1)
    return f"{key} is {first['input']!r}; {wish}, or remove it"


def _is_section(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, info in section.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
