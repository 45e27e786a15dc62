"""The settings."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from girdlebook.config import Config
from girdlebook.errors import ConfigError


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(tmp_path: Path, text: str) -> str:
    """The message, which must be one line that names the file."""
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        Config.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    settings = Config.load(tmp_path / "none.yaml").memory
    assert (settings.memory_enabled, settings.user_profile_enabled) == (True, True)
    assert (settings.memory_char_limit, settings.user_char_limit) == (2200, 1375)


@pytest.mark.parametrize("text", ["", "# nothing\n", "memory:\n", "memory:\n  # memory_enabled: false\n", "\ufeff"])
def test_an_empty_file_or_section_gives_defaults(tmp_path: Path, text: str) -> None:
    assert Config.load(written(tmp_path, text)) == Config()


def test_settings_are_read(tmp_path: Path) -> None:
    text = "# 我的设置 ⚙\nmemory:\n  memory_char_limit: 4_000\n  user_profile_enabled: false\n"
    settings = Config.load(written(tmp_path, text)).memory
    assert (settings.memory_char_limit, settings.user_profile_enabled) == (4000, False)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Config().memory.memory_char_limit = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "key", "meant"),
    [
        ("memory:\n  memory_char_limt: 9", "memory.memory_char_limt", "memory.memory_char_limit"),
        ("memory_char_limit: 9", "memory_char_limit", "memory.memory_char_limit"),
        ("memry:\n  user_char_limit: 9", "memry", "did you mean memory?"),
    ],
)
def test_an_unknown_key_is_named_with_the_one_that_was_meant(tmp_path: Path, text: str, key: str, meant: str) -> None:
    message = refusal(tmp_path, text)
    assert f"unknown key {key} " in message
    assert meant in message
    assert "correct or remove it" in message


@pytest.mark.parametrize(
    ("value", "wish"),
    [
        ("memory_enabled: no", "is 'no'; write true or false"),
        ("memory_enabled: 1", "is 1; write true or false"),
        ("memory_char_limit: 99.5", "is 99.5; write a whole number"),
        ("memory_char_limit: 0", "is 0; it must be greater than 0"),
        ("user_char_limit: true", "is True; write a whole number"),
        ("user_char_limit: '9'", "is '9'; write a whole number"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_wanted(tmp_path: Path, value: str, wish: str) -> None:
    assert f"memory.{value.partition(':')[0]} {wish}" in refusal(tmp_path, f"memory: {{{value}}}")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: [", "line 1"),
        ("memory:\n  x: 1\n  x: 2", "line 3"),
        ("- memory", "write sections"),
        ("memory: on", "write it as a section"),
        ("a: !!python/object:os.system x", "line 1"),
        ("\x07", "special characters"),
    ],
)
def test_what_is_no_settings_file_is_refused_in_one_line(tmp_path: Path, text: str, fault: str) -> None:
    assert fault in refusal(tmp_path, text)


def test_a_file_that_is_no_text_or_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes("# Größe".encode("latin-1"))
    for path in (tmp_path / "latin.yaml", tmp_path):
        with pytest.raises(ConfigError, match="cannot be read"):
            Config.load(path)
