"""The top of the command line: help and wrong usage."""

import pytest

COMMANDS = [
    "chat",
    "demo",
    "doctor",
    "search",
    *(f"memory {name}" for name in ("show", "list", "read", "add", "replace", "remove", "edit", "path")),
    *(f"profile {name}" for name in ("list", "create", "use", "delete")),
]


def test_help_names_every_command(girdle) -> None:
    shown = girdle("--help")
    assert shown.code == 0
    assert all(command.split()[0] in shown.out for command in COMMANDS)
    assert girdle().out == shown.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_a_help_text_of_80_columns(girdle, command: str) -> None:
    page = girdle(*command.split(), "--help").out
    assert max(map(len, page.splitlines())) <= 80
    assert page.split("\n\n")[1].strip().endswith(".")
    for line in page.partition("Options:")[2].splitlines():
        assert not line.startswith("  -") or len(line.split()) > 2, line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serch"], "No such command 'serch'. Did you mean 'search'?"),
        (["search", "--limt", "3"], "No such option: --limt"),
        (["memory", "add", "user"], "Missing argument 'text'"),
        (["memory"], "Missing command"),
        (["chat", "--max-iterations", "0"], "--max-iterations"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(girdle, arguments: list[str], message: str) -> None:
    wrong = girdle(*arguments)
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("girdle: ")
    assert message in wrong.err
    assert "--help" in wrong.err
    assert wrong.err.count("\n") == 1
