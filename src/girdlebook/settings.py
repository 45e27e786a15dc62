"""Where the settings of a home come from, and how they are changed.

Each layer covers the one before it: the defaults, config.yaml, `.env`, the environment (`GIRDLE__SECTION__KEY`).
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from girdlebook import env_file, files
from girdlebook.config import Config, field, keys, meant, read_values
from girdlebook.errors import ConfigError
from girdlebook.profiles import Home
from girdlebook.yaml_edit import remove_from, set_in

PREFIX = "GIRDLE__"

DEFAULT = "default"


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


def faults(home: Home, environment: Mapping[str, str] | None = None) -> list[str]:
    """Everything that is wrong with the settings, a line each; nothing where all is right."""
    try:
        values = read_values(home.config_file)
    except ConfigError as error:
        return [str(error)]
    found = Config.faults(values, str(home.config_file))
    if not found:
        try:
            load(home, environment)
        except ConfigError as error:
            return [str(error)]
    return found


def value_of(key: str, text: str) -> Any:
    """What a text means for a key: itself where text is wanted, else as YAML reads it.

    Raises:
        ConfigError: there is no such key, or the text is no YAML.
    """
    if field(key).annotation is str:
        return text
    try:
        return YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{key}: {text!r} cannot be read; write it as in config.yaml") from error


def check_variable(name: str, text: str) -> None:
    """Check what a variable that is to be put into `.env` would set.

    Raises:
        ConfigError: it is a setting's variable, and names none or has a wrong value.
    """
    if name.startswith(PREFIX):
        values: dict[str, Any] = {}
        key = _key_of(name, name)
        _put(values, key, value_of(key, text))
        Config.of(values, name)


def set_value(home: Home, key: str, text: str) -> Any:
    """Put a value into config.yaml; comments and order stay.  What would be wrong is not written.

    Returns:
        the value as it was understood.

    Raises:
        ConfigError: there is no such key, the value is wrong, or the file cannot be read.
        OSError: it cannot be written; it is as it was.
    """
    value = value_of(key, text)
    _edit(home.config_file, key, lambda text, steps: set_in(text, steps, value))
    return value


def unset_value(home: Home, key: str) -> None:
    """Take a key out of config.yaml, so that its default holds again; an unknown one that stands there goes too.

    Raises:
        ConfigError: there is no such key, or the file cannot be read.
        OSError: it cannot be written; it is as it was.
    """
    if _flat_value(read_values(home.config_file), key.split(".")) is None:
        field(key)
        return
    _edit(home.config_file, key, remove_from)


def _edit(path: Path, key: str, edit: Callable[[str, Sequence[str]], str]) -> None:
    with files.lock(path):
        before, known = read_values(path), keys()
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
        steps = key.split(".")
        for depth in range(1, len(steps)):
            section = _flat_value(before, steps[:depth])
            if section is not None and not isinstance(section, Mapping):
                raise ConfigError(f"{path}: {steps[depth - 1]} is {section!r}; write it as a section, or remove it")
        changed = edit(text, steps)
        after = _parsed(changed)
        if _without(before, steps) != _without(after, steps):
            raise ConfigError(f"{path} is written in a way that cannot be changed here; change {key} by hand")
        if key in known:
            wanted: dict[str, Any] = {}
            value = _flat_value(after, steps)
            if value is not None:
                _put(wanted, key, value)
            Config.of(wanted, str(path))  # what else is wrong in the file must not keep this from being mended
        files.write_atomically(path, changed.encode())


def _parsed(text: str) -> dict[str, Any]:
    values = YAML(typ="safe", pure=True).load(text) or {}
    return {name: {} if value is None else value for name, value in values.items()}


def _flat_value(values: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        values = values.get(step) if isinstance(values, Mapping) else None
    return values


def _without(values: Any, steps: Sequence[str]) -> Any:
    """The values less one, and less sections that hold nothing."""
    kept = {name: value for name, value in values.items() if not (len(steps) == 1 and name == steps[0])}
    if len(steps) > 1 and isinstance(kept.get(steps[0]), Mapping):
        kept[steps[0]] = _without(kept[steps[0]], steps[1:])
    return {name: value for name, value in kept.items() if value not in ({}, None)}


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
