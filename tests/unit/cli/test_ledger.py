"""`girdle memory log|diff|blame|undo|search`."""

from pathlib import Path

import pytest

from girdlebook.cli.output import width


@pytest.fixture
def changed(girdle, home: Path) -> None:
    """A home in which things were remembered, changed and removed."""
    girdle("memory", "add", "memory", "服务器在厦门")
    girdle("memory", "replace", "memory", "厦门", "服务器在福州")
    girdle("memory", "add", "user", "is called Sam")
    girdle("memory", "remove", "user", "Sam")


def test_the_log_lists_changes_the_latest_first(girdle, changed) -> None:
    rows = girdle("memory", "log", "--json").json["changes"]
    assert [row["action"] for row in rows] == ["remove", "add", "replace", "add"]
    assert {row["origin"] for row in rows} == {"owner"}
    assert len(girdle("memory", "log", "user", "--json").json["changes"]) == 2
    text = girdle("memory", "log").out
    assert "服务器在福州" in text
    assert max(map(width, text.splitlines())) <= 80


def test_one_change_is_shown_with_its_texts_and_its_source(girdle, changed) -> None:
    text = girdle("memory", "diff", "2").out
    assert "- 服务器在厦门\n+ 服务器在福州" in text
    assert "by hand" in text
    assert girdle("memory", "diff", "--json").json["before"] == "is called Sam"
    assert girdle("memory", "diff", "99").code == 1


def test_a_change_is_taken_back(girdle, changed) -> None:
    assert girdle("memory", "undo").code == 0
    assert girdle("memory", "list", "user").out == "is called Sam\n"
    assert girdle("memory", "undo", "2", "--json").json["undone"] == 2
    assert girdle("memory", "list", "memory").out == "服务器在厦门\n"
    assert "takes back 2" in girdle("memory", "log").out
    assert "changed since" in girdle("memory", "undo", "2").err


def test_blame_tells_which_conversation_taught_an_entry(girdle, home: Path) -> None:
    session = girdle("chat", "-m", "我叫小林", "--json").json["session_id"]
    shown = girdle("memory", "blame", "小林")
    assert session in shown.out
    assert "the person said it" in shown.out
    rows = girdle("memory", "blame", "小林", "--json").json["entries"]
    assert rows[0]["changes"][0]["session_id"] == session
    assert girdle("memory", "blame", "nobody").code == 1


def test_removed_entries_are_found_with_all(girdle, changed) -> None:
    assert girdle("memory", "search", "Sam", "--json").json == {"entries": [], "former": []}
    assert girdle("memory", "search", "Sam", "--all", "--json").json["former"] == ["is called Sam"]
    assert girdle("memory", "search", "服务器", "--all").out.splitlines() == ["服务器在福州", "(gone) 服务器在厦门"]


def test_a_hand_edit_is_in_the_log(girdle, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\nprintf 'by hand' > \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    assert girdle("memory", "edit", "user").code == 0
    assert girdle("memory", "log", "--json").json["changes"][0]["origin"] == "external_edit"


def test_looking_makes_nothing(girdle, home: Path) -> None:
    assert girdle("memory", "log").code == 0
    assert girdle("memory", "search", "x", "--all").code == 0
    assert girdle("memory", "diff").code == 1
    assert not home.exists()
