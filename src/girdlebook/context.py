"""What a model sees at one moment: the value that dialects translate and models answer."""

from dataclasses import dataclass

from girdlebook.messages import Message
from girdlebook.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class Context:
    """The system prompt, the transcript and the tools on offer.

    Within one session `system` and `tools` do not change and `messages` only grows at its end (article section 4).
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
