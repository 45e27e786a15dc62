"""How well a stored text answers a question, and whether it is about a topic.  Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from girdlebook.models.extractive.lexicon import Term, lexicon, terms
from girdlebook.words import words

ENOUGH = 0.5
"""Share of a question's weight that an answer must meet."""

SOME_TOPIC = 0.35
"""Share of a topic that will do where it is the best there is."""

SOME_CHARACTERS = 0.6
"""Share of a Chinese topic's characters that will do where no word is shared: 离婚的事 means 离过婚."""

WEAK = 0.33
"""Share that will do where only one stored text has it."""

_ATTRIBUTE_BONUS = 0.1
"""What an answer gains by holding the attribute that is asked for."""

TOPIC_SHARE = 0.6
"""Share of a topic's weight that a text about it must meet."""

_LOOSE = 0.6
_WORDS_MET = 0.5
"""Weight of common words that makes up for a missing attribute."""

_ASKING = re.compile("什么|哪些|哪个|谁|吗|呢|[?？]")
_SELF = re.compile(r"\b(?:i|i'm|my|me|am i|mine|we|our)\b|我", re.IGNORECASE)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_PERSON = "person"


@dataclass(frozen=True, slots=True)
class Profile:
    """The terms of a text, ready to be compared."""

    terms: tuple[Term, ...]
    keys: frozenset[str]
    names: frozenset[str]
    about: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Profile":
        """Read a text."""
        return cls.join(terms(text))

    @classmethod
    def join(cls, found: Sequence[Term]) -> "Profile":
        """The profile of terms."""
        return cls(
            tuple(found),
            frozenset(term.key for term in found),
            frozenset(name for term in found for name in term.names),
            frozenset(concept for term in found for concept in term.about),
        )

    def meets(self, term: Term) -> float:
        """How far this text holds what a term asks for, from 0 to 1."""
        if term.key in self.keys:
            return 1.0
        if term.names & self.names:
            return 0.95
        if term.names & self.about:
            return 0.9
        return 0.0

    def share_of(self, text: str) -> float:
        """The share of this profile's weight that a text meets."""
        held, own = Profile.of(text), _distinct(self.terms)
        total = sum(term.weight for term in own)
        return sum(term.weight * held.meets(term) for term in own) / total if total else 0.0

    def with_role(self, *roles: str) -> tuple[Term, ...]:
        """The terms that play one of these roles."""
        return tuple(term for term in self.terms if term.role in roles)


def relevance(question: str, text: str, context: Iterable[Term] = ()) -> float:
    """How well a text answers a question, from 0 to 1; 0 where it is about another owner or attribute.

    Parameters:
        context: terms of the question before, where this one leans on it.
    """
    asked, held = Profile.of(question), Profile.of(text)
    own = _distinct(asked.terms)
    if not any(term.weight for term in own if term.role != "wh") and not tuple(context):
        return _raw_share(question, text)
    if _of_another(question, asked, text, held) or not _has_what_is_asked(asked, held):
        return 0.0
    extra = [term for term in _distinct(context) if term.key not in asked.keys and term.role != "wh"]
    total = sum(_asked_weight(term, held) for term in own) + sum(term.weight for term in extra)
    if not total:
        return 0.0
    met = sum(term.weight * held.meets(term) for term in own)
    share = (met + sum(term.weight * held.meets(term) for term in extra)) / total
    bonus = any(held.meets(term) for term in asked.with_role("attribute"))
    return share + _ATTRIBUTE_BONUS * bonus


def covers(topic: str, text: str) -> bool:
    """Whether a text is about a topic: it holds the very words, or most of what the topic names."""
    if _stands_in(topic, text):
        return True
    return topic_share(topic, text) >= TOPIC_SHARE


def names_nothing_else(topic: str, text: str) -> bool:
    """Whether a text holds every attribute that a topic names."""
    held = Profile.of(text)
    return all(held.meets(term) for term in Profile.of(topic).with_role("attribute"))


def topic_share(topic: str, text: str) -> float:
    """How much of what a topic names a text holds, from 0 to 1; 0 where it is about another owner."""
    named, held = Profile.of(topic), Profile.of(text)
    parts = [term for term in _distinct(named.terms) if term.weight and term.role != "wh"]
    if not parts or _of_another(topic, named, text, held):
        return 0.0
    strong = [term for term in parts if term.role == "owner"]
    if any(not held.meets(term) for term in strong):
        return 0.0
    met = sum(term.weight * held.meets(term) for term in parts)
    return met / sum(term.weight for term in parts)


def character_share(topic: str, text: str) -> float:
    """The share of a topic's Chinese characters that a text holds, from 0 to 1; little words do not count."""
    characters = {each for each in topic if _HAN.match(each) and each not in lexicon().stop_words}
    return sum(each in text for each in characters) / len(characters) if len(characters) > 1 else 0.0


def _stands_in(topic: str, text: str) -> bool:
    """Whether the topic stands in the text as it is: a name that no dictionary cuts rightly is found this way."""
    bare = topic.strip().casefold()
    bounds = (r"(?<!\w)", r"(?!\w)") if bare.isascii() else ("", "")
    return len(bare) > 1 and re.search(bounds[0] + re.escape(bare) + bounds[1], text.casefold()) is not None


def _distinct(found: Iterable[Term]) -> list[Term]:
    """One term for each key, the first."""
    return list({term.key: term for term in reversed(tuple(found))}.values())[::-1]


def _asked_weight(term: Term, held: Profile) -> float:
    """A missing attribute weighs less than one that is there: the question may call it in its own way."""
    return _LOOSE if term.role == "attribute" and not held.meets(term) else term.weight


def _raw_share(question: str, text: str) -> float:
    """The share of all words in common, for a question of little words only ("What can't I do?")."""
    kinds = frozenset(name for term in terms(question) for name in term.names)
    for term in terms(question):
        if term.role == "wh":
            question = question.casefold().replace(term.key, " ")
    question = _ASKING.sub(" ", question)
    asked, held = ({word.text for word in words(each)} for each in (question, text))
    share = len(asked & held) / len(asked) if asked else 0.0
    return max(share, WEAK if kinds & Profile.of(text).about else 0.0)


def _has_what_is_asked(asked: Profile, held: Profile) -> bool:
    """No owner is missing; attributes are there, or else the question's own words stand in for loose ones."""
    if any(not held.meets(term) for term in asked.with_role("owner")):
        return False
    attributes = _distinct(asked.with_role("attribute"))
    own_words = [term for term in _distinct(asked.with_role("word")) if term.weight]
    words_met = sum(term.weight * held.meets(term) for term in own_words)
    missing = [term for term in attributes if not held.meets(term)]
    if not missing:
        return not own_words or words_met > 0 or not attributes or not all(map(_is_common, attributes))
    if len(missing) * 2 <= len(attributes) and not (words_met == 0 and own_words):
        return True
    return words_met >= _WORDS_MET and not any(map(_is_strict, missing))


def _is_strict(term: Term) -> bool:
    return bool(term.names) and term.names <= lexicon().strict


def _is_common(term: Term) -> bool:
    return bool(term.names) and term.names <= lexicon().common


def _of_another(question: str, asked: Profile, text: str, held: Profile) -> bool:
    """Whether the speaker asks about themselves and the text begins with somebody else ("My sister lives …")."""
    if asked.with_role("owner") or _PERSON in asked.about or not _SELF.search(question):
        return False
    first = next((term for term in held.terms if term.role != "value"), None)
    return first is not None and first.role == "owner" and not re.match(r"\W*(?:i|we)\b|我们", text, re.IGNORECASE)
