"""`girdle search`."""

from pathlib import Path

import pytest

from girdlebook.cli.output import width
from girdlebook.messages import Message
from girdlebook.profiles import Home
from girdlebook.sessions.sqlite import SQLiteSessionStore


@pytest.fixture
def talked(home: Path) -> Home:
    """A home with two conversations, one of them of a gateway user."""
    with SQLiteSessionStore.open(home / "state.db") as store:
        store.create_session("s1", source="cli", title="Backup")
        store.append("s1", Message("user", "The rsync timeout is 90 seconds. " + "记忆" * 60), timestamp=1_790_000_000)
        store.append("s1", Message("assistant", "Noted: rsync, 90 seconds."), timestamp=1_790_000_001)
        store.create_session("s2", source="gateway", user_id="bo")
        store.append("s2", Message("user", "My rsync secret"), timestamp=1_790_000_100)
    return Home(home)


def test_it_finds_messages_with_date_role_and_session(girdle, talked: Home) -> None:
    found = girdle("search", "what", "is", "the", "rsync", "timeout?")
    assert found.code == 0
    assert "user       s1" in found.out
    assert ">>>rsync<<<" in found.out


def test_without_words_it_lists_the_latest_conversations(girdle, talked: Home) -> None:
    listed = girdle("search", "--json").json
    assert [(row["session_id"], row["title"]) for row in listed["sessions"]] == [("s2", None), ("s1", "Backup")]
    assert girdle("search", "--limit", "1").out.count("messages") == 1


def test_lines_fit_80_columns_with_chinese_too(girdle, talked: Home) -> None:
    for arguments in (["记忆"], []):
        assert max(map(width, girdle("search", *arguments).out.splitlines())) <= 80


def test_role_and_limit_narrow_it(girdle, talked: Home) -> None:
    hits = girdle("search", "rsync", "--role", "assistant", "--json").json["hits"]
    assert [hit["role"] for hit in hits] == ["assistant"]
    assert len(girdle("search", "rsync", "--limit", "1", "--json").json["hits"]) == 1
    assert girdle("search", "rsync", "--role", "wizard").code == 2
    assert girdle("search", "rsync", "--limit", "0").code == 2


def test_a_user_finds_only_their_own(girdle, talked: Home) -> None:
    assert {hit["session_id"] for hit in girdle("search", "rsync", "--user", "bo", "--json").json["hits"]} == {"s2"}


def test_CLI_01_json_has_stable_keys_and_finding_nothing_is_no_error(girdle, talked: Home) -> None:
    nothing = girdle("search", "zebra", "--json")
    assert (nothing.code, nothing.json) == (0, {"query": "zebra", "count": 0, "hits": []})
    hit = girdle("search", "rsync", "--json").json["hits"][0]
    assert list(hit) == ["session_id", "message_id", "role", "when", "score", "snippet"]


@pytest.mark.parametrize("query", ['"', "AND OR NOT", "*", "((", "'; DROP TABLE messages", "🦊", "-", "ذاكرة"])
def test_CLI_01_no_text_is_a_bad_query(girdle, talked: Home, query: str) -> None:
    searched = girdle("search", "--json", "--", query)
    assert searched.code == 0
    assert searched.json["count"] >= 0


def test_CLI_03_searching_an_empty_place_makes_nothing(girdle, home: Path) -> None:
    assert girdle("search", "x", "--json").json["hits"] == []
    assert girdle("search", "--json").json["sessions"] == []
    assert girdle("search", "x").err == "nothing found\n"
    assert not home.exists()


def test_a_file_that_is_no_database_is_one_line(girdle, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "state.db").write_bytes(b"this is no database at all" * 100)
    refused = girdle("search", "x")
    assert refused.code == 1
    assert refused.err.count("\n") == 1
    assert "girdle doctor" in refused.err


def test_a_folder_stands_for_the_repository_it_is_in(girdle, home: Path, tmp_path: Path, monkeypatch) -> None:
    repo = tmp_path / "仓库"
    (repo / ".git").mkdir(parents=True)
    (repo / "src").mkdir()
    with SQLiteSessionStore.open(home / "state.db") as store:
        store.create_session("s", source="cli", project=str(repo))
        store.append("s", Message("user", "lighthouse"))
    monkeypatch.chdir(repo / "src")
    for folder in (".", "..", str(repo), "../src/..", str(tmp_path)):
        assert girdle("search", "lighthouse", "--project", folder, "--json").json["count"] == 1
