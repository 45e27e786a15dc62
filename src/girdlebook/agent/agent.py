"""An agent: a model, a memory and the tools it may use."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from girdlebook.agent.loop import TurnResult, run_turn
from girdlebook.function_tools import tool_from_function
from girdlebook.memory import Memory
from girdlebook.models.base import ChatModel, OnText, window_of
from girdlebook.session import MemorySession
from girdlebook.tools import Tool, Toolbox


class Agent:
    """Talks in one session at a time; the first is opened with the first turn.

    Parameters:
        model: who answers.
        memory: what is remembered; the caller closes it.
        instructions: the system prompt's first part.
        tools: plain typed functions with a docstring, or `Tool` values.
        max_iterations: the most model calls in one turn.
        source: where the conversations take place, for lists and searches.
        project: the folder that they are about, for the same.
        context_length: the model's window in tokens; None for what the model says, else what the memory was told.

    Raises:
        TypeError: a function cannot become a tool.
        ValueError: two tools have one name, or `max_iterations` is below 1.
    """

    def __init__(
        self,
        model: ChatModel,
        memory: Memory,
        *,
        instructions: str = "",
        tools: Sequence[Tool | Callable[..., object]] = (),
        max_iterations: int = 30,
        source: str = "library",
        project: Path | None = None,
        context_length: int | None = None,
    ) -> None:
        if max_iterations < 1:
            raise ValueError(f"max_iterations is {max_iterations}; a turn needs at least one model call")
        self.model = model
        self.memory = memory
        self._instructions = instructions
        self._toolbox = Toolbox(tool if isinstance(tool, Tool) else tool_from_function(tool) for tool in tools)
        self._max_iterations = max_iterations
        self._source = source
        self._project = project
        self._context_length = context_length
        self._session: MemorySession | None = None

    @property
    def session(self) -> MemorySession:
        """The running session; opened if there is none."""
        if self._session is None:
            self._session = self.memory.session(
                self._instructions,
                source=self._source,
                project=self._project,
                tools=self._toolbox.specs,
                model=self.model.name,
                main_model=self.model,
                context_length=self._window(),
            )
        return self._session

    def run(self, text: str, *, on_text: OnText | None = None) -> TurnResult:
        """Answer one message; see `run_turn` for what may be raised."""
        return run_turn(
            self.session, self.model, self._toolbox, text, max_iterations=self._max_iterations, on_text=on_text
        )

    def new_session(self) -> MemorySession:
        """Close the running session and open another, with a fresh snapshot."""
        self.close("new")
        return self.session

    def resume(self, name: str) -> MemorySession:
        """Close the running session and go on with an earlier one.

        Parameters:
            name: its id, the beginning of one, or its title.

        Raises:
            SessionNotFound, AmbiguousSession: the name is nobody's, or that of several; the running session stays.
        """
        resumed = self.memory.resume(
            name,
            self._instructions,
            tools=self._toolbox.specs,
            main_model=self.model,
            context_length=self._window(),
        )
        self.close("resumed another")
        self._session = resumed
        return resumed

    def _window(self) -> int | None:
        """The model's window in tokens; asked for once."""
        if self._context_length is None:
            self._context_length = window_of(self.model)
        return self._context_length

    def close(self, reason: str = "closed") -> None:
        """End the running session.

        Parameters:
            reason: what its record will say.
        """
        if self._session is not None:
            self._session.close(reason)
            self._session = None

    def __enter__(self) -> "Agent":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close("closed" if kind is None else "error")
