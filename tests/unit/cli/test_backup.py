"""`girdle backup` and `girdle restore`, and profiles as files."""

from pathlib import Path

import pytest

from girdlebook.memory import Memory
from girdlebook.messages import Message


@pytest.fixture
def talked(home: Path) -> Path:
    with Memory.open(home) as memory:
        memory.store.add("user", "喜欢绿茶")
        memory.sessions.create_session("s", source="cli")
        memory.sessions.append("s", Message("user", "hello"))
    (home / ".env").write_text("KEY=secret\n")
    return home


def test_a_home_goes_into_a_file_and_back(girdle, talked: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "b.zip")
    made = girdle("backup", file, "--json").json
    assert "state.db" in made["files"]
    assert girdle("backup", file).code == 1
    assert girdle("memory", "remove", "user", "绿茶").code == 0
    assert "add --yes" in girdle("restore", file).err
    restored = girdle("restore", file, "--yes", "--json").json
    assert Path(restored["kept"]).is_dir()
    assert "绿茶" in girdle("memory", "list", "user").out
    assert girdle("search", "hello", "--json").json["count"] == 1
    assert girdle("restore", str(tmp_path / "none.zip"), "--yes").code == 1


def test_a_profile_begins_as_a_copy(girdle, talked: Path) -> None:
    assert girdle("profile", "create", "lean", "--clone", "default").code == 0
    assert girdle("profile", "create", "whole", "--clone-all", "default").code == 0
    for name, found in (("lean", 0), ("whole", 1)):
        assert "绿茶" in girdle("-p", name, "memory", "list", "user").out
        assert girdle("-p", name, "search", "hello", "--json").json["count"] == found
        assert not list((talked / "profiles" / name).glob(".girdle-*"))
    assert girdle("profile", "create", "x", "--clone", "nowhere").code == 1
    assert girdle("profile", "create", "y", "--clone", "lean", "--clone-all", "lean").code == 2
    assert not (talked / "profiles" / "x").exists()


def test_a_profile_is_exported_without_secrets_and_imported(girdle, talked: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "p.zip")
    assert ".env" not in girdle("profile", "export", "default", file, "--json").json["files"]
    assert girdle("profile", "import", file, "copy").code == 0
    assert "绿茶" in girdle("-p", "copy", "memory", "list", "user").out
    assert girdle("profile", "import", file, "copy").code == 1
    (tmp_path / "bad.zip").write_text("x")
    assert girdle("profile", "import", str(tmp_path / "bad.zip"), "bad").code == 1
    assert not (talked / "profiles" / "bad").exists()


def test_a_repository_is_bound_and_released(girdle, talked: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo")
    girdle("profile", "create", "work")
    assert girdle("profile", "use", "work", "--here", "--json").json["project"] == str(tmp_path / "repo")
    assert girdle("status", "--json").json["why"] == f"bound to {tmp_path / 'repo'}"
    assert girdle("profile", "unbind", "--json").json["was_bound"] is True
    assert girdle("status", "--json").json["profile"] == "default"


def test_an_export_is_no_whole_home(girdle, talked: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "p.zip")
    girdle("profile", "export", "default", file)
    refused = girdle("restore", file, "--yes")
    assert refused.code == 1
    assert "profile import" in refused.err
    assert (talked / ".env").exists()


def test_a_copy_that_fails_leaves_no_profile(girdle, talked: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04" + b"x" * 100)
    assert girdle("profile", "import", str(tmp_path / "bad.zip"), "bad").code == 1
    assert not (talked / "profiles" / "bad").exists()


def test_a_backup_names_the_profiles_that_are_not_in_it(girdle, talked: Path, tmp_path: Path) -> None:
    girdle("profile", "create", "work")
    assert "work" in girdle("backup", str(tmp_path / "b.zip")).err
