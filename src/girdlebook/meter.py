"""How full a context is: by the model's own figure as soon as there is one, estimated until then."""

from collections.abc import Sequence
from dataclasses import dataclass

from girdlebook.messages import Message, Usage
from girdlebook.tokens import Correction, estimate_message, estimate_text, estimate_tool
from girdlebook.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class ContextFill:
    """How full the context is, in tokens: of the next request, of the threshold, of the model's window."""

    tokens: int
    threshold: int
    context_length: int

    @property
    def percent(self) -> int:
        """The share of the window that is taken; 0 where the window is not known."""
        return 100 * self.tokens // self.context_length if self.context_length else 0


class ContextMeter:
    """Counts the tokens of a growing transcript, each message once.

    Parameters:
        system: the system prompt.
        tools: what is on offer.
        messages: the transcript so far.
    """

    def __init__(self, system: str, tools: Sequence[ToolSpec], messages: Sequence[Message]) -> None:
        self._tools = sum(map(estimate_tool, tools))
        self._correction = Correction()
        self.restart(system, messages)

    def restart(self, system: str, messages: Sequence[Message]) -> None:
        """Count anew, for another beginning or a transcript that was compressed; what was learned stays."""
        self.beginning = estimate_text(system) + self._tools
        """Tokens of the system prompt and the tools."""
        self.sizes = [estimate_message(message) for message in messages]
        """Tokens of each message."""
        self._reported: tuple[int, int] | None = None

    def add(self, message: Message) -> None:
        """Count a message at the end."""
        self.sizes.append(estimate_message(message))

    def reported(self, usage: Usage, *, answer: int) -> None:
        """Take the model's own figure, and learn from it.

        Parameters:
            answer: how many messages the answer itself added.
        """
        if usage.input_tokens:
            asked = len(self.sizes) - answer
            self._correction = self._correction.learned(self.beginning + sum(self.sizes[:asked]), usage.input_tokens)
            self._reported = usage.input_tokens + usage.output_tokens, len(self.sizes)

    @property
    def tokens(self) -> int:
        """Tokens of the next request."""
        if self._reported is None:
            return self._correction.corrected(self.beginning + sum(self.sizes))
        reported, count = self._reported
        return reported + self._correction.corrected(sum(self.sizes[count:]))
