"""How many tokens a text will cost: the one estimate, made without any vendor's tokenizer.

Vendors cut words differently and their tables are not at hand offline, so this counts by kind of character: a word
costs a little for being there and a little for each letter, a Han character most of a token, punctuation nearly one.
"""

import json
import re
import string

from girdlebook.context import Context
from girdlebook.messages import ImagePart, Message, OpaquePart
from girdlebook.tools import ToolSpec

MESSAGE_TOKENS = 4
"""What a message costs beside its text: the role and its borders."""

IMAGE_TOKENS = 1_500
"""What an image costs, whatever its size in bytes (report L3-43)."""

_WORD = re.compile(r"[A-Za-z]+")
_GAP = re.compile(r"\s{2,}|\n")
_HAN_LIKE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_LETTERS = string.ascii_letters.encode()
_DIGITS = string.digits.encode()
_PUNCTUATION = string.punctuation.encode()

_PER_WORD, _PER_LETTER, _PER_DIGIT, _PER_MARK, _PER_GAP = 0.4, 0.19, 0.4, 0.7, 0.4
_PER_HAN, _PER_OTHER = 0.8, 0.45


def estimate_text(text: str) -> int:
    """Tokens of a text."""
    ascii_text = text.encode("ascii", "ignore")
    total = (
        _PER_WORD * len(_WORD.findall(text))
        + _PER_LETTER * _count(ascii_text, _LETTERS)
        + _PER_DIGIT * _count(ascii_text, _DIGITS)
        + _PER_MARK * _count(ascii_text, _PUNCTUATION)
        + _PER_GAP * len(_GAP.findall(text))
    )
    if len(ascii_text) < len(text):
        han = len(_HAN_LIKE.findall(text))
        total += _PER_HAN * han + _PER_OTHER * (len(text) - len(ascii_text) - han)
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


def _count(text: bytes, of: bytes) -> int:
    return len(text) - len(text.translate(None, of))
