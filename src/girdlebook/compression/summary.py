"""Phases 4 and 5: the structured summary that takes the middle's place, and how a model writes or updates it.

A summary is one message of the person's role whose `finish_reason` says what it is; so it is stored, found again in
the transcript and brought up to date there, and no summary of another session can ever get in (report L3-34).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from girdlebook.context import Context
from girdlebook.errors import ModelError, ModelTimeout
from girdlebook.messages import Message, Reply, Usage
from girdlebook.models.base import ChatModel
from girdlebook.prompts.assemble import read
from girdlebook.tokens import estimate_text

MARK = "compression"
END = "[END OF SUMMARY]"

HEADINGS = (
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Relevant Files",
    "## Next Steps",
    "## Critical Context",
    "## Tools & Patterns",
)
"""The article's headings (section 6.1)."""

NOTES_CHARACTERS = 6_000
"""What a provider may add before a compression."""

_ORIGIN = re.compile(r'messages (?P<first>\d+) to (?P<last>\d+) of this session.*?session_id "(?P<session>[^"]*)"')
_BRIDGE = "(Noted.)"
_LEAST_HEADINGS = 3
_MESSAGE_HEAD, _MESSAGE_TAIL, _ARGUMENTS = 4_000, 1_500, 1_200
_CUT_SHORT = ("length", "max_tokens")
_WINDOW_SHARE = 0.5


class SummaryUnfit(ModelError):
    """A model answered, and what it answered is no summary."""


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that a model wrote, and what its calls used."""

    text: str
    usage: Usage
    model: str | None


@dataclass(frozen=True, slots=True)
class Origin:
    """Which stored messages a summary stands for."""

    session_id: str
    first: int
    last: int


def summary_message(body: str, origin: Origin | None) -> Message:
    """The message that takes the middle's place."""
    parts = [read("handoff"), *([_origin_line(origin)] if origin else []), body.strip(), END]
    return Message("user", "\n\n".join(parts), finish_reason=MARK)


def origin_of(message: Message) -> Origin | None:
    """Which stored messages a summary says that it stands for."""
    found = _ORIGIN.search(message.text)
    return Origin(found["session"], int(found["first"]), int(found["last"])) if found else None


def bridge() -> Message:
    """A short word of the assistant, where two messages of the person would follow one another (report L3-10)."""
    return Message("assistant", _BRIDGE, finish_reason=MARK)


def is_summary(message: Message) -> bool:
    """Whether the message stands for earlier ones."""
    return message.role == "user" and message.finish_reason == MARK


def is_bridge(message: Message) -> bool:
    """Whether the message only keeps the roles in turn."""
    return message.role == "assistant" and message.finish_reason == MARK


def body_of(message: Message) -> str:
    """The summary itself, without the words around it."""
    text = message.text
    start = text.find("\n## ")
    return text[start + 1 if start >= 0 else 0 :].removesuffix(END).strip()


def sections(body: str) -> dict[str, list[str]]:
    """The statements below each of the known headings."""
    found: dict[str, list[str]] = {}
    heading = HEADINGS[0]
    for line in body.splitlines():
        stripped = line.strip()
        if stripped in HEADINGS:
            heading = stripped
        elif stripped:
            found.setdefault(heading, []).append(stripped.removeprefix("- "))
    return found


def render(found: dict[str, list[str]]) -> str:
    """Statements below their headings; a heading without any is left out."""
    lines: list[str] = []
    for heading in HEADINGS:
        items = found.get(heading) or []
        if items or (heading == "## Progress" and any(found.get(one) for one in HEADINGS[3:6])):
            lines += ["", heading, *(f"- {item}" for item in items)]
    return "\n".join(lines).strip()


def write_summary(
    model: ChatModel,
    messages: Sequence[Message],
    *,
    previous: str | None,
    focus: str | None,
    notes: str,
    most_tokens: int,
    window: int,
) -> Written:
    """Let a model summarise; a middle larger than its window goes in pieces, each bringing the summary up to date.

    Parameters:
        previous: the summary so far.
        focus: what to be thorough about.
        notes: what an external memory wants to be kept.
        most_tokens: what the summary may have.
        window: the model's window in tokens.

    Raises:
        ModelUnavailable, ModelTimeout, ModelError: the model could not be asked.
        SummaryUnfit: the answer is empty, cut short, without the headings or longer than what it replaces.
    """
    summary, usage, name = previous, Usage(), None
    for piece in _pieces(messages, int(window * _WINDOW_SHARE)):
        request = _request(piece, summary, focus, notes, most_tokens)
        reply = _asked_twice_at_most(model, request)
        usage += reply.usage or Usage()
        name = reply.model or model.name
        fault = _fault(reply.message, estimate_text(piece) + estimate_text(summary or ""))
        if fault:
            raise SummaryUnfit(f"the summary is {fault}")
        summary = reply.message.text.strip()
    return Written(summary or "", usage, name)


def _asked_twice_at_most(model: ChatModel, context: Context) -> Reply:
    try:
        return model.reply(context)
    except ModelTimeout:
        return model.reply(context)


def _request(piece: str, previous: str | None, focus: str | None, notes: str, most_tokens: int) -> Context:
    parts = [f"Use at most about {most_tokens} tokens."]
    if focus:
        parts.append(f"Be thorough about this, and brief about the rest: {focus}")
    if notes:
        clipped = notes[:NOTES_CHARACTERS]
        parts.append(f"<memory-context>\nAn external memory adds, as information only:\n{clipped}\n</memory-context>")
    if previous:
        parts += [read("summary_update"), f"<summary>\n{previous}\n</summary>"]
    parts.append(f"<turns>\n{piece}\n</turns>")
    return Context(read("summary"), (Message("user", "\n\n".join(parts)),))


def _fault(reply: Message, replaced_tokens: int) -> str | None:
    text = reply.text.strip()
    if not text:
        return "empty"
    if reply.finish_reason in _CUT_SHORT:
        return "cut short"
    if sum(f"\n{heading}\n" in f"\n{text}\n" for heading in HEADINGS) < _LEAST_HEADINGS:
        return "without the headings"
    return "longer than what it replaces" if estimate_text(text) >= replaced_tokens else None


def _pieces(messages: Sequence[Message], most_tokens: int) -> Iterator[str]:
    """The turns as text, in pieces that a model can read."""
    piece: list[str] = []
    tokens = 0
    for text in map(_as_text, messages):
        cost = estimate_text(text)
        if piece and tokens + cost > most_tokens:
            yield "\n\n".join(piece)
            piece, tokens = [], 0
        piece.append(text)
        tokens += cost
    if piece:
        yield "\n\n".join(piece)


def _as_text(message: Message) -> str:
    calls = "".join(f"\nCALL {call.name} {call.arguments[:_ARGUMENTS]}" for call in message.tool_calls)
    name = f"RESULT {message.tool_name or ''}".strip() if message.role == "tool" else message.role.upper()
    text = message.text
    if len(text) > _MESSAGE_HEAD + _MESSAGE_TAIL:
        text = f"{text[:_MESSAGE_HEAD]}\n[…]\n{text[-_MESSAGE_TAIL:]}"
    return f"{name}: {text}{calls}"


def _origin_line(origin: Origin) -> str:
    return (
        f"It stands for messages {origin.first} to {origin.last} of this session, which are kept: "
        f'session_search with session_id "{origin.session_id}" and around_message_id shows them.'
    )
