"""A conversation in the terminal, or over a pipe where each line is a turn."""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from girdlebook.agent import Agent
from girdlebook.cli.memory import block
from girdlebook.cli.output import clip, notice, out
from girdlebook.cli.signals import Signals
from girdlebook.cli.usage import describe
from girdlebook.context import Context
from girdlebook.errors import GirdleError
from girdlebook.messages import Reply
from girdlebook.models.base import ChatModel, OnText, is_language_model, window_of
from girdlebook.session import MemorySession

PROMPT = "> "

# A path at the start of a message is no command.
_COMMAND = re.compile(r"/([a-z]+)(?:\s+(\S.*))?", re.IGNORECASE)

_HELP = """\
/memory  what is remembered, as it is now
/new     start a new conversation (also /reset)
/resume  go on with an earlier conversation: /resume ID or title
/compress  make room now: /compress, or /compress TOPIC to be thorough about one
/usage   turns, tokens, and how full the context is of this conversation
/help    this list
/quit    leave (also Ctrl-D, and Ctrl-C twice)"""


class Screen:
    """Prints pieces of text as they come and knows whether a line is open."""

    def __init__(self) -> None:
        self._line_open = False
        self.silent = True

    def piece(self, text: str) -> None:
        """Print a piece of an answer."""
        out(text, end="")
        self.silent = self.silent and not text.strip()
        self._line_open = not text.endswith("\n")

    def end_line(self) -> None:
        """Go to the start of a line."""
        if self._line_open:
            out()
        self._line_open = False


class WaitedForModel:
    """A model whose calls signals may interrupt; the text of each call starts on a line of its own."""

    def __init__(self, model: ChatModel, signals: Signals, screen: Screen) -> None:
        self.name = model.name
        self.summarises = is_language_model(model)
        self._model = model
        self._signals = signals
        self._screen = screen

    def context_length(self) -> int | None:
        """The model's window in tokens."""
        return window_of(self._model)

    def reply(self, context: Context, on_text: OnText | None = None) -> Reply:
        """Ask the model."""
        self._screen.end_line()
        with self._signals.waiting():
            return self._model.reply(context, on_text)


class Conversation:
    """The dialogue of a person with an agent.

    Parameters:
        agent: who answers; the caller closes it.
        signals: what may interrupt.
        screen: where answers go.
        interactive: whether a person sits there: then there is a prompt, and an error does not end it.
    """

    def __init__(self, agent: Agent, signals: Signals, screen: Screen, *, interactive: bool) -> None:
        self._agent = agent
        self._signals = signals
        self._screen = screen
        self._interactive = interactive
        self._interrupted = False
        self._commands: dict[str, Callable[[], object]] = {
            "memory": self._show_memory,
            "new": self._start_anew,
            "reset": self._start_anew,
            "usage": self._show_usage,
            "help": lambda: out(_HELP),
        }

    def run(self) -> None:
        """Talk until the input ends, `/quit`, or Ctrl-C a second time.

        Raises:
            GirdleError: a turn failed, and nobody sits there to try again.
            KeyboardInterrupt: Ctrl-C, where nobody sits there either.
            SystemExit: another signal arrived.
        """
        if self._interactive:
            with suppress(ImportError):  # Windows has none; it edits lines by itself
                import_module("readline")
        while (line := self._next_line()) is not None:
            if line.strip().lower() == "/quit":
                return
            if line.strip():
                self._handle(line.strip())

    def _next_line(self) -> str | None:
        """What is typed next; None at the end."""
        while True:
            try:
                line = self._read()
            except EOFError:
                self._leave_prompt()
                return None
            except KeyboardInterrupt:
                self._leave_prompt()
                if not self._interactive:
                    raise
                if self._interrupted:
                    return None
                self._interrupted = True
                notice("(Ctrl-C once more leaves)")
            else:
                self._interrupted = False
                return line

    def _read(self) -> str:
        with self._signals.waiting():
            if self._interactive:
                return input(PROMPT)
            line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line

    def _leave_prompt(self) -> None:
        if self._interactive:
            out()

    def _handle(self, text: str) -> None:
        try:
            self._obey_or_answer(text)
        except KeyboardInterrupt:
            self._screen.end_line()
            notice("(interrupted)")
            self._interrupted = True
            if not self._interactive:
                raise
        except GirdleError as error:
            self._screen.end_line()
            if not self._interactive:
                raise
            notice(f"girdle: {error}")

    def _obey_or_answer(self, text: str) -> None:
        command = _COMMAND.fullmatch(text)
        if command is None:
            self._turn(text)
        elif command[1].lower() == "resume":
            self._resume(command[2])
        elif command[1].lower() == "compress":
            self._agent.session.compress(command[2])
            self._tell()
        elif command[2] is not None:
            self._turn(text)
        else:
            self._commands.get(command[1].lower(), lambda: notice(f"unknown command {text}; /help lists them"))()

    def _turn(self, text: str) -> None:
        self._screen.silent = True
        result = self._agent.run(text, on_text=self._screen.piece)
        if self._screen.silent:
            self._screen.piece(result.text or "(no text)")
        self._screen.end_line()
        self._tell()
        if result.stopped == "max_iterations":
            notice(f"(stopped after {result.iterations} model calls; --max-iterations allows more)")

    def _tell(self) -> None:
        """What the session wants a person to know."""
        session = self._agent.session
        for text in session.notices:
            notice(f"({text})")
        session.notices.clear()

    def _show_memory(self) -> None:
        store = self._agent.memory.store
        for target in store.targets:
            out(block(store, target) + "\n")

    def _start_anew(self) -> None:
        self._agent.new_session()
        notice("A new conversation.  What was remembered so far is in its prompt.")

    def _resume(self, name: str | None) -> None:
        if name is None:
            notice("which one?  /resume ID or title; girdle sessions list shows them")
        else:
            notice(going_on(self._agent.resume(name)))

    def _show_usage(self) -> None:
        session = self._agent.session
        fill = session.fill
        full = f"context {fill.percent} % of {fill.context_length:,} tokens"
        out(f"session {session.id} · {session.turns} turns · {describe(session.usage)} · {full}")


def going_on(session: MemorySession) -> str:
    """What to say when an earlier conversation is taken up: which, and where it stood."""
    said = f"; the last words were: {clip(session.messages[-1].text, 50)}" if session.messages else ""
    return f"Going on with {session.id}, {session.turns} turns so far{said}"
