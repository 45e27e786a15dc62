"""What the person said in earlier conversations, as far as it may still be quoted.  Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from girdlebook.models.extractive.lexicon import Term
from girdlebook.models.extractive.relevance import ENOUGH, covers, relevance
from girdlebook.models.extractive.transcript import Finished, Moment
from girdlebook.models.extractive.understand import told_text, understand

QUOTED_CHARACTERS = 400
"""The longest message that is quoted whole."""

_NEAR = 0.9
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
    best = max((score for score, _ in usable), default=0.0)
    return next((said for score, said in reversed(usable) if score >= best * _NEAR), None)


def _forgotten(said: Said, question: str, messages: Sequence[Said]) -> bool:
    """Whether a later request to forget covers the message or what is asked."""
    for request in messages:
        if request.number <= said.number:
            continue
        meant = understand(request.text)
        if meant.forget_everything:
            return True
        if any(covers(topic, said.text) or covers(topic, question) for topic in meant.topics if topic):
            return True
    return False


def _found(done: Finished) -> Iterator[Said]:
    for result in done.answer.get("results", ()):
        for message in result.get("messages", ()):
            if message.get("role") == "user":
                yield Said(int(message["id"]), str(message["content"]), str(result["when"]), str(result["session_id"]))
