"""Old conversations that are deleted by themselves."""

import pytest

from girdlebook import Memory
from girdlebook.messages import Message
from girdlebook.sessions.care import prune_if_due
from girdlebook.sessions.sqlite import SQLiteSessionStore

DAY = 86_400.0
NOW = 1_800_000_000.0


@pytest.fixture
def store(tmp_path):
    with SQLiteSessionStore.open(tmp_path / "state.db") as opened:
        for name, days, ended in (("old", 100, True), ("running", 100, False), ("new", 10, True)):
            opened.create_session(name, source="cli", started_at=NOW - days * DAY)
            opened.append(name, Message("user", f"秘密 {name}"), timestamp=NOW - days * DAY)
            if ended:
                opened.end_session(name, "closed")
        yield opened


def prune(store, now=NOW, vacuum=True):
    return [r.id for r in prune_if_due(store, retention_days=90, min_interval_hours=24, vacuum=vacuum, now=now)]


def test_only_old_ones_that_have_ended_go(store, tmp_path):
    assert prune(store) == ["old"]
    assert sorted(record.id for record in store.recent()) == ["new", "running"]
    store.database.read("SELECT 1")
    assert "秘密 old".encode() not in (tmp_path / "state.db").read_bytes()


def test_it_is_done_once_in_a_while(store):
    prune(store)
    store.end_session("running", "closed")
    assert prune(store, NOW + 3_600) == []
    assert prune(store, NOW + 25 * 3_600) == ["running"]


def test_a_home_does_it_only_where_the_settings_want_it(tmp_path):
    for wanted in (False, True):
        home = tmp_path / str(wanted)
        home.mkdir()
        (home / "config.yaml").write_text(f"sessions: {{auto_prune: {str(wanted).lower()}, retention_days: 1}}\n")
        with SQLiteSessionStore.open(home / "state.db") as store:
            store.create_session("old", source="cli", started_at=5.0)
            store.end_session("old", "closed")
        with Memory.open(home) as memory:
            assert len(memory.sessions.recent()) == (0 if wanted else 1)
