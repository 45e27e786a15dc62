"""The system prompt: put together once for a session, then left alone (article sections 4 and 7.2)."""

import datetime
from collections.abc import Iterable
from importlib import resources


def read(name: str) -> str:
    """The prompt `name`.md of this folder, without its last line break."""
    return resources.files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def system_prompt(
    instructions: str, *, guidance: Iterable[str], memory_blocks: Iterable[str], today: datetime.date
) -> str:
    """The whole system prompt, from what never changes to what changes most, with blank lines between.

    Parameters:
        instructions: the caller's own words; empty for a default.
        guidance: names of prompts, one for each of our tools on offer.
        memory_blocks: the snapshot's blocks.
        today: the date only; a time of day would move the prefix with every minute (report L3-48).
    """
    parts = [instructions.strip() or read("default"), *map(read, guidance), *memory_blocks, f"Today is {today}."]
    return "\n\n".join(parts)
