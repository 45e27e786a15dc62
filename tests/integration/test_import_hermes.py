"""Taking over a home that Hermes itself made."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from girdlebook.importers.hermes import HermesHome
from girdlebook.messages import ImagePart, TextPart, ToolCall, Usage
from girdlebook.sessions.sqlite import SQLiteSessionStore

HERMES = Path(sys.prefix) / "hermes"
MAKE = Path(__file__).with_name("make_hermes_home.py")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `home`, made by the package itself, and `export.jsonl`, its export."""
    folder = tmp_path_factory.mktemp("hermes")
    path = os.pathsep.join([str(HERMES), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(MAKE), str(folder / "home"), str(folder / "export.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, timeout=60)
    assert done.returncode == 0, done.stderr
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_conversations_and_entries_come_over_once(girdle, made: Path, home: Path) -> None:
    before = contents(made / "home")
    done = girdle("import", "hermes", str(made / "home"), "--json")
    report = json.loads(done.stdout)
    assert report["sessions"] == {"imported": 2, "skipped": 0, "refused": 0}
    assert report["entries"] == {"imported": 3, "skipped": 0, "refused": 1}
    assert done.returncode == 1
    assert "user: " in report["errors"][0]
    assert contents(made / "home") == before
    with SQLiteSessionStore.open(home / "state.db") as store:
        record = store.session("h1")
        assert (record.title, record.project) == ("港口", "/srv/app")
        assert (record.end_reason, record.model) == ("compression", "m")
        assert record.usage == Usage(10, 5)
        assert [(one.model, one.task, one.usage) for one in store.usage("h1")] == [("m", "chat", Usage(10, 5))]
        assert store.prompt_of("h1")[0] == "be kind"
        messages = [stored.message for stored in store.history("h1")]
        assert messages[1].tool_calls == (ToolCall("c1", "memory", '{"action": "add"}'),)
        assert messages[3].reasoning == "because"
        assert messages[4].content == (TextPart("look 🌊"), ImagePart("data:image/png;base64,AAAA"))
        assert [stored.message.text for stored in store.messages("h1")] == ["summary so far"]
        assert store.tip_of("h1") == "h2"
        assert store.session("h2").user_id == "u9"
        assert [stored.message.text for stored in store.history("h2")] == ["second", "taken back"]
        assert [hit.session_id for hit in store.search("数据库端口")] == ["h1"]
    again = json.loads(girdle("import", "hermes", str(made / "home"), "--json").stdout)
    assert again["sessions"] == {"imported": 0, "skipped": 2, "refused": 0}
    assert again["entries"]["skipped"] == 3


def test_its_own_export_comes_over_too_with_parents_after_their_children(girdle, made: Path, home: Path) -> None:
    counts = json.loads(girdle("sessions", "import", str(made / "export.jsonl"), "--json").stdout)
    assert counts["imported"] == 2
    with SQLiteSessionStore.open(home / "state.db") as store:
        assert store.session("h2").parent_session_id == "h1"
        assert store.session("h1").usage == Usage(10, 5)


def test_attached_it_is_searched_and_nothing_is_taken_in(girdle, made: Path, home: Path) -> None:
    found = json.loads(girdle("import", "hermes", str(made / "home"), "--attach", "数据库端口", "--json").stdout)
    assert [hit["session_id"] for hit in found["hits"]] == ["h1"]
    assert not home.exists()


def test_an_older_file_lacks_columns_and_is_read(made: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    with SQLiteSessionStore.open(tmp_path / "ours" / "state.db") as store:
        theirs = sqlite3.connect(old / "state.db")
        theirs.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, started_at REAL NOT NULL)")
        theirs.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)"
        )
        theirs.execute("INSERT INTO sessions VALUES ('o', 'cli', 5.0)")
        theirs.execute("INSERT INTO messages VALUES (1, 'o', 'user', '很久以前', 6.0)")
        theirs.commit()
        theirs.close()
        assert [one.outcome for one in HermesHome(old).import_sessions(store)] == ["imported"]
        assert [stored.message.text for stored in store.messages("o")] == ["很久以前"]


def test_what_is_no_home_of_hermes_is_said(girdle, tmp_path: Path) -> None:
    done = girdle("import", "hermes", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "no home of Hermes" in done.stderr
