"""The summary without a model."""

import json

import pytest

from girdlebook.compression.digest import digest
from girdlebook.compression.summary import sections
from girdlebook.messages import Message, ToolCall
from girdlebook.tokens import estimate_text


def ran(number, command, output):
    call = ToolCall(str(number), "terminal", json.dumps({"command": command}))
    return [Message("assistant", "", (call,)), Message("tool", output, tool_call_id=str(number), tool_name="terminal")]


def made(*messages, previous=None, notes="", most=5_000):
    return digest(list(messages), previous=previous, notes=notes, most_tokens=most)


@pytest.mark.parametrize(
    "wish",
    ["记住：端口必须是 48121，不要改。", "Never touch release/krill-f8fb.", "stop the refactor, look at the dashboard"],
)
def test_short_messages_of_the_person_stay_whole(wish):
    found = sections(made(Message("user", wish), Message("assistant", "ok")))
    assert found["## Constraints & Preferences"] == [wish]


def test_a_long_request_stays_by_its_beginning():
    found = sections(made(Message("user", "<task>\nRepair the parser. " + "More words. " * 200)))
    assert found["## Goal"][0].startswith("Repair the parser.")
    assert len(found["## Goal"][0]) < 300


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("The checksum of the build is 0ae2089632e3.", "0ae2089632e3"),
        ("So I'll set --retry-limit-7 here.", "--retry-limit-7"),
        ("总行数为 45283。", "45283"),
        ("The image tag is 20.14.12 now.", "20.14.12"),
        ("We call it `lotus-087c`.", "lotus-087c"),
    ],
)
def test_values_that_the_assistant_named_stay_with_their_sentence(sentence, value):
    text = made(Message("user", "go"), Message("assistant", f"I looked around.\n\n{sentence} And on we go."))
    assert value in text
    assert "I looked around" not in sections(text).get("## Key Decisions", [])


def test_error_lines_stay_whole_and_source_lines_do_not():
    output = "ok\nE   ValueError: cannot place 65241 rows\n    raise ValueError('x')\nfatal: unable to access 'https://g/r.git/'\n"
    items = sections(made(*ran(1, "pytest", output)))["## Critical Context"]
    assert items == ["ValueError: cannot place 65241 rows", "fatal: unable to access 'https://g/r.git/'"]
    source = "  12\tclass MyError(Exception):\n  13\t    raise MyError('x')\n"
    assert "Critical" not in made(*ran(1, "cat -n errors.py", source))


def test_written_files_come_first_then_those_that_outputs_named():
    text = made(*ran(1, "echo x > conf/a.yaml", ""), *ran(2, "make", "wrote 214 lines to /srv/amber/b_1.log\nok"))
    assert sections(text)["## Relevant Files"] == ["conf/a.yaml (written)", "/srv/amber/b_1.log"]


def test_a_listing_is_no_news():
    listing = "\n".join(f"./src/module_{n}/file_{n}.py" for n in range(500))
    files = sections(made(*ran(1, "find .", listing + "\nsaved to /var/odd/one.log")))["## Relevant Files"]
    assert len(files) <= 4
    assert "/var/odd/one.log" in files


def test_what_an_earlier_summary_says_stays():
    first = made(Message("user", "Use port 4711."), Message("assistant", "The id is 0ae2089632e3."))
    second = made(Message("user", "Use branch b-17."), Message("assistant", "ok"), previous=first)
    for value in ("4711", "0ae2089632e3", "b-17"):
        assert value in second
    assert made(Message("user", "Use branch b-17."), Message("assistant", "ok"), previous=second) == second


def test_it_keeps_to_its_budget_and_prefers_what_is_new():
    talk = [
        m for n in range(400) for m in (Message("user", f"wish number {n} is {n * 7919}"), Message("assistant", "ok"))
    ]
    text = made(*talk, most=600)
    assert estimate_text(text) <= 800
    assert "wish number 399" in text
    assert "wish number 1 " not in text


def test_notes_of_an_external_memory_go_in():
    assert "From the external memory: likes tea" in made(Message("user", "x"), notes="likes\ntea")


def test_nothing_said_gives_nothing():
    assert made(Message("assistant", "")) == ""
