"""`girdle status`, `girdle logs`, and what is seen of a damaged index."""

from pathlib import Path

from girdlebook.cli.output import width
from girdlebook.memory import Memory
from girdlebook.messages import Message
from girdlebook.sessions.sqlite import SQLiteSessionStore


def test_it_tells_which_home_and_why_and_makes_nothing(girdle, home: Path) -> None:
    rows = girdle("status", "--json").json
    assert (rows["profile"], rows["why"], rows["home"]) == ("default", "no other was chosen", str(home))
    assert rows["conversations"] == "none yet"
    assert not home.exists()


def test_it_tells_how_full_everything_is(girdle, home: Path) -> None:
    with Memory.open(home) as memory:
        memory.store.add("memory", "服务器在厦门")
        memory.sessions.create_session("s", source="cli")
        memory.sessions.append("s", Message("user", "hello"))
    rows = girdle("status", "--json").json
    assert rows["MEMORY.md"].startswith("1 entries, 0%")
    assert rows["conversations"].startswith("1 with 1 messages, the latest of ")
    assert rows["search"] == "the index is there"
    assert rows["journal"] == "wal"
    assert "state.db" in rows["file"]
    assert "log" in rows["file"]
    text = girdle("status").out
    assert max(map(width, text.splitlines())) <= 80
    assert "no other was chosen" in text


def test_it_tells_that_the_index_is_damaged(girdle, home: Path) -> None:
    with SQLiteSessionStore.open(home / "state.db") as store:
        store.create_session("s", source="cli")
        with store.database.write() as connection:
            connection.execute("DELETE FROM messages_fts_data")
        store.append("s", Message("user", "hello"))
    assert "doctor --fix" in girdle("status", "--json").json["search"]
    assert "doctor --fix" in girdle("search", "hello").err


def test_logs_hold_turns_and_no_words(girdle, home: Path, tmp_path: Path) -> None:
    assert "no log yet" in girdle("logs").err
    assert girdle("chat", "-m", "我的秘密 is green tea").code == 0
    log = home / "logs" / "girdle.log"
    assert log.stat().st_mode & 0o777 == 0o600
    shown = girdle("logs", "-n", "5").out
    assert "turn 1: " in shown
    assert "model calls" in shown
    assert "秘密" not in log.read_text("utf-8")
    assert girdle("logs", "--path").out.strip() == str(log)
