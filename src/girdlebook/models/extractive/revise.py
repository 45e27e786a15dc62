"""Which entries a correction or a forget request means, and what becomes of them.  Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from girdlebook.models.extractive.lexicon import Term
from girdlebook.models.extractive.relevance import (
    SOME_CHARACTERS,
    SOME_TOPIC,
    Profile,
    character_share,
    covers,
    names_nothing_else,
    topic_share,
)
from girdlebook.models.extractive.understand import Statement, Understanding, language_of, matches, patterns

_THRESHOLD = {"plainly": 0.3, "maybe": 0.5}
_CLAUSE = re.compile(r"([，；]|[,;] (?:and |so |but )?(?=(?:i|i'm|my|we|our|the)\b)|[,，](?=[\u3400-\u9fff]))", re.I)
_COPULA = re.compile(
    r"^(?P<key>.{2,60}?)(?:上周|上个月|昨天|今天|今年|刚刚|最近|已经)*(?:"
    r"\s(?:(?:got|was|were|has been|have been|is now|are now) )?"
    r"(?:moved|changed|switched|renamed|migrated|rescheduled|upgraded) (?:to|on|for)\s"
    r"|\s(?:is|are|was|runs on|runs at|listens on|is called|lives (?:in|at)|=)\s|'s (?=\S)"
    r"|改成|换成|改为|变成|[迁移搬转挪]到|迁移到|升到|升(?=[一二三四五六七八九初高大])"
    r"|放在|存在|托管在|上(?=[小初高大一二三四五六七八九])|是|叫|姓|为)(?P<value>.+)$",
    re.I | re.S,
)
_SINGLE = frozenset(
    {"residence", "employer", "job", "age", "height", "weight", "shoe", "birthday", "phone", "email", "home_address"}
    | {"blood", "employee_number", "salary", "zodiac", "working_hours", "licence_plate", "parking", "pronouns"}
)
"""Attributes of which a person has one."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A change of one target; as the memory tool takes it but for the target."""

    target: str
    action: str
    content: str | None = None
    old_text: str | None = None

    def arguments(self) -> dict[str, str]:
        """The operation as the tool's arguments."""
        texts = {"content": self.content, "old_text": self.old_text}
        return {"action": self.action, **{name: text for name, text in texts.items() if text is not None}}


def storing(meant: Understanding, entries: Mapping[str, Sequence[str]]) -> Iterator[Operation]:
    """The changes that keep what was stated: each statement replaces what it corrects, or is added."""
    left = {target: list(texts) for target, texts in entries.items()}
    if meant.new_value is not None:
        yield from _with_value(meant.new_value, meant, left)
        return
    for statement in meant.statements:
        yield _kept(statement, meant, left)


def forgetting(topics: Iterable[str], entries: Mapping[str, Sequence[str]]) -> Iterator[Operation]:
    """The changes after which nothing about the topics is left."""
    wanted = tuple(topics)
    loose = {topic: _nearest(topic, entries) for topic in wanted if not _is_covered(topic, entries)}
    yield from (
        Operation(target, "remove", None, entry) for target, entry in dict.fromkeys(filter(None, loose.values()))
    )
    for target, texts in entries.items():
        for entry in texts:
            if (target, entry) not in loose.values() and any(covers(topic, entry) for topic in wanted):
                rest = _rest(entry, wanted)
                yield Operation(target, "replace", rest, entry) if rest else Operation(target, "remove", None, entry)


def _is_covered(topic: str, entries: Mapping[str, Sequence[str]]) -> bool:
    return any(covers(topic, entry) for texts in entries.values() for entry in texts)


def _nearest(topic: str, entries: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """The one entry that shares something with a topic that covers none; None where there is no such, or several."""
    rated = [(topic_share(topic, entry), target, entry) for target, texts in entries.items() for entry in texts]
    near = [
        (target, entry) for share, target, entry in rated if share >= SOME_TOPIC and names_nothing_else(topic, entry)
    ]
    if not near:
        rated = [(character_share(topic, entry), target, entry) for _, target, entry in rated]
        near = [(target, entry) for share, target, entry in rated if share >= SOME_CHARACTERS]
    return near[0] if len(near) == 1 else None


def without_everything(entries: Mapping[str, Sequence[str]]) -> Iterator[Operation]:
    """The changes after which no entry is left."""
    for target, texts in entries.items():
        yield from (Operation(target, "remove", None, entry) for entry in texts)


def _kept(statement: Statement, meant: Understanding, left: dict[str, list[str]]) -> Operation:
    found = _corrected(statement.text, meant, left)
    if found is None:
        left.setdefault(statement.target, []).append(statement.text)
        return Operation(statement.target, "add", statement.text)
    target, old = found
    new = _merged(old, _without_old_value(statement.text, old))
    left[target].remove(old)
    return Operation(target, "replace", new, old)


def _corrected(text: str, meant: Understanding, left: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """The target and entry that a statement corrects, if any."""
    candidates = [(target, entry) for target, texts in left.items() for entry in texts if entry != text]
    changes = meant.corrects != "no"
    same = [(target, entry) for target, entry in candidates if _share_a_fact(text, entry, changes)]
    if same and not (meant.another and meant.corrects != "plainly"):
        return same[-1]
    if meant.corrects == "no" or meant.another:
        return None
    rated = [(_likeness(text, entry), number) for number, (_, entry) in enumerate(candidates)]
    best, number = max(rated, default=(0.0, 0))
    return candidates[number] if best >= _THRESHOLD[meant.corrects] else None


def _share_a_fact(new: str, old: str, changes: bool) -> bool:
    return any(_same_fact(one, other, changes) for one in _parts(new) for other in _parts(old))


def _same_fact(new: str, old: str, changes: bool) -> bool:
    """Whether both tell the value of one thing: the same subject before "is", or the same single attribute.

    `changes` says that the new text sounds like a correction; without that, "My sister is 34" leaves "My sister is a
    nurse" alone: the same subject is enough only where it names an attribute or both values are of one kind.
    """
    one, other = Profile.of(new), Profile.of(old)
    if _owners(one) != _owners(other):
        return False
    keys = [_key_terms(new), _key_terms(old)]
    if all(keys):
        return keys[0] == keys[1] and not re.match(r".*?\bare\b", new) and _same_kind(new, old, changes)
    single = _single(one)
    return bool(single) and single == _single(other) and not any(keys)


def _same_kind(new: str, old: str, changes: bool) -> bool:
    """Whether the values after two equal subjects may stand for each other."""
    kinds, before = _value_kinds(new), _value_kinds(old)
    if _names_attribute(new) or (kinds & before):
        return True
    return changes and not (kinds and before)


def _names_attribute(text: str) -> bool:
    match = _COPULA.match(text)
    return match is not None and bool(Profile.of(match["key"]).with_role("attribute"))


def _value_kinds(text: str) -> frozenset[str]:
    """What a value is, by its words, else by its form."""
    match = _COPULA.match(text)
    value = Profile.of(match["value"]).terms if match else ()
    worded = frozenset(concept for term in value if term.role != "value" for concept in term.about)
    formed = frozenset(concept for term in Profile.of(text).with_role("value") for concept in term.about)
    return (worded or formed) - {"number", "person", "change"}


def _single(profile: Profile) -> frozenset[str]:
    shaped = frozenset(concept for term in profile.with_role("value") for concept in term.about)
    return (profile.names | shaped) & _SINGLE


def _key_terms(text: str) -> frozenset[str]:
    match = _COPULA.match(text)
    if match is None or re.fullmatch(r"\W*(?:i|we|我|我们|i now|现在)\W*", match["key"], re.I):
        return frozenset()
    found = Profile.of(match["key"]).terms
    return frozenset(_identity(term) for term in found if term.role != "value" and "change" not in term.names)


def _identity(term: Term) -> str:
    return min(term.names) if term.names else term.key


def _owners(profile: Profile) -> frozenset[str]:
    """Whose the fact is; a profession may be the speaker's own."""
    return frozenset(min(term.names) for term in profile.with_role("owner") if "job" not in term.about)


def _likeness(new: str, old: str) -> float:
    """How much of what a correction is about is in an entry, from 0 to 1; 0 for another owner."""
    one, other = Profile.of(new), Profile.of(old)
    if _owners(one) != _owners(other):
        return 0.0
    parts = {term.key: term for term in one.terms if term.role not in ("wh", "value")}.values()
    total = sum(_likeness_weight(term) for term in parts)
    met = sum(_likeness_weight(term) * _shared(term, other) for term in parts)
    return met / total if total else 0.0


def _likeness_weight(term: Term) -> float:
    if "change" in term.names:
        return 0.0
    if term.key.isdigit():
        return 0.1
    return 0.3 if term.role == "word" and not term.about else 1.0


def _shared(term: Term, other: Profile) -> float:
    return max(other.meets(term), 0.8 if term.about & other.about else 0.0)


def _without_old_value(text: str, old: str) -> str:
    """The statement without what it says about the value before, so that this is nowhere left."""
    for pattern in patterns("old_value", language_of(text)):
        for match in pattern.finditer(text):
            if Profile.of(match["old"]).keys & Profile.of(old).keys:
                rest = (text[: match.start()] + text[match.end() :]).strip(" ,，.。;")
                if len(rest) > 1:
                    return rest
    return text


def _merged(old: str, new: str) -> str:
    """The new text; clauses of the old entry about other things stay."""
    parts = _parts(old)
    about = [number for number, part in enumerate(parts) if _same_fact(new, part, changes=True)]
    if len(parts) < 2 or len(about) != 1:
        return new
    joint = "，" if re.search("[\u3400-\u9fff]", old) else ", "
    return joint.join(new if number == about[0] else part for number, part in enumerate(parts))


def _parts(entry: str) -> list[str]:
    return [part.strip() for part in _CLAUSE.split(entry)[::2] if part.strip()]


def _rest(entry: str, topics: Sequence[str]) -> str:
    """What an entry says besides the topics; empty where the rest would not stand alone."""
    parts = _parts(entry)
    rest = [part for part in parts if not any(covers(topic, part) for topic in topics)]
    if len(rest) == len(parts) or any(matches("leaning", part) for part in rest):
        return ""
    return ("，" if re.search("[\u3400-\u9fff]", entry) else ", ").join(rest)


def _with_value(new: str, meant: Understanding, left: dict[str, list[str]]) -> Iterator[Operation]:
    """ "It's 9090, not 8080": put the value into the entry that held the old one, else into the newest that fits."""
    for target, entry in reversed([(target, entry) for target, texts in left.items() for entry in texts]):
        changed = _valued(entry, new, meant.old_value)
        if changed and changed != entry:
            yield Operation(target, "replace", changed, entry)
            return
    for statement in meant.statements:
        yield _kept(statement, meant, left)


def _valued(entry: str, new: str, old: str | None) -> str | None:
    """The entry with the new value, or None where it holds none that could be meant."""
    if old is not None:
        whole = rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])"
        changed = re.sub(whole, lambda _: new, entry, flags=re.I)
        return changed if changed != entry else None
    if re.search(r"\d", new):
        return re.sub(r"\d[\d.,:-]*", lambda _: new, entry, count=1) if re.search(r"\d", entry) else None
    match = _COPULA.match(entry)
    return entry[: match.start("value")] + new if match else None
