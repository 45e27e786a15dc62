"""One turn of the loop: ask the model, run what it calls, until it asks for nothing more."""

import logging
import time
from dataclasses import dataclass
from typing import Literal

from girdlebook.compression.policy import MOST_OVERFLOWS
from girdlebook.errors import ContextOverflow, GirdleError
from girdlebook.messages import Reply, Usage
from girdlebook.models.base import ChatModel, OnText
from girdlebook.session import MemorySession
from girdlebook.tools import Toolbox

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a turn gave.

    `text` is the assistant's last text, `iterations` the number of model calls, `usage` theirs together, `stopped`
    whether the model answered or the limit of calls was reached.
    """

    text: str
    session_id: str
    iterations: int
    usage: Usage
    stopped: Literal["answered", "max_iterations"]


def run_turn(
    session: MemorySession,
    model: ChatModel,
    toolbox: Toolbox,
    text: str,
    *,
    max_iterations: int,
    on_text: OnText | None = None,
) -> TurnResult:
    """Answer one message of the person.

    Whatever ends the turn early, Ctrl-C included, the transcript is left valid and the error goes on to the caller.

    Parameters:
        toolbox: the caller's own tools, the ones that the session was opened with.
        max_iterations: the most model calls in this turn.
        on_text: called with each piece of text as it arrives.

    Raises:
        TurnError: the text is blank, or the session is closed or in a turn.
        ModelError: the model could not be asked.
        ContextTooLarge: what cannot be compressed does not fit into the model's window.
        StoreError: a message could not be stored.
    """
    before, started = session.usage, time.monotonic()
    session.begin_turn(text)
    try:
        iterations = _converse(session, model, toolbox, max_iterations, on_text)
        answered = not session.awaiting_model
        if answered:
            session.end_turn()
        else:
            session.interrupt(f"stopped after {max_iterations} model calls")
    except GirdleError as error:
        _LOG.warning("session %s, turn %d failed: %s", session.id, session.turns + 1, type(error).__name__)
        raise
    finally:
        session.interrupt()
    used, seconds = session.usage - before, time.monotonic() - started
    _LOG.info(
        "session %s, turn %d: %d model calls, %d tokens in, %d out, %.2f seconds",
        *(session.id, session.turns, iterations, used.input_tokens, used.output_tokens, seconds),
    )
    return TurnResult(
        text=session.last_text,
        session_id=session.id,
        iterations=iterations,
        usage=used,
        stopped="answered" if answered else "max_iterations",
    )


def _converse(
    session: MemorySession, model: ChatModel, toolbox: Toolbox, max_iterations: int, on_text: OnText | None
) -> int:
    """Ask until the model is done or the limit is reached; gives the number of calls."""
    for iteration in range(1, max_iterations + 1):
        session.add_reply(_reply(session, model, on_text))
        for call in session.pending_calls:
            result = toolbox.run(call)
            session.add_tool_result(result.call_id, result.content, is_error=result.is_error)
        if not session.awaiting_model:
            return iteration
    return max_iterations


def _reply(session: MemorySession, model: ChatModel, on_text: OnText | None) -> Reply:
    """Ask the model; where it says that the request is too long, room is made and it is asked again.

    Raises:
        ContextOverflow: it was too long again and again.
        ModelError: the model could not be asked.
    """
    for _ in range(MOST_OVERFLOWS):
        try:
            return model.reply(session.context(), on_text)
        except ContextOverflow as error:
            session.overflowed(error)
    return model.reply(session.context(), on_text)
