"""Where the settings of a home come from, and how they are changed.

Each layer covers the one before it: the defaults, config.yaml, `.env`, the environment (`GIRDLE__SECTION__KEY`).
"""

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from girdlebook import env_file, files
from girdlebook.config import Config, field, keys, meant, read_values
from girdlebook.errors import ConfigError
from girdlebook.profiles import Home

PREFIX = "GIRDLE__"

DEFAULT = "default"

_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of values, by key; `place` is a file, `environment` or `default`."""

    place: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that hold, and the layers that they come from, the weakest first."""

    config: Config
    layers: tuple[Layer, ...]

    def value(self, key: str) -> Any:
        """The value that holds.

        Raises:
            ConfigError: there is no such key.
        """
        field(key)
        return next(layer.values[key] for layer in reversed(self.layers) if key in layer.values)

    def origin(self, key: str) -> str:
        """The place that the value comes from.

        Raises:
            ConfigError: there is no such key.
        """
        field(key)
        return next(layer.place for layer in reversed(self.layers) if key in layer.values)


def load(home: Home, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of a home.

    Parameters:
        environment: None for that of this process.

    Raises:
        ConfigError: in one line, the file or the variable, the key, what was meant and what to do.
    """
    values = read_values(home.config_file)
    Config.of(values, str(home.config_file))
    layers = [Layer(DEFAULT, _flat(Config().model_dump())), Layer(str(home.config_file), _flat(values))]
    surroundings = os.environ if environment is None else environment
    for place, variables in ((str(home.env_file), env_file.read(home.env_file)), ("environment", surroundings)):
        given: dict[str, Any] = {}
        for name in filter(lambda name: name.startswith(PREFIX), variables):
            key = _key_of(name, place)
            given[key] = value_of(key, variables[name])
            _put(values, key, given[key])
            Config.of(values, f"{name} ({place})")
        layers.append(Layer(place, given))
    return Settings(Config.of(values, str(home.config_file)), tuple(layers))


def value_of(key: str, text: str) -> Any:
    """What a text means for a key: itself where text is wanted, else as YAML reads it.

    Raises:
        ConfigError: there is no such key, or the text is no YAML.
    """
    if field(key).annotation is str:
        return text
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ConfigError(f"{key}: {text!r} cannot be read; write it as in config.yaml") from error


def set_value(home: Home, key: str, text: str) -> Any:
    """Put a value into config.yaml; comments and order stay.  What would be wrong is not written.

    Returns:
        the value as it was understood.

    Raises:
        ConfigError: there is no such key, the value is wrong, or the file cannot be read.
        OSError: it cannot be written; it is as it was.
    """
    value = value_of(key, text)
    _edit(home.config_file, key, value)
    return value


def unset_value(home: Home, key: str) -> None:
    """Take a key out of config.yaml, so that its default holds again.

    Raises:
        ConfigError: there is no such key, or the file cannot be read.
        OSError: it cannot be written; it is as it was.
    """
    field(key)
    if key in _flat(read_values(home.config_file)):
        _edit(home.config_file, key, _NOTHING)


def _edit(path: Path, key: str, value: object) -> None:
    with files.lock(path):
        read_values(path)  # says what is wrong where it cannot be read
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
        yaml = YAML()
        yaml.preserve_quotes = True
        document = yaml.load(text)
        comments = text if document is None else ""  # ruamel keeps none where there is nothing else
        document = yaml.map() if document is None else document
        _change(yaml, document, key, value, path)
        written = io.StringIO()
        if document:
            yaml.dump(document, written)
        whole = comments + ("\n" if comments and not comments.endswith("\n") else "") + written.getvalue()
        Config.of(YAML(typ="safe", pure=True).load(whole) or {}, str(path))
        files.write_atomically(path, whole.encode())


def _change(yaml: YAML, document: Any, key: str, value: object, path: Path) -> None:
    *sections, name = key.split(".")
    section = document
    for step in sections:
        if section.get(step) is None:
            section[step] = yaml.map()
        section = section[step]
        if not isinstance(section, Mapping):
            raise ConfigError(f"{path}: {step} is {section!r}; write it as a section, or remove it")
    if value is _NOTHING:
        del section[name]
    else:
        section[name] = value


def _key_of(name: str, place: str) -> str:
    """The key that a variable means.

    Raises:
        ConfigError: it means none.
    """
    key = name.removeprefix(PREFIX).lower().replace("__", ".")
    if key not in keys():
        raise ConfigError(f"{place}: unknown variable {name}{meant(key)}; correct or remove it")
    return key


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Values by key; a value may itself be a mapping."""
    known = set(keys())
    flat: dict[str, Any] = {}
    for name, value in values.items():
        key = f"{prefix}{name}"
        if key in known:
            flat[key] = value
        elif isinstance(value, Mapping):
            flat |= _flat(value, f"{key}.")
    return flat


def _put(values: dict[str, Any], key: str, value: Any) -> None:
    *sections, name = key.split(".")
    for step in sections:
        values = values.setdefault(step, {})
    values[name] = value
