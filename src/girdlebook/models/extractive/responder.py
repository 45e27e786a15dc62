"""The policy: which calls to make next, and what to say when their answers are there."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from girdlebook.context import Context
from girdlebook.messages import Message, Reply, ToolCall
from girdlebook.models.base import OnText
from girdlebook.models.extractive import compose
from girdlebook.models.extractive.lexicon import Term, terms
from girdlebook.models.extractive.recall import best_said, messages_of
from girdlebook.models.extractive.relevance import ENOUGH, WEAK, Profile, relevance
from girdlebook.models.extractive.revise import Operation, forgetting, storing, without_everything
from girdlebook.models.extractive.transcript import Moment
from girdlebook.models.extractive.understand import Understanding, matches, understand

FORGET_WORDS = (
    "forget unlearn delete remove erase wipe purge discard drop scrub clear "
    "忘掉 忘了 忘记 删除 删掉 删了 清除 清掉 清空 抹掉 抹去 移除 擦掉 不要保存 别保存 别再记 不要记 不用记"
)
"""Words that requests to forget hold; they are looked for before an earlier conversation is quoted."""

_RESULTS = 10
_CARRIED = 0.2
"""What the question before counts among entries that answer."""

_SECOND = 0.85
"""A second entry is quoted, too, where it answers nearly as well as the first."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call without its id."""

    name: str
    arguments: Mapping[str, Any]


Step = tuple[Call, ...] | str


class ExtractiveModel:
    """Answers by storing and quoting, with the same loop and tools as a language model.

    It holds no state: each reply follows from the context alone.  What tool answers and quotes say is data to it.
    """

    summarises = False
    name = "extractive"

    @property
    def notice(self) -> str:
        """One sentence in English and Chinese that says what this is, to be shown at start."""
        text: str = compose.wording()["notice"]
        return text

    def reply(self, context: Context, on_text: OnText | None = None) -> Reply:
        """The next calls, or the answer once there is nothing left to call."""
        moment = Moment.of(context)
        step = next_step(moment)
        if not isinstance(step, str):
            calls = tuple(_tool_call(moment.length, index, call) for index, call in enumerate(step))
            return Reply(Message(role="assistant", tool_calls=calls))
        if on_text is not None:
            on_text(step)
        return Reply(Message(role="assistant", content=step))


def next_step(moment: Moment) -> Step:
    """The calls to make now, or the text that ends the turn."""
    meant = understand(moment.text)
    if meant.topics or meant.forget_everything:
        return _forget(meant, moment)
    if meant.statements or meant.new_value is not None:
        return _store(meant, moment)
    if meant.overview:
        return _reading(moment) or compose.overview(meant.language, moment.entries)
    if meant.questions:
        return _answer(meant, moment)
    return compose.line(meant.language, "help" if meant.help else "chat")


def _store(meant: Understanding, moment: Moment) -> Step:
    if not moment.targets:
        return compose.line(meant.language, "no_memory")
    if not moment.writes:
        return _reading(moment) or _writing(storing(meant, moment.entries), moment)
    confirmed = compose.stored(meant.language, moment.writes)
    entries = {**moment.entries, "user": (*moment.entries.get("user", ()), *(s.text for s in meant.statements))}
    answers = [_from_entries(meant, question, entries, ()) for question in meant.questions]
    return "\n".join([confirmed, *filter(None, answers)])


def _forget(meant: Understanding, moment: Moment) -> Step:
    points = "" in meant.topics and not moment.earlier and not any(meant.topics)
    reading = (*_reading(moment), *(_browsing(moment) if points and moment.browsed is None else ()))
    if reading:
        return reading
    topics = tuple(topic or _pointed_at(moment) for topic in meant.topics)
    if not any(topics) and not meant.forget_everything:
        return compose.line(meant.language, "unclear_topic")
    if not moment.writes:
        gone = without_everything(moment.entries) if meant.forget_everything else forgetting(topics, moment.entries)
        calls = _writing([*gone, *storing(meant, {})], moment)
        if calls:
            return calls
    return compose.forgotten(meant.language, moment.writes)


def _pointed_at(moment: Moment) -> str:
    """What "forget that" means: what was said just before."""
    before = reversed(moment.earlier) if moment.earlier else _previews(moment)
    return next((text for text in before if understand(text).statements), "")


def _answer(meant: Understanding, moment: Moment) -> Step:
    question = " ".join(meant.questions)
    leans = matches("follow_up", question) or matches("follow_up", moment.text)
    if not moment.finished:
        calls = (*_reading(moment), *(_browsing(moment) if leans and not moment.earlier else ()))
        if calls:
            return calls
    before = _question_before(moment) if leans else ""
    context = terms(before)
    known = _from_entries(meant, question, moment.entries, context)
    if known:
        return known
    if moment.can_search and not moment.searches:
        return _searching(f"{question} {before}".strip())
    messages = messages_of(moment)
    said = best_said(question, messages) or best_said(question, messages, context)
    if said is None:
        weak = _single_weak(meant, question, moment.entries)
        return weak or compose.line(meant.language, "unknown")
    if moment.can_search and said.session and len(moment.searches) <= len(_searching("")):
        return (_search(f"{FORGET_WORDS} {said.text[:300]}"),)
    return compose.said_answer(meant.language, said)


def _from_entries(
    meant: Understanding, question: str, entries: Mapping[str, tuple[str, ...]], context: Iterable[Term]
) -> str:
    carried = tuple(context)
    alone = _rated(question, entries, ())
    rated = alone if any(score >= ENOUGH for score, _, _ in alone) else _rated(question, entries, carried)
    usable = [row for row in rated if row[0] >= ENOUGH]
    best = sorted(usable, key=lambda row: -row[0] - _CARRIED * Profile.join(carried).share_of(row[2]))[:2]
    kept = [(target, text) for score, target, text in best if score >= best[0][0] * _SECOND]
    return compose.entry_answer(meant.language, kept)


def _single_weak(meant: Understanding, question: str, entries: Mapping[str, tuple[str, ...]]) -> str:
    """The one entry that shares something with the question, if no other does."""
    near = [(target, text) for score, target, text in _rated(question, entries, ()) if score >= WEAK]
    return compose.entry_answer(meant.language, near) if len(near) == 1 else ""


def _rated(
    question: str, entries: Mapping[str, tuple[str, ...]], context: Iterable[Term]
) -> list[tuple[float, str, str]]:
    carried = tuple(context)
    return [(relevance(question, text, carried), target, text) for target, texts in entries.items() for text in texts]


def _question_before(moment: Moment) -> str:
    """What the person said before the message that leans on it."""
    if moment.earlier:
        return moment.earlier[-1]
    return next((text for text in _previews(moment) if understand(text).questions or understand(text).statements), "")


def _previews(moment: Moment) -> list[str]:
    """How the latest conversations began, newest first."""
    if moment.browsed is None:
        return []
    return [str(row.get("preview", "")) for row in moment.browsed.answer.get("sessions", ())]


def _reading(moment: Moment) -> tuple[Call, ...]:
    """Calls that list the memory, none where that was done."""
    if moment.listed:
        return ()
    return tuple(Call("memory", {"action": "list", "target": target}) for target in moment.targets)


def _writing(operations: Iterable[Operation], moment: Moment) -> tuple[Call, ...]:
    """One call for each target."""
    by_target: dict[str, list[dict[str, str]]] = {}
    for operation in operations:
        target = operation.target if operation.target in moment.targets else moment.targets[0]
        by_target.setdefault(target, []).append(operation.arguments())
    return tuple(Call("memory", {"target": target, "operations": done}) for target, done in by_target.items())


def _browsing(moment: Moment) -> tuple[Call, ...]:
    return (Call("session_search", {"limit": 3}),) if moment.can_search else ()


def _searching(question: str) -> tuple[Call, ...]:
    """What was said about it, and what was to be forgotten."""
    return (_search(question), _search(f"{FORGET_WORDS} {question}"), _search(FORGET_WORDS, sort="newest"))


def _search(query: str, **more: str) -> Call:
    return Call("session_search", {"query": query, "limit": _RESULTS, "role_filter": "user", **more})


def _tool_call(length: int, index: int, call: Call) -> ToolCall:
    return ToolCall(f"call_{length}_{index}", call.name, json.dumps(call.arguments, ensure_ascii=False))
