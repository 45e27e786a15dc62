"""`girdle sessions`."""

from pathlib import Path

import pytest

from girdlebook.cli.output import width
from girdlebook.memory import Memory
from girdlebook.messages import Message, Reply, ToolCall, Usage
from girdlebook.profiles import Home
from girdlebook.sessions.dates import start_of
from girdlebook.sessions.sqlite import SQLiteSessionStore


@pytest.fixture
def talked(home: Path) -> Home:
    """A home with an ended conversation and a running one."""
    with SQLiteSessionStore.open(home / "state.db") as store:
        store.create_session("20260101-aa", source="cli", title="绿茶", started_at=5.0)
        store.append("20260101-aa", Message("user", "我喜欢绿茶 🍵 \ud800"), timestamp=6.0)
        store.append("20260101-aa", Message("assistant", "", (ToolCall("c", "memory", "{}"),)), timestamp=7.0)
        store.append("20260101-aa", Message("tool", "ok", tool_call_id="c", tool_name="memory"), timestamp=8.0)
        store.end_session("20260101-aa", "closed")
        store.create_session("20260102-bb", source="telegram", started_at=9.0)
    return Home(home)


def test_list_shows_the_latest_first_and_may_be_narrowed(girdle, talked: Home) -> None:
    listed = girdle("sessions", "list", "--json").json["sessions"]
    assert [one["session_id"] for one in listed] == ["20260102-bb", "20260101-aa"]
    assert girdle("sessions", "list", "--source", "cli", "--json").json["count"] == 1
    assert "绿茶" in girdle("sessions", "list").out


def test_list_makes_no_home(girdle, home: Path) -> None:
    assert girdle("sessions", "list", "--json").json == {"count": 0, "sessions": []}
    assert not (home / "state.db").exists()


@pytest.mark.parametrize("name", ["20260101-aa", "20260101", "绿茶"])
def test_show_takes_an_id_its_beginning_or_a_title(girdle, talked: Home, name: str) -> None:
    shown = girdle("sessions", "show", name)
    assert shown.code == 0
    assert "我喜欢绿茶 🍵" in shown.out
    assert "→ memory {}" in shown.out


def test_show_prints_what_the_model_saw_at_a_turn(girdle, home: Path) -> None:
    with Memory.open(home) as memory, memory.session("Be brief.") as session:
        for text in ("你好", "谢谢"):
            session.begin_turn(text)
            session.add_reply(Reply(Message("assistant", "好")))
            session.end_turn()
    shown = girdle("sessions", "show", session.id, "--context", "2", "--json").json
    assert shown["system"] == session.context().system
    assert [tool["name"] for tool in shown["tools"]] == ["memory", "session_search"]
    assert [one["content"] for one in shown["messages"]] == ["你好", "好", "谢谢"]
    text = girdle("sessions", "show", session.id, "--context", "1").out
    assert "Be brief." in text
    assert "memory, session_search" in text
    assert "谢谢" not in text
    assert girdle("sessions", "show", session.id, "--context", "3").code == 1


def test_show_prints_the_end_and_never_a_result_without_its_call(girdle, talked: Home) -> None:
    shown = girdle("sessions", "show", "绿茶", "--last", "1", "--json").json["messages"]
    assert [one["role"] for one in shown] == ["assistant", "tool"]


def test_list_is_narrowed_by_time_and_project(girdle, home: Path) -> None:
    with SQLiteSessionStore.open(home / "state.db") as store:
        for n, month in enumerate(("2026-10-05", "2026-11-05")):
            store.create_session(f"s{n}", source="cli", project=f"/w/p{n}", started_at=start_of(month))
            store.append(f"s{n}", Message("user", "moon"), timestamp=start_of(month))
    for command in (["sessions", "list"], ["search"], ["search", "moon"]):
        for narrowing in (["--since", "2026-11"], ["--project", "/w/p1"]):
            listed = girdle(*command, *narrowing, "--json").json
            assert [row["session_id"] for row in listed.get("sessions") or listed["hits"]] == ["s1"]
    refused = girdle("sessions", "list", "--until", "soon")
    assert refused.code == 2
    assert "write it as 2026-11-30" in refused.err


def test_show_says_which_ids_are_meant_perhaps(girdle, talked: Home) -> None:
    shown = girdle("sessions", "show", "2026")
    assert shown.code == 1
    assert "20260101-aa" in shown.err


def test_what_was_exported_can_be_imported_once(girdle, talked: Home, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    assert girdle("sessions", "export", "--to", str(file)).code == 0
    assert file.stat().st_mode & 0o077 == 0
    assert girdle("sessions", "export", "绿茶").out.strip() == file.read_text("ascii").splitlines()[0]
    assert girdle("sessions", "delete", "绿茶", "--yes").code == 0
    assert girdle("search", "绿茶", "--json").json["count"] == 0
    counts = girdle("sessions", "import", str(file), "--json").json
    assert (counts["imported"], counts["skipped"], counts["refused"]) == (1, 1, 0)
    assert girdle("search", "绿茶", "--json").json["count"] == 1


def test_export_overwrites_nothing(girdle, talked: Home, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("precious")
    assert girdle("sessions", "export", "--to", str(file)).code == 1
    assert file.read_text() == "precious"


def test_import_reports_the_bad_line(girdle, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": "a", "messages": []}\nnonsense\n')
    done = girdle("sessions", "import", str(file))
    assert done.code == 1
    assert "line 2" in done.err
    assert "1 imported" in done.out


def test_rename_refuses_a_taken_title(girdle, talked: Home) -> None:
    assert girdle("sessions", "rename", "20260102", "红茶").out == "20260102-bb: 红茶\n"
    refused = girdle("sessions", "rename", "20260102", "绿茶")
    assert refused.code == 1
    assert "20260101-aa" in refused.err


def test_delete_wants_to_be_confirmed(girdle, talked: Home) -> None:
    assert "--yes" in girdle("sessions", "delete", "绿茶").err
    assert girdle("sessions", "show", "绿茶").code == 0


def test_prune_spares_what_runs_and_shows_first(girdle, talked: Home) -> None:
    shown = girdle("sessions", "prune", "--dry-run", "--json").json
    assert [one["session_id"] for one in shown["sessions"]] == ["20260101-aa"]
    assert girdle("sessions", "list", "--json").json["count"] == 2
    assert girdle("sessions", "prune", "--yes", "--erase").code == 0
    assert girdle("sessions", "list", "--json").json["count"] == 1
    assert "绿茶".encode() not in talked.state_db.read_bytes()


def test_stats_draw_the_days_and_tell_the_models(girdle, home: Path) -> None:
    with SQLiteSessionStore.open(home / "state.db") as store:
        store.create_session("s", source="cli")
        for _ in range(3):
            store.append("s", Message("assistant", "好"), usage=Usage(1000, 20, cost_usd=0.5), model="大模型")
    report = girdle("sessions", "stats", "--json").json
    assert (report["days"][0]["messages"], report["days"][0]["output_tokens"]) == (3, 60)
    assert [(one["model"], one["calls"], one["cost_usd"]) for one in report["models"]] == [("大模型", 3, 1.5)]
    lines = girdle("sessions", "stats", "--days", "7").out.splitlines()
    assert len(lines) == 8
    assert "█" * 32 in lines[6]
    assert "█" not in lines[0]
    assert "大模型, chat: 3 calls" in lines[7]
    assert max(map(width, lines)) <= 80
