"""Layer 3 for one session: when room is made, what keeps it from running in circles, and what a person is told."""

import json
import time
from collections.abc import Callable, Sequence

from girdlebook.compression.compressor import CompressionResult, ContextCompressor
from girdlebook.compression.flush import LEAST_MESSAGES, Flushed
from girdlebook.compression.policy import Brake
from girdlebook.context import Context
from girdlebook.errors import ContextTooLarge
from girdlebook.messages import Message
from girdlebook.meter import ContextFill, ContextMeter

_OVERFLOW_SHRINKS = 0.8
"""What a window is taken for when the model says that a request is too long and names no limit."""


class MakingRoom:
    """Decides when a session is compressed and flushed; the composition root puts it together.

    Parameters:
        compressor: for this session alone, since it learns the model's window.
        rebuild: takes a new snapshot and builds the system prompt anew.
        flush: lets a model save to memory what is about to go; None where there is no model for it.
        flush_min_turns: turns from which on the end of the session is worth a flush; 0 for never.
        nudge_interval: turns without a memory call after which the model is reminded; 0 for never.
        brake: what was known when the session was left.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        compressor: ContextCompressor,
        rebuild: Callable[[], str],
        flush: Callable[[Context], Flushed] | None,
        *,
        flush_min_turns: int,
        nudge_interval: int,
        brake: Brake = Brake(),  # noqa: B008
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.rebuild = rebuild
        self.flush_min_turns = flush_min_turns
        self.nudge_interval = nudge_interval
        self.notices: list[str] = []
        self._compressor = compressor
        self._flush = flush
        self._brake = brake
        self._clock = clock

    @property
    def state(self) -> str:
        """What is to be known the next time, as JSON."""
        return json.dumps(self._brake.to_dict())

    def fill(self, tokens: int) -> ContextFill:
        """These tokens beside the threshold and the window."""
        length = self._compressor.context_length
        return ContextFill(tokens, self._compressor.policy.threshold_tokens(length), length)

    def is_due(self, fill: ContextFill) -> bool:
        """Whether the next request wants room first."""
        if not self._compressor.policy.enabled or fill.tokens < fill.threshold:
            return False
        return self.is_over(fill) or not self._brake.holds(self._clock())

    def is_over(self, fill: ContextFill) -> bool:
        """Whether the next request would not fit into the window at all."""
        return fill.tokens > fill.context_length

    def check(self, meter: ContextMeter, messages: Sequence[Message]) -> None:
        """Refuse what no compression can help.

        Raises:
            ContextTooLarge: the prompt and the tools alone, or the newest message, are too large.
        """
        fill = self.fill(meter.tokens)
        if not self._compressor.policy.enabled or fill.tokens < fill.threshold:
            return
        if meter.beginning > fill.threshold:
            raise ContextTooLarge(
                f"the system prompt and the tools take {meter.beginning:,} tokens, and a window of "
                f"{fill.context_length:,} is compressed from {fill.threshold:,} on; offer fewer tools"
            )
        newest = max((n for n, message in enumerate(messages) if message.role == "user"), default=None)
        if newest is not None and meter.sizes[newest] > fill.context_length:
            raise ContextTooLarge(
                f"the message takes {meter.sizes[newest]:,} tokens, the window has {fill.context_length:,}; send less"
            )

    def flush(self, context: Context) -> Flushed | None:
        """Let a model save what is about to go; None where nobody was asked."""
        if self._flush is None or len(context.messages) < LEAST_MESSAGES:
            return None
        flushed = self._flush(context)
        if flushed.problem:
            self.notices.append(f"Memory was not flushed: {flushed.problem}")
        return flushed

    def compress(
        self,
        messages: Sequence[Message],
        focus: str | None,
        *,
        session_id: str,
        numbers: Sequence[int],
        reserved: int,
        must: bool,
    ) -> CompressionResult:
        """Compress a transcript, remember how it went, and say so; the parameters are the compressor's."""
        result = self._compressor.compress(
            messages, focus, session_id=session_id, numbers=numbers, reserved=reserved, must=must
        )
        room = self._compressor.policy.room(self._compressor.context_length, reserved)
        if result.is_out_of_reach:
            self._brake = self._brake.after_failure(self._clock())
        else:
            self._brake = self._brake.after(
                result.kind,
                before=result.tokens_before,
                after=result.tokens_after,
                room=room,
                stood_in=result.stood_in,
            )
        self.notices.append(_told(result))
        if self._brake.holds(self._clock()):
            self.notices.append("Automatic compression pauses; /compress tries again.")
        return result

    def learn_window(self, limit: int | None, tokens: int) -> int:
        """Take the window for what the model says, or for less than what it refused.

        Parameters:
            limit: what the model named.
            tokens: of the refused request.

        Returns:
            what it was taken for before, for `restore_window`.
        """
        known = self._compressor.context_length
        self._compressor.context_length = limit or int(min(known, tokens) * _OVERFLOW_SHRINKS)
        return known

    def restore_window(self, context_length: int) -> None:
        """Take back what was learned, since it did not help."""
        self._compressor.context_length = context_length


def _told(result: CompressionResult) -> str:
    if result.kind == "unchanged":
        return f"The context was not compressed: {result.reason}."
    kind = "a summary" if result.kind == "summary" else "a digest"
    return (
        f"Compressed: {result.tokens_before:,} to {result.tokens_after:,} tokens, by {kind}; nothing is lost, "
        "session_search finds it."
    )
