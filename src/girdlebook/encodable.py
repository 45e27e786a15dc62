"""Text that has a UTF-8 form (pure)."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The text with each lone surrogate as U+FFFD; a text without any is the same object."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
