"""`girdle chat` at a terminal: prompt, Ctrl-C, Ctrl-D, SIGTERM, and the orderly close that all of them share."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from girdlebook.messages import Message
from girdlebook.profiles import Home
from girdlebook.sessions.sqlite import SQLiteSessionStore

SIGTERM_CODE = 128 + signal.SIGTERM


@pytest.fixture
def silent_model() -> Iterator[tuple[str, socket.socket]]:
    """An endpoint that takes requests and never answers, and the model's name for --model."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1#silent", server


def transcript(home: Path) -> tuple[str | None, list[Message]]:
    """The only session's end reason and messages."""
    with SQLiteSessionStore.open(Home(home).state_db) as store:
        (record,) = store.recent()
        return record.end_reason, [stored.message for stored in store.messages(record.id)]


def test_it_says_at_start_which_model_answers_and_prompts(terminal, script) -> None:
    chat = terminal("chat", "--model", script("你好！"))
    chat.expect("Model: scripted")
    chat.expect("> ")
    chat.type("我叫小林\n")
    chat.expect("你好！")
    chat.expect("> ")
    chat.type("/quit\n")
    assert chat.ends_with() == 0


def test_ctrl_d_closes_the_session_in_order(terminal, script, home: Path) -> None:
    chat = terminal("chat", "--model", script("hello"))
    chat.expect("> ")
    chat.type("hi\n")
    chat.expect("hello")
    chat.expect("> ")
    chat.type("\x04")
    assert chat.ends_with() == 0
    assert transcript(home)[0] == "closed"


def test_ctrl_c_clears_the_line_and_a_second_one_leaves_in_order(terminal, script, home: Path) -> None:
    chat = terminal("chat", "--model", script("hello"))
    chat.expect("> ")
    chat.type("hi\n")
    chat.expect("hello")
    chat.expect("> ")
    chat.type("half a line\x03")
    chat.expect("Ctrl-C once more leaves")
    chat.expect("> ")
    chat.type("\x03")
    assert chat.ends_with() == 0
    assert transcript(home) == ("closed", [Message("user", "hi"), Message("assistant", "hello")])


def test_ctrl_c_twice_counts_only_in_a_row(terminal, script) -> None:
    chat = terminal("chat", "--model", script("one", "two"))
    for answer in ("one", "two"):
        chat.expect("> ")
        chat.type("\x03")
        chat.expect("once more")
        chat.expect("> ")
        chat.type("hi\n")
        chat.expect(answer)
    assert chat.process.poll() is None


def test_ctrl_c_interrupts_a_turn_and_the_chat_goes_on(terminal, silent_model, home: Path) -> None:
    spec, server = silent_model
    chat = terminal("chat", "--model", spec)
    chat.expect("> ")
    chat.type("are you there?\n")
    with server.accept()[0]:
        chat.type("\x03")
        chat.expect("(interrupted)")
        chat.expect("> ")
        chat.type("/usage\n")
        chat.expect("1 turns")
        chat.expect("> ")
        chat.type("\x04")
        assert chat.ends_with() == 0
    reason, messages = transcript(home)
    assert reason == "closed"
    assert [(message.role, message.text) for message in messages] == [
        ("user", "are you there?"),
        ("assistant", "(interrupted)"),
    ]


def test_ctrl_c_in_a_turn_and_again_at_the_prompt_leaves(terminal, silent_model) -> None:
    spec, server = silent_model
    chat = terminal("chat", "--model", spec)
    chat.expect("> ")
    chat.type("hello?\n")
    with server.accept()[0]:
        chat.type("\x03")
        chat.expect("(interrupted)")
        chat.expect("> ")
        chat.type("\x03")
        assert chat.ends_with() == 0


def test_SIGTERM_at_the_prompt_closes_in_order(terminal, script, home: Path) -> None:
    chat = terminal("chat", "--model", script("hello"))
    chat.expect("> ")
    chat.type("hi\n")
    chat.expect("hello")
    chat.expect("> ")
    chat.signal(signal.SIGTERM)
    assert chat.ends_with() == SIGTERM_CODE
    assert transcript(home)[0] == "closed"


def test_SIGTERM_in_a_turn_leaves_a_valid_transcript(terminal, silent_model, home: Path) -> None:
    spec, server = silent_model
    chat = terminal("chat", "--model", spec)
    chat.expect("> ")
    chat.type("hello?\n")
    with server.accept()[0]:
        chat.signal(signal.SIGTERM)
        assert chat.ends_with() == SIGTERM_CODE
    reason, messages = transcript(home)
    assert reason == "closed"
    assert [message.role for message in messages] == ["user", "assistant"]


def test_an_error_of_the_model_does_not_end_the_chat(terminal, script) -> None:
    chat = terminal("chat", "--model", script("one"))
    for line, answer in (("a", "one"), ("b", "girdle: the script holds 1 replies")):
        chat.expect("> ")
        chat.type(f"{line}\n")
        chat.expect(answer)
    chat.expect("> ")
    chat.type("\x04")
    assert chat.ends_with() == 0


def test_deleting_a_profile_asks_at_a_terminal(terminal, girdle, home: Path) -> None:
    girdle("profile", "create", "old")
    for answer, there in (("n", True), ("y", False)):
        asking = terminal("profile", "delete", "old")
        asking.expect("[y/N]")
        asking.type(f"{answer}\n")
        assert asking.ends_with() == (1 if there else 0)
        assert (home / "profiles" / "old").exists() == there
