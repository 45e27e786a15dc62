"""The promise, end to end: each turn is a run of the command of its own, so what it knows it remembered."""

import datetime
import subprocess
import sys

import pytest

from girdlebook.messages import Message
from girdlebook.sessions.sqlite import SQLiteSessionStore


@pytest.fixture
def say(home):
    def run(text):
        done = subprocess.run(
            [sys.executable, "-m", "girdlebook", "chat", "-m", text], capture_output=True, timeout=60, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def files(home):
    return "\n".join(file.read_text(encoding="utf-8") for file in (home / "memories").glob("*.md"))


def test_what_was_stated_is_known_in_the_next_conversation(say, home):
    say("By the way, my badge number is 55120.")
    say("我对芒果过敏。")
    assert "55120" in say("What's my badge number?")
    assert "芒果" in say("我对什么过敏？")
    assert "55120" in files(home)


def test_a_correction_replaces_what_was_there(say, home):
    say("My dentist is Dr Novak.")
    say("Correction: my dentist is Dr Silva.")
    answer = say("Who is my dentist?")
    assert "Silva" in answer
    assert "Novak" not in answer + files(home)


def test_what_was_to_be_forgotten_never_comes_up_again(say, home):
    say("My home address is 3 Birch Lane.")
    say("Please forget my home address.")
    for question in ("What is my home address?", "Where do I live?", "Did I mention Birch Lane?"):
        assert "3 Birch" not in say(question)
    assert "Birch" not in files(home)
    say("My home address is 9 Cedar Road.")
    assert "Cedar" in say("What is my home address?")


def test_small_talk_is_not_kept_and_nothing_is_made_up(say, home):
    say("haha good morning!")
    assert "don't know" in say("What is my blood type?")
    assert not (home / "memories").exists() or files(home) == ""


def test_an_old_conversation_is_quoted_with_its_date_and_session(say, home):
    start = datetime.datetime(2023, 5, 8, 13, 56).timestamp()
    talk = [
        "Caroline: Hey Mel! Good to see you! How have you been?",
        "Melanie: Swamped with the kids and work. Anything new?",
        "Caroline: I went to a LGBTQ support group yesterday and it was so powerful.",
        "Melanie: Wow, that's cool, Caroline! Did you hear any inspiring stories?",
    ]
    with SQLiteSessionStore.open(home / "state.db") as store:
        store.create_session("old-talk", source="import", started_at=start)
        store.append_many(
            "old-talk", [Message("user", text) for text in talk], timestamps=[start + n for n in range(4)]
        )
    answer = say("When did Caroline go to the LGBTQ support group?")
    assert "I went to a LGBTQ support group yesterday" in answer
    assert "2023-05-08" in answer
    assert "old-talk" in answer
