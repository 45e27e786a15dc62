"""Ctrl-C and SIGTERM while a conversation runs."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Signals:
    """Signals end a wait at once, and nothing else: what arrives while files are written is kept for the next wait.

    So no signal can fall between storing a message and remembering that it is stored, nor into the orderly close.
    Use as a context manager in the main thread.
    """

    def __init__(self) -> None:
        self._waiting = False
        self._pending: int | None = None
        self._numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A wait for the person or the model.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            SystemExit: another signal, with the shell's exit code for it.
        """
        try:
            self._waiting = True
            if self._pending is not None:
                self._raise(self._pending)
            yield
        finally:
            self._waiting = False

    def __enter__(self) -> Self:
        self._former = {number: signal.signal(number, self._arrived) for number in self._numbers}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        # Ctrl-C must not hide a SIGTERM that is kept.
        if self._pending in (None, signal.SIGINT):
            self._pending = number
        if self._waiting:
            self._raise(self._pending)

    def _raise(self, number: int | None) -> None:
        self._pending = None
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + int(number or 0))
