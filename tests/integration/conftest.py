"""The real command in processes of its own: over pipes, and at a terminal."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SECONDS = 30
GIRDLE = [sys.executable, "-m", "girdlebook"]

# Makes the terminal on stdin the controlling one, so that Ctrl-C becomes a signal, then becomes the command.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


@pytest.fixture
def girdle() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command to its end, with `text` on stdin."""

    def run(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*GIRDLE, *arguments],
            input=text,
            capture_output=True,
            encoding="utf-8",
            env=os.environ | environment,
            timeout=SECONDS,
            check=False,
        )

    return run


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write a script of replies; gives the model's name for --model."""

    def write(*replies: str | dict[str, object]) -> str:
        path = tmp_path / "script.jsonl"
        rows = [{"text": reply} if isinstance(reply, str) else reply for reply in replies]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return f"scripted:{path}"

    return write


class Terminal:
    """The command at a pseudo terminal: what it prints is waited for, what is sent is typed."""

    def __init__(self, *arguments: str) -> None:
        self._master, slave = os.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *GIRDLE, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=os.environ | {"TERM": "dumb"},
        )
        os.close(slave)
        self.seen = ""
        self._unread = b""

    def type(self, text: str) -> None:
        """Type text; `\\x03` is Ctrl-C, `\\x04` Ctrl-D."""
        self._until_it_waits()
        os.write(self._master, text.encode())

    def signal(self, number: int) -> None:
        """Send a signal."""
        self._until_it_waits()
        self.process.send_signal(number)

    def expect(self, text: str) -> None:
        """Wait until the text has appeared after what was waited for before."""
        wanted = text.encode()
        deadline = time.monotonic() + SECONDS
        while wanted not in self._unread:
            self._unread += self._read(deadline, text)
        before, _, self._unread = self._unread.partition(wanted)
        self.seen += (before + wanted).decode(errors="replace")

    def ends_with(self) -> int:
        """Wait for the end; gives the exit code."""
        return self.process.wait(SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self._master)

    def _read(self, deadline: float, text: str) -> bytes:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            pytest.fail(f"{text!r} did not appear; after {self.seen!r} came {self._unread!r}")
        try:
            return os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return pytest.fail(f"it ended before {text!r} appeared; after {self.seen!r} came {self._unread!r}")

    def _until_it_waits(self) -> None:
        """A signal between `input`'s prompt and its wait is seen by Python with the next line only; no person is so
        quick, but a test is."""
        deadline = time.monotonic() + SECONDS
        state = Path(f"/proc/{self.process.pid}/stat")
        while state.exists() and state.read_text().rpartition(")")[2].split()[0] == "R":
            assert time.monotonic() < deadline
            time.sleep(0.001)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    """Open the command at a terminal."""
    opened: list[Terminal] = []

    def open_terminal(*arguments: str) -> Terminal:
        opened.append(Terminal(*arguments))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()
