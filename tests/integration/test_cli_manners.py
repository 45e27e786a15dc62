"""Manners that all commands share: help, usage errors, exit codes, closed pipes, version, completion."""

import os
import subprocess
import sys
from pathlib import Path

GIRDLE = [sys.executable, "-m", "girdlebook"]


def test_the_installed_command_tells_its_version(girdle) -> None:
    script = Path(sys.executable).with_name("girdle")
    told = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=30, check=True)
    assert told.stdout == girdle("--version").stdout
    assert told.stdout.startswith("girdle 0.")


def test_CLI_05_a_reader_that_goes_away_is_no_error(girdle) -> None:
    girdle("memory", "add", "memory", "x" * 2000)
    for command in (["memory", "show"], ["memory", "list", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([*GIRDLE, *command], stdout=writing, stderr=subprocess.PIPE, timeout=30, check=False)
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_behind_stdout_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*GIRDLE, "profile", "list"], stdout=full, capture_output=False, stderr=subprocess.PIPE, timeout=30
        )
    assert done.returncode == 1
    assert done.stderr == b"girdle: No space left on device\n"


def test_a_home_that_cannot_be_made_is_one_line(girdle, tmp_path: Path, script) -> None:
    (tmp_path / "file").touch()
    refused = girdle("chat", "-m", "x", "--model", script("y"), GIRDLE_HOME=str(tmp_path / "file" / "home"))
    assert refused.returncode == 1
    assert refused.stderr.startswith("girdle: ")
    assert refused.stderr.count("\n") == 1


def test_the_shell_can_complete_commands(girdle) -> None:
    completed = girdle(_GIRDLE_COMPLETE="complete_bash", COMP_WORDS="girdle se", COMP_CWORD="1")
    assert completed.stdout.split() == ["search", "sessions"]
