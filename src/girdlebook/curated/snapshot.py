"""The frozen snapshot: layer 1 as it stands in the system prompt for a whole session.  Pure.

A value and not a state of the store: whatever is written later, its bytes cannot change (article sections 3.1 and 4.2,
report L1-48).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from girdlebook.curated.document import CharUsage, join
from girdlebook.safety import scan

Target = Literal["memory", "user"]

FILE_NAMES: Mapping[Target, str] = {"memory": "MEMORY.md", "user": "USER.md"}

_TITLES: Mapping[Target, str] = {
    "memory": "MEMORY (your personal notes)",
    "user": "USER PROFILE (who the user is)",
}
_RULE = "═" * 46
_DIGEST_CHARS = 8


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """The blocks of the system prompt; None where a target has no entries or is switched off."""

    memory: str | None = None
    user: str | None = None

    def render(self, target: Target) -> str | None:
        """The block of one target, laid out as in article section 4.4."""
        return self.memory if target == "memory" else self.user

    @property
    def text(self) -> str:
        """Both blocks, MEMORY before USER, a blank line between them."""
        return "\n\n".join(block for block in (self.memory, self.user) if block is not None)


def render_block(target: Target, entries: Sequence[str], usage: CharUsage) -> str | None:
    """One target's block, or None without entries.

    The header tells the live entries' usage; what the threat scan holds back is shown as its placeholder.
    """
    if not entries:
        return None
    content = join([shown(target, entry) for entry in entries])
    return f"{_RULE}\n{_TITLES[target]} [{usage}]\n{_RULE}\n{content}"


def shown(target: Target, entry: str) -> str:
    """The entry as a model may see it: itself, or a placeholder where the threat scan holds it back.

    The placeholder names the file, the rules and a digest, so it is the same every time, differs between entries, and
    can be given as `old_text` to remove the entry.
    """
    verdict = scan(entry)
    if verdict.action != "quarantine":
        return entry
    digest = hashlib.sha256(entry.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    rules = ", ".join(verdict.rules)
    return f"[BLOCKED: an entry of {FILE_NAMES[target]} ({digest}) is held back by {rules}; its owner can read it]"
