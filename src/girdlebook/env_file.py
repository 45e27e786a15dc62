"""The file `.env` of a home: secrets by name, for nobody else to read."""

import io
import re
from collections.abc import MutableMapping
from pathlib import Path

from dotenv import dotenv_values
from dotenv.parser import parse_stream

from girdlebook import files
from girdlebook.errors import ConfigError

_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


def read(path: Path) -> dict[str, str]:
    """The variables of a file; none where it does not exist.

    Raises:
        ConfigError: it cannot be read.
    """
    text = _text(path)
    for binding in parse_stream(io.StringIO(text)):
        if binding.error:
            raise ConfigError(f"{path}, line {binding.original.line}: write it as NAME=value")
    values = dotenv_values(stream=io.StringIO(text), interpolate=False)
    for name, value in values.items():
        if "=" in name or "\0" in name + (value or ""):
            raise ConfigError(f"{path}: {name!r} is no variable; correct or remove it")
    return {name: value for name, value in values.items() if value is not None}


def is_name(name: str) -> bool:
    """Whether this is how variables are called: capitals, digits and underscores."""
    return bool(_NAME.fullmatch(name))


def set_variable(path: Path, name: str, value: str) -> None:
    """Put a variable into the file, mode 0600 where it is new; all other lines stay.

    Raises:
        ConfigError: the name is none, or the value has line breaks.
        OSError: it cannot be written; it is as it was.
    """
    if not is_name(name) or "\n" in value or "\r" in value:
        raise ConfigError(f"{name}: a variable has a name in capitals, and its value is one line")
    quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    _rewrite(path, name, f"{name}={quoted}")


def unset_variable(path: Path, name: str) -> None:
    """Take a variable out of the file.

    Raises:
        OSError: it cannot be written; it is as it was.
    """
    if name in read(path):
        _rewrite(path, name, None)


def fill(environment: MutableMapping[str, str], path: Path) -> None:
    """Give an environment the variables of the file that it lacks.

    Raises:
        ConfigError: the file cannot be read.
    """
    for name, value in read(path).items():
        environment.setdefault(name, value)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; correct it, or move it away") from error


def _rewrite(path: Path, name: str, line: str | None) -> None:
    with files.lock(path):
        read(path)
        text = _text(path)
        kept, written = [], line is None
        for binding in parse_stream(io.StringIO(text)):
            if binding.key != name:
                kept.append(binding.original.string)
            elif not written:
                kept.append(f"{line}\n")
                written = True
        if not written:
            joint = "\n" if kept and not kept[-1].endswith("\n") else ""
            kept.append(f"{joint}{line}\n")
        files.write_atomically(path, "".join(kept).encode())
