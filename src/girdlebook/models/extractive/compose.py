"""What the responder says: wording in the person's language around what is quoted.  Its data are read once."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from girdlebook.models.extractive.recall import Said
from girdlebook.models.extractive.transcript import Finished
from girdlebook.models.extractive.understand import Language

_FILES = {"memory": "MEMORY.md", "user": "USER.md"}


@lru_cache(maxsize=1)
def wording() -> Mapping[str, Any]:
    """The sentences of wording.toml, read once."""
    return tomllib.loads(resources.files(__package__).joinpath("wording.toml").read_text(encoding="utf-8"))


def line(language: Language, name: str, **values: object) -> str:
    """One of our own sentences, filled in."""
    text: str = wording()[language][name]
    return text.format(**values)


def quoted(language: Language, text: str) -> str:
    """A text between quotation marks."""
    return line(language, "open_quote") + text + line(language, "close_quote")


def entry_answer(language: Language, found: Iterable[tuple[str, str]]) -> str:
    """Entries that answer a question, each with the file it stands in."""
    lines = [line(language, "from_memory", quote=quoted(language, text), file=_FILES[target]) for target, text in found]
    return "\n".join(lines)


def said_answer(language: Language, said: Said) -> str:
    """A message that answers a question, with its date and conversation."""
    quote = quoted(language, said.text)
    if not said.session:
        return line(language, "from_now", quote=quote)
    return line(language, "from_earlier", quote=quote, when=said.when, session=said.session)


def overview(language: Language, entries: Mapping[str, Sequence[str]]) -> str:
    """All entries, file by file."""
    rows = [f"- {text} ({_FILES[target]})" for target, texts in entries.items() for text in texts]
    return "\n".join([line(language, "overview"), *rows]) if rows else line(language, "overview_empty")


def stored(language: Language, writes: Sequence[Finished]) -> str:
    """What became of the statements: stored, there already, or refused and why."""
    lines = []
    for write in writes:
        if not write.answer.get("success"):
            lines.append(line(language, "not_stored", reason=write.answer.get("error", "?")))
            continue
        quotes = line(language, "joint").join(quoted(language, text) for text in _contents(write))
        name = "known" if write.answer.get("duplicate") else "replaced" if _replaces(write) else "stored"
        lines.append(line(language, name, quotes=quotes))
    return "\n".join(lines)


def forgotten(language: Language, writes: Sequence[Finished]) -> str:
    """How many entries are gone; never what they said."""
    failed = [write for write in writes if not write.answer.get("success")]
    if failed:
        return line(language, "not_stored", reason=failed[0].answer.get("error", "?"))
    count = sum(len(write.arguments.get("operations", ())) for write in writes)
    return line(language, "forgotten", count=count) if count else line(language, "nothing_to_forget")


def _contents(write: Finished) -> list[str]:
    return [str(operation["content"]) for operation in write.arguments["operations"] if "content" in operation]


def _replaces(write: Finished) -> bool:
    return any(operation["action"] == "replace" for operation in write.arguments["operations"])
