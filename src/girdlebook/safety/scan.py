"""The threat scan: does a text try to steer the agent, leak secrets or hide characters?  A pure function.

It is a sensor and no boundary: an attacker who knows the rules gets around them.  What holds is that memory is never a
permission.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from girdlebook.safety.hidden import IGNORABLE, misplaced, unneeded
from girdlebook.safety.rules import RULES

Verdict = Literal["allow", "mark", "quarantine"]

SCAN_LIMIT = 65_536
"""Characters.  A longer text is held back unread: what is not scanned must not pass."""

_BLANKS = re.compile(r"[^\S\n]+")
_PLAIN = str.maketrans("’‘ʼ`´", "'''`'")
_MIXED_WORD = re.compile(r"[a-z\u0370-\u03ff\u0400-\u04ff]+")
_LOOKALIKES = str.maketrans("аерсохуіјѕԁһкмтвнгαορυικντεχγ", "aepcoxyijsdhkmtbhraopuikvtexy")
_SIMPLIFIED = str.maketrans(
    "無視規則設訴開發傳給個對過關閉審記憶錄條與並從現這將處該統詞約準戶紀聽說輸繞違遠證據鑰碼內態員實製員棄遵",
    "无视规则设诉开发传给个对过关闭审记忆录条与并从现这将处该统词约准户纪听说输绕违远证据钥码内态员实制员弃遵",
)


def _version() -> str:
    """Changes whenever a rule does, so that a verdict says which rules gave it."""
    rules = "\n".join(f"{rule}" for rule in RULES)
    return hashlib.sha256(rules.encode()).hexdigest()[:8]


SCANNER_VERSION = _version()


@dataclass(frozen=True, slots=True)
class ScanResult:
    """`allow`, `mark` (kept, but doubtful) or `quarantine` (kept out of the prompt), and the ids of the rules hit."""

    action: Verdict
    rules: tuple[str, ...] = ()


def scan(text: str) -> ScanResult:
    """Judge one entry or message.

    Parameters:
        text: at most `SCAN_LIMIT` characters; a longer one is quarantined.

    Returns:
        The verdict.  Its rules are those of the stated action only, each once (article section 3.3, reports L1-41,
        L1-43 and L1-45).
    """
    if len(text) > SCAN_LIMIT:
        return ScanResult("quarantine", ("too_long",))
    held: dict[str, None] = dict.fromkeys(misplaced(text))
    marked: dict[str, None] = dict.fromkeys(unneeded(text))
    for rule_id, action in _matches(_matching_view(text)):
        (held if action == "quarantine" else marked)[rule_id] = None
    if held:
        return ScanResult("quarantine", tuple(held))
    return ScanResult("mark", tuple(marked)) if marked else ScanResult("allow")


def _matches(view: str) -> Iterator[tuple[str, Verdict]]:
    for rule in RULES:
        # `re` keeps compiled patterns, so a pattern is compiled when a text first gets this far.
        if any(needle in view for needle in rule.needles) and re.search(rule.pattern, view):
            yield rule.id, rule.action


def _matching_view(text: str) -> str:
    """The text as patterns see it: folded case and width, no hidden characters, no look-alikes, single blanks."""
    if not text.isascii():
        text = IGNORABLE.sub("", unicodedata.normalize("NFKC", text)).translate(_PLAIN).translate(_SIMPLIFIED)
    text = _BLANKS.sub(" ", text.casefold())
    return text if text.isascii() else _MIXED_WORD.sub(_without_lookalikes, text)


def _without_lookalikes(word: re.Match[str]) -> str:
    letters = word[0].translate(_LOOKALIKES)
    return letters if letters.isascii() else word[0]
