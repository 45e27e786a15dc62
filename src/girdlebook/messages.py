"""Messages as girdlebook keeps them: frozen values, free of any vendor's shape.

Vendor shapes exist only in `dialects/`.  A call's arguments are kept as the text that the model wrote, since a request
that replays them must repeat them byte for byte (article section 4.1).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image: a URL, or base64 data with its media type (`image/png`).

    `detail` is the resolution asked for, in the vendor's own word.
    """

    source: str
    media_type: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A vendor's own block, kept untouched and sent back to that vendor only (thinking, server tools)."""

    vendor: str
    data: Mapping[str, Any]


Part = TextPart | ImagePart | OpaquePart


@dataclass(frozen=True, slots=True)
class Attachment:
    """Text sent along with a user message but kept apart from what the person wrote.

    `kind` says where it came from.  Stored and replayed byte for byte, so that the prompt prefix stays equal.
    """

    kind: Literal["recall", "nudge"]
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for; `arguments` is its JSON text, unchanged."""

    id: str
    name: str
    arguments: str = "{}"

    def parsed(self) -> dict[str, Any]:
        """The arguments as a dictionary.

        Raises:
            ValueError: the text is not a JSON object.
        """
        try:
            value = json.loads(self.arguments or "{}")
        except RecursionError as error:
            raise ValueError(f"the arguments of {self.name} are nested too deeply") from error
        if not isinstance(value, dict):
            raise ValueError(f"the arguments of {self.name} are not a JSON object: {self.arguments[:80]!r}")
        return value


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave, as the text that the model reads."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a transcript.

    `content` is text, or parts where it holds more than text.  `tool_calls` belongs to assistant messages;
    `tool_call_id`, `tool_name` and `is_error` to tool messages; `attachments` to user messages.
    """

    role: Role
    content: str | tuple[Part, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    attachments: tuple[Attachment, ...] = ()
    finish_reason: str | None = None
    reasoning: str | None = None

    @property
    def text(self) -> str:
        """The text that was written, without images, vendor blocks and attachments."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(text for part in self.content if (text := _text_of(part)))

    @property
    def sent_text(self) -> str:
        """The text as the model gets it: attachments follow what the person wrote."""
        return "\n\n".join([self.text, *(attachment.text for attachment in self.attachments)])


def _text_of(part: Part) -> str:
    """What a part says in words; a vendor's own text block (one with citations) says its text."""
    if isinstance(part, OpaquePart):
        return str(part.data.get("text", "")) if part.data.get("type") == "text" else ""
    return part.text if isinstance(part, TextPart) else ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, as the vendor reported them.

    `input_tokens` counts the whole prompt, cached or not; the cache figures are shares of it.  `cost_usd` is the
    vendor's own figure, else None: prices are never guessed.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            sum(costs) if costs else None,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        """What came on top of an earlier sum."""
        cost = None if self.cost_usd is None else self.cost_usd - (other.cost_usd or 0)
        return Usage(
            self.input_tokens - other.input_tokens,
            self.output_tokens - other.output_tokens,
            self.cache_read_tokens - other.cache_read_tokens,
            self.cache_write_tokens - other.cache_write_tokens,
            self.reasoning_tokens - other.reasoning_tokens,
            cost,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer: the assistant message, and what the call used where the vendor said so."""

    message: Message
    usage: Usage | None = None
    model: str | None = None
