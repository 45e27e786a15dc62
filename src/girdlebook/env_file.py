"""The file `.env` of a home: secrets by name, for nobody else to read."""

import re
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from dotenv import dotenv_values

from girdlebook import files
from girdlebook.errors import ConfigError

_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


def read(path: Path) -> dict[str, str]:
    """The variables of a file; none where it does not exist.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        values: Mapping[str, str | None] = dotenv_values(path, interpolate=False, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; correct it, or move it away") from error
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


def _rewrite(path: Path, name: str, line: str | None) -> None:
    with files.lock(path):
        read(path)
        old = path.read_text(encoding="utf-8-sig").splitlines() if path.exists() else []
        assignment = re.compile(rf"\s*(?:export\s+)?{name}\s*(?:=|$)")
        places = [number for number, text in enumerate(old) if assignment.match(text)]
        kept = [text for number, text in enumerate(old) if number not in places]
        if line is not None:
            kept.insert(places[0] if places else len(kept), line)
        files.write_atomically(path, "".join(f"{text}\n" for text in kept).encode())
