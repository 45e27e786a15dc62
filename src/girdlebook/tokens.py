"""How many tokens a text will cost: the one estimate, made without any vendor's tokenizer.

Vendors cut words differently and their tables are not at hand offline, so this counts by kind of character: a word
costs a little for being there and a little for each letter, a digit or a run of punctuation about a token, a Han
character most of one, an emoji several.  Vocabularies differ among themselves by a quarter on Chinese and Hangul: what
a vendor reports can correct the estimate (`Correction`).
"""

import json
import string
from dataclasses import dataclass

from girdlebook.context import Context
from girdlebook.messages import ImagePart, Message, OpaquePart
from girdlebook.tools import ToolSpec

MESSAGE_TOKENS = 4
"""What a message costs beside its text: the role and its borders."""

IMAGE_TOKENS = 1_500
"""What an image costs, whatever its size in bytes (report L3-43)."""

# Characters by kind, each by its first byte in UTF-8: counting kinds, and what one kind begins or ends, in bytes costs
# a tenth of what patterns cost.
_LETTERS, _DIGITS, _MARKS = (kind.encode() for kind in (string.ascii_letters, string.digits, string.punctuation))


def _kind(byte: int) -> str:
    """The kind of the characters that this byte begins: Han, kana and Hangul are `h`, emoji `e`, other scripts `o`."""
    if byte in _LETTERS:
        return "a"
    if byte in _DIGITS:
        return "0"
    if byte in _MARKS:
        return "."
    if byte < 0x80:
        return " "
    if 0xE3 <= byte <= 0xED:
        return "h"
    return "e" if byte >= 0xF0 else "o"


_KINDS = "".join(map(_kind, range(256))).encode()
_WORDS = bytes(kind if kind == ord("a") else ord(" ") for kind in _KINDS)
_MARK_RUNS = bytes(kind if kind == ord(".") else ord(" ") for kind in _KINDS)
_SPACES = bytes(byte if byte == 10 else 32 if byte < 128 and chr(byte).isspace() else ord("x") for byte in range(256))
_FURTHER_BYTES = bytes(range(0x80, 0xC0))

# Fitted to the counts of four vocabularies on the texts in tests/data/tokens.
_PER_WORD, _PER_LETTER, _PER_DIGIT, _PER_MARK_RUN, _PER_MARK, _PER_GAP = 0.6, 0.1, 0.95, 0.8, 0.1, 0.8
_PER_EAST_ASIAN, _PER_EMOJI, _PER_OTHER = 0.75, 3.3, 0.42

_SMALLEST_LESSON, _LESSON_WEIGHT, _LEAST_FACTOR, _LARGEST_FACTOR = 500, 0.5, 0.5, 2.0


def estimate_text(text: str) -> int:
    """Tokens of a text."""
    data = text.encode("utf-8", "surrogatepass")
    if not text.isascii():
        data = data.translate(None, _FURTHER_BYTES)
    kinds = data.translate(_KINDS)
    spaces = data.translate(_SPACES) + b"x"
    total = (
        _PER_WORD * (b" " + data.translate(_WORDS)).count(b" a")
        + _PER_LETTER * kinds.count(b"a")
        + _PER_DIGIT * kinds.count(b"0")
        + _PER_MARK_RUN * (b" " + data.translate(_MARK_RUNS)).count(b" .")
        + _PER_MARK * kinds.count(b".")
        # Runs of white space that end in a line break or in more than one blank.
        + _PER_GAP * (spaces.count(b"\nx") + spaces.count(b"  x"))
    )
    if not text.isascii():
        total += _PER_EAST_ASIAN * kinds.count(b"h") + _PER_EMOJI * kinds.count(b"e") + _PER_OTHER * kinds.count(b"o")
    return round(total) or bool(text)


def estimate_message(message: Message) -> int:
    """Tokens of a message: text, attachments, calls with their arguments, images, vendor blocks."""
    total = MESSAGE_TOKENS + estimate_text(message.sent_text)
    total += sum(estimate_text(call.name) + estimate_text(call.arguments) for call in message.tool_calls)
    if not isinstance(message.content, str):
        total += IMAGE_TOKENS * sum(isinstance(part, ImagePart) for part in message.content)
        total += sum(
            estimate_text(json.dumps(part.data, default=str))
            for part in message.content
            if isinstance(part, OpaquePart)
        )
    return total


def estimate_tool(spec: ToolSpec) -> int:
    """Tokens of a tool's description and schema."""
    return estimate_text(spec.name + spec.description + json.dumps(spec.parameters))


def estimate_context(context: Context) -> int:
    """Tokens of a whole request: system prompt, tools and transcript (report L3-42)."""
    return (
        estimate_text(context.system)
        + sum(map(estimate_tool, context.tools))
        + sum(map(estimate_message, context.messages))
    )


@dataclass(frozen=True, slots=True)
class Correction:
    """How far a model's vendor counts from the estimate, learned from what it reports."""

    factor: float = 1.0

    def corrected(self, estimate: int) -> int:
        """An estimate in the vendor's own measure."""
        return round(estimate * self.factor) or bool(estimate)

    def learned(self, estimated: int, reported: int) -> "Correction":
        """With one more report of what an estimate, itself uncorrected, really was.

        Small requests say little, since what the vendor adds by itself outweighs them; no report says nothing.
        """
        if estimated < _SMALLEST_LESSON or reported <= 0:
            return self
        factor = (1 - _LESSON_WEIGHT) * self.factor + _LESSON_WEIGHT * reported / estimated
        return Correction(min(max(factor, _LEAST_FACTOR), _LARGEST_FACTOR))
