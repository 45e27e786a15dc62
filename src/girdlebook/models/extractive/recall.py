"""What the person said in earlier conversations, as far as it may still be quoted.  Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from girdlebook.models.extractive.lexicon import Term
from girdlebook.models.extractive.relevance import (
    ENOUGH,
    SOME_CHARACTERS,
    SOME_TOPIC,
    character_share,
    covers,
    relevance,
    topic_share,
)
from girdlebook.models.extractive.transcript import Finished, Moment
from girdlebook.models.extractive.understand import told_text, understand

QUOTED_CHARACTERS = 400
"""The longest message that is quoted whole."""

_NEAR = 0.9
_LONG_CHARACTERS = 600
_THIS_CONVERSATION = 10**15


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the person: its number in the store, its day and its conversation, empty for the running one."""

    number: int
    text: str
    when: str = ""
    session: str = ""


def messages_of(moment: Moment) -> tuple[Said, ...]:
    """The person's messages in the answers of the searches and in the running conversation, oldest first."""
    found = {said.number: said for done in moment.searches for said in _found(done)}
    running = [Said(_THIS_CONVERSATION + at, text) for at, text in enumerate(moment.earlier)]
    return tuple(sorted([*found.values(), *running], key=lambda said: said.number))


def best_said(question: str, messages: Sequence[Said], context: Iterable[Term] = ()) -> Said | None:
    """The message that answers best; among nearly equal ones the newest."""
    carried = tuple(context)
    telling = [replace(said, text=told) for said in messages if (told := told_text(said.text))]
    rated = [(relevance(question, said.text, carried), said) for said in telling]
    usable = [(score, said) for score, said in rated if score >= ENOUGH and not _forgotten(said, question, messages)]
    usable = [(score * _brevity(said.text), said) for score, said in usable]
    best = max((score for score, _ in usable), default=0.0)
    return next((said for score, said in reversed(usable) if score >= best * _NEAR), None)


def _brevity(text: str) -> float:
    """What a message's length leaves of its score: a long one holds any word by chance."""
    return 1 / (1 + len(text) / _LONG_CHARACTERS)


def _forgotten(said: Said, question: str, messages: Sequence[Said]) -> bool:
    """Whether a later request to forget covers the message or what is asked."""
    later = [(at, understand(request.text)) for at, request in enumerate(messages) if request.number > said.number]
    for at, meant in later:
        if meant.forget_everything:
            return True
        topics = [topic or _told_before(at, messages) for topic in meant.topics]
        if any(_touches(topic, said.text, question) for topic in topics if topic):
            return True
    return False


def _touches(topic: str, text: str, question: str) -> bool:
    """Whether a forgotten topic has to do with a message; here rather too much is held back than too little."""
    if character_share(topic, text) >= SOME_CHARACTERS:
        return True
    return topic_share(topic, text) >= SOME_TOPIC or covers(topic, question)


def _told_before(at: int, messages: Sequence[Said]) -> str:
    """What "forget that" points at: the last thing told before it."""
    return next((told for said in reversed(messages[:at]) if (told := told_text(said.text))), "")


def _found(done: Finished) -> Iterator[Said]:
    for result in done.answer.get("results", ()):
        for message in result.get("messages", ()):
            if message.get("role") == "user":
                yield Said(int(message["id"]), str(message["content"]), str(result["when"]), str(result["session_id"]))
