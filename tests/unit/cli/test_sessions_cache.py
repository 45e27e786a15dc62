"""`girdle sessions cache`: the account of a stored conversation is that of the requests that were sent."""

from pathlib import Path

import pytest

from girdlebook.cache_account import account
from girdlebook.cli.output import width
from girdlebook.dialects import anthropic
from girdlebook.dialects.caching import system_and_3
from girdlebook.memory import Memory
from girdlebook.messages import Message, Reply, ToolCall
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.tools import ToolSpec

LOOK = ToolSpec("look", "Looks something up.", {"type": "object", "properties": {"q": {"type": "string"}}})
LONG = "A long answer, with 端口 and many words of no weight. " * 8


class Talk:
    """Holds turns of two model calls each, and keeps the requests as they would have been sent."""

    def __init__(self, session):
        self.session = session
        self.sent = []

    def ask(self):
        self.sent.append((system_and_3(anthropic.request(self.session.context())), 0.0))

    def turn(self, number):
        self.session.begin_turn(f"question {number}?")
        self.ask()
        self.session.add_reply(Reply(Message("assistant", "", (ToolCall(f"c{number}", "look", '{"q": "x"}'),))))
        self.session.add_tool_result(f"c{number}", f"{number}: {LONG}")
        self.ask()
        self.session.add_reply(Reply(Message("assistant", f"{number}. {LONG}")))
        self.session.end_turn()


@pytest.fixture
def talk(home: Path):
    with Memory.open(home, context_length=14_000) as memory, memory.session("Be brief.", tools=[LOOK]) as session:
        yield Talk(session)


def same(told, figures):
    sums = figures.input_tokens, figures.read, figures.written, figures.plain
    return (told["input_tokens"], told["read_tokens"], told["written_tokens"], told["plain_tokens"]) == sums


def test_the_account_is_that_of_the_requests_sent(girdle, talk) -> None:
    for number in range(6):
        talk.turn(number)
    told = girdle("sessions", "cache", talk.session.id, "--json").json
    figures = account(talk.sent)
    assert same(told, figures)
    assert told["requests"] == len(talk.sent) == 12
    assert told["hit_ratio"] == round(figures.hit_ratio, 4) > 0.7
    assert told["cost_to_none"] == round(figures.cost_to_none, 4) < 0.5
    assert (told["moves"], told["ttl"], told["cost_usd"], told["prompt_stored"]) == ([], "5m", None, True)


def test_every_compression_is_where_the_prefix_moved(girdle, talk) -> None:
    for number in range(60):
        talk.turn(number)
    told = girdle("sessions", "cache", talk.session.id, "--json").json
    figures = account(talk.sent)
    moved = [(place, one) for place, one in enumerate(figures.requests, 1) if one.moved]
    assert len(moved) >= 3
    assert same(told, figures)
    assert told["moves"] == [
        {
            "request": place,
            "at": move["at"],
            "why": "compression",
            "place": one.moved,
            "written_tokens": one.written,
        }
        for (place, one), move in zip(moved, told["moves"], strict=True)
    ]
    text = girdle("sessions", "cache", talk.session.id).out
    assert f"request {moved[0][0]}: compression, " in text
    assert max(map(width, text.splitlines())) <= 80


def test_a_session_that_ends_with_a_compression_counts_what_was_sent(girdle, talk) -> None:
    for number in range(14):
        talk.turn(number)
    assert talk.session.compress().kind == "digest"
    told = girdle("sessions", "cache", talk.session.id, "--json").json
    assert same(told, account(talk.sent))
    assert told["moves"] == []


def stored(home: Path, times, title="tea"):
    with SQLiteSessionStore.open(home / "state.db") as store:
        store.create_session("s", source="cli", title=title, model="m", system_prompt="word " * 1500, tool_specs="[]")
        for number, at in enumerate(times):
            role = "assistant" if number % 2 else "user"
            store.append("s", Message(role, f"message {number}"), timestamp=at)


def test_a_pause_is_told_with_its_time(girdle, home: Path) -> None:
    stored(home, [1000, 1010, 1020, 1030, 1000 + 3000, 1000 + 3010])
    told = girdle("sessions", "cache", "s", "--json").json
    (moved,) = told["moves"]
    assert (moved["request"], moved["why"], moved["place"]) == (3, "pause", None)
    assert moved["at"] == "1970-01-01T01:06:40+00:00"
    assert moved["written_tokens"] > 1500
    assert "request 3: pause, " in girdle("sessions", "cache", "s").out
    assert girdle("config", "set", "prompt_caching.cache_ttl", "1h").code == 0
    assert girdle("sessions", "cache", "s", "--json").json["moves"] == []


def test_dollars_are_told_where_a_price_is_set(girdle, home: Path) -> None:
    stored(home, [1000, 1010])
    (home / "config.yaml").write_text("prices:\n  m:\n    input: 3.0\n")
    told = girdle("sessions", "cache", "tea", "--json").json
    assert told["cost_usd"] == pytest.approx(told["cost_tokens"] * 3 / 1e6, rel=0.001)
    assert " USD" in girdle("sessions", "cache", "tea").out


def test_many_moves_are_cut_short_and_lines_keep_to_80_columns(girdle, home: Path) -> None:
    stored(home, [1000 * number for number in range(60)], title="很长的标题" * 18)
    text = girdle("sessions", "cache", "s").out
    assert "and 19 more" in text
    assert max(map(width, text.splitlines())) <= 80


def test_a_conversation_without_answers_or_prompt_is_no_error(girdle, home: Path) -> None:
    with SQLiteSessionStore.open(home / "state.db") as store:
        store.create_session("s", source="cli")
        store.append("s", Message("user", "hello"))
    shown = girdle("sessions", "cache", "s")
    assert shown.code == 0
    assert "no answer was asked for yet" in shown.out
    assert "not stored" in shown.err
    told = girdle("sessions", "cache", "s", "--json").json
    assert (told["requests"], told["hit_ratio"], told["cost_to_none"]) == (0, 0.0, 1.0)
    assert girdle("sessions", "cache", "nobody").code == 1


def test_looking_makes_no_home(girdle, home: Path) -> None:
    assert girdle("sessions", "cache", "s").code == 1
    assert not home.exists()
