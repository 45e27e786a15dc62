"""The settings of a home: config.yaml, checked when it is read.

A wrong key is an error and never ignored: a setting that silently does nothing is worse than none.
"""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from girdlebook.errors import ConfigError

_WISHES = {
    "bool_type": "write true or false",
    "int_type": "write a whole number",
    "model_type": "write it as a section",
}


class Section(BaseModel):
    """A group of settings: complete by its defaults, frozen, closed against unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class MemorySettings(Section):
    """Layer 1 (article section 3.1).  A target that is switched off has no block in the prompt and takes no writes."""

    memory_enabled: bool = True
    user_profile_enabled: bool = True
    memory_char_limit: PositiveInt = 2200
    """Characters that MEMORY.md may hold."""
    user_char_limit: PositiveInt = 1375
    """Characters that USER.md may hold."""


class Config(Section):
    """All settings."""

    memory: MemorySettings = MemorySettings()

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file; a missing one gives the defaults.

        Raises:
            ConfigError: in one line, the file, the key, what was meant and what to do.
        """
        values = _read(path)
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(f"{path}: {_explain(error)}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        values = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {_fault(error)}; correct it, or move it away") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds no settings; write sections with keys, such as `memory:`")
    # A section whose keys are all commented out is None.
    return {key: {} if value is None else value for key, value in values.items()}


def _fault(error: Exception) -> str:
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(step) for step in first["loc"])
    if first["type"] in ("extra_forbidden", "invalid_key"):
        return f"unknown key {key}{_meant(key)}; correct or remove it"
    wish = _WISHES.get(first["type"]) or first["msg"].replace("Input should be", "it must be", 1)
    return f"{key} is {first['input']!r}; {wish}, or remove it"


def _meant(key: str) -> str:
    """The known key that was probably meant; its name in another section counts too."""
    keys = list(_keys(Config))
    by_name = {known.rpartition(".")[2]: known for known in [*keys, *Config.model_fields]}
    near = difflib.get_close_matches(key.rpartition(".")[2], by_name, n=1)
    return f" (did you mean {by_name[near[0]]}?)" if near else f" (known are {', '.join(keys)})"


def _keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
