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

_HAN_LIKE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")

# ASCII characters by kind: counting kinds, and what one kind begins, in bytes costs a tenth of what patterns cost.
_KINDS = bytes.maketrans(
    (string.ascii_letters + string.digits + string.punctuation).encode(),
    b"a" * len(string.ascii_letters) + b"0" * len(string.digits) + b"." * len(string.punctuation),
)
_WORDS = bytes(ord("a") if chr(code) in string.ascii_letters else ord(" ") for code in range(256))
_SPACES = bytes(ord("\n") if code == 10 else ord(" ") if chr(code).isspace() else ord("x") for code in range(256))

_PER_WORD, _PER_LETTER, _PER_DIGIT, _PER_MARK, _PER_GAP = 0.4, 0.19, 0.4, 0.7, 0.4
_PER_HAN, _PER_OTHER = 0.8, 0.45


def estimate_text(text: str) -> int:
    """Tokens of a text."""
    ascii_text = text.encode("ascii", "ignore")
    kinds = ascii_text.translate(_KINDS)
    spaces = b"x" + ascii_text.translate(_SPACES)
    total = (
        _PER_WORD * (b" " + ascii_text.translate(_WORDS)).count(b" a")
        + _PER_LETTER * kinds.count(b"a")
        + _PER_DIGIT * kinds.count(b"0")
        + _PER_MARK * kinds.count(b".")
        # Runs of white space that hold a line break or are longer than one blank.
        + _PER_GAP * (spaces.count(b"x\n") + spaces.count(b"x  ") + spaces.count(b"x \n"))
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
