"""The file of secrets."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook import env_file
from girdlebook.errors import ConfigError

VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40)


def test_a_missing_file_holds_nothing(tmp_path: Path) -> None:
    assert env_file.read(tmp_path / ".env") == {}


def test_a_new_file_is_private_and_other_lines_stay(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    env_file.set_variable(path, "A_KEY", "密码 $HOME 'x'")
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("# mine\nexport B=2\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    env_file.set_variable(path, "B", "3")
    env_file.set_variable(path, "C", "4")
    assert env_file.read(path) == {"A_KEY": "密码 $HOME 'x'", "B": "3", "C": "4"}
    assert path.read_text(encoding="utf-8").startswith("# mine\nB='3'\nA_KEY=")
    env_file.unset_variable(path, "B")
    env_file.unset_variable(path, "NOT_THERE")
    assert set(env_file.read(path)) == {"A_KEY", "C"}


@given(VALUES)
def test_any_value_comes_back(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    path = tmp_path_factory.mktemp("env") / ".env"
    env_file.set_variable(path, "KEY", value)
    assert env_file.read(path) == {"KEY": value}


@pytest.mark.parametrize(("name", "value"), [("lower", "x"), ("A B", "x"), ("A", "two\nlines")])
def test_what_is_no_variable_is_refused(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(ConfigError):
        env_file.set_variable(tmp_path / ".env", name, value)
    assert not (tmp_path / ".env").exists()


def test_what_is_set_already_counts_more(tmp_path: Path) -> None:
    env_file.set_variable(tmp_path / ".env", "A", "file")
    env_file.set_variable(tmp_path / ".env", "B", "file")
    environment = {"A": "mine"}
    env_file.fill(environment, tmp_path / ".env")
    assert environment == {"A": "mine", "B": "file"}


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        env_file.read(tmp_path / ".env")


def test_values_over_several_lines_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text('PEM="-----BEGIN\nTOKEN=notreal\n-----END"\nTOKEN=real # why\nLINE="x\u2028y"\n', encoding="utf-8")
    env_file.set_variable(path, "TOKEN", "new")
    assert env_file.read(path) == {"PEM": "-----BEGIN\nTOKEN=notreal\n-----END", "TOKEN": "new", "LINE": "x\u2028y"}
    env_file.unset_variable(path, "PEM")
    assert env_file.read(path) == {"TOKEN": "new", "LINE": "x\u2028y"}


@pytest.mark.parametrize("text", ["A=1\nno variable here\n", "A=x\0y\n"])
def test_a_line_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / ".env").write_text(text)
    with pytest.raises(ConfigError):
        env_file.read(tmp_path / ".env")
