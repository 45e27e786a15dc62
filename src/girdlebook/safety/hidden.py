"""Characters that nobody sees: where a script or an emoji needs them they are welcome, elsewhere they smuggle.  Pure.

The article (section 3.3) refuses ten of them outright, and with them Persian, Hindi, Sinhala and every joined emoji
(report L1-41).
"""

import re
from collections.abc import Iterator

_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_JOINING = _RTL + "\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1bff\ua800-\uabff\U00010a00-\U00011fff"
_WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_RTL_LETTER = re.compile(f"[{_RTL}]")

# Each alternative is one character that has no business where it stands.
_ALWAYS = (
    "\u034f\u115f\u1160\u180e\u202d\u202e\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f"
)
_NOT_JOINING = f"(?<![{_JOINING}])[\u200c\u200d](?![{_JOINING}])"
_NOT_IN_EMOJI = f"(?:(?<![{_EMOJI}\ufe0f\U000e007f])|(?=.[^{_EMOJI}])|(?=.\\Z))"
_MISPLACED = re.compile(
    f"[{_ALWAYS}]"
    f"|{_NOT_IN_EMOJI}{_NOT_JOINING}"
    f"|\u200b(?:(?<![{_WITHOUT_SPACES}]\u200b)(?![{_WITHOUT_SPACES}]))"
    "|[\u200b-\u200d](?=[\u200b-\u200d])"
    # A variation selector belongs to a symbol, a digit, # or *, and comes alone.
    '|(?<![^\x00-"$-)+-/:-\x7f\ufe00-\ufe0f])[\ufe00-\ufe0f]'
    f"|(?<![{_HAN}])[\U000e0100-\U000e01ef]",
    re.DOTALL,
)
_NEEDS_RTL = re.compile("[\u202a-\u202c\u2066-\u2069]")
_DIRECTION_MARK = re.compile("[\u200e\u200f\u061c]")

IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\u0332-\u0338]"
)
"""What is left out for matching: default-ignorable characters and strokes through letters."""


def misplaced(text: str) -> Iterator[str]:
    """The rule ids of hidden characters that quarantine a text."""
    if control := _CONTROL.search(text):
        yield f"control_character_U+{ord(control[0]):04X}"
    if text.isascii():
        return
    found = {match[0] for match in _MISPLACED.finditer(_FLAG.sub("\U0001f3f4", text))}
    if not _RTL_LETTER.search(text):
        found.update(_NEEDS_RTL.findall(text))
    for char in sorted(found):
        yield f"invisible_unicode_U+{ord(char):04X}"


def unneeded(text: str) -> Iterator[str]:
    """The rule ids of hidden characters that only mark a text: direction marks without right-to-left letters."""
    if not text.isascii() and not _RTL_LETTER.search(text):
        for char in sorted(set(_DIRECTION_MARK.findall(text))):
            yield f"invisible_unicode_U+{ord(char):04X}"
