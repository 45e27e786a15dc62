"""The flush: one bounded model call that may save to memory what a transcript is about to lose (article section 6.2).

It works on a copy of the transcript, so there is no sentinel and nothing to clean up, and a crash leaves no trace.  On
an auxiliary model only the memory tool is on offer; on the conversation's own model the request begins like every other
one, so that its prefix is served from the cache, and every call but memory is refused.
"""

import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from girdlebook.context import Context
from girdlebook.errors import ModelError, ModelTimeout
from girdlebook.messages import Message, Reply, Usage
from girdlebook.models.base import ChatModel
from girdlebook.prompts.assemble import read
from girdlebook.tools import Tool, Toolbox, ToolSpec

LEAST_MESSAGES = 3
"""A shorter transcript holds nothing that is worth a call."""


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did: the memory calls that were run, those of other tools that were refused, and its cost."""

    saved: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    problem: str = ""


def flush_on_auxiliary(model: ChatModel, context: Context, memory_tool: Tool, *, timeout: float) -> Flushed:
    """Flush with another model, which is offered the memory tool alone.

    Parameters:
        timeout: seconds that it may take; what comes later is thrown away.
    """
    return _flush(model, context, memory_tool, offered=(memory_tool.spec,), timeout=timeout)


def flush_on_main(model: ChatModel, context: Context, memory_tool: Tool, *, timeout: float) -> Flushed:
    """Flush with the conversation's own model, whose request must begin like the ones before.

    Parameters:
        timeout: seconds that it may take; what comes later is thrown away.
    """
    return _flush(model, context, memory_tool, offered=context.tools, timeout=timeout)


def _flush(
    model: ChatModel, context: Context, memory_tool: Tool, *, offered: Sequence[ToolSpec], timeout: float
) -> Flushed:
    asked = (*context.messages, Message("user", read("flush")))
    try:
        reply = _within(model, replace(context, messages=asked, tools=tuple(offered)), timeout)
    except ModelError as error:
        return Flushed(problem=str(error))
    toolbox = Toolbox([memory_tool])
    wanted = [call for call in reply.message.tool_calls if call.name in toolbox]
    results = [toolbox.run(call) for call in wanted]
    return Flushed(
        saved=sum(not result.is_error for result in results),
        refused=len(reply.message.tool_calls) - len(wanted),
        usage=reply.usage or Usage(),
        model=reply.model or model.name,
    )


def _within(model: ChatModel, context: Context, timeout: float) -> Reply:
    """The model's answer, unless it takes too long.

    Raises:
        ModelTimeout: it took too long; the call goes on in its thread, and nobody listens to it any more.
        ModelError: the model could not be asked.
    """
    answers: queue.SimpleQueue[Reply | ModelError] = queue.SimpleQueue()

    def ask() -> None:
        answer: Reply | ModelError = ModelError(f"{model.name} failed in a way of its own")
        try:
            answer = model.reply(context)
        except ModelError as error:
            answer = error
        finally:
            answers.put(answer)

    threading.Thread(target=ask, daemon=True, name="girdlebook flush").start()
    try:
        answer = answers.get(timeout=timeout)
    except queue.Empty as error:
        raise ModelTimeout(f"{model.name} did not answer within {timeout:g} seconds") from error
    if isinstance(answer, ModelError):
        raise answer
    return answer
