"""Text → what its sentences do: state, correct, ask, have something forgotten, or chat.  Pure."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal

from girdlebook.models.extractive.lexicon import terms

Language = Literal["en", "zh"]
TargetName = Literal["memory", "user"]
Act = Literal["state", "ask", "forget", "forget_everything", "overview", "help", "pass"]

_SENTENCE_END = re.compile(
    r"(?<=[。！？；!?\n])\s*|(?<=\.)(?<!\b[A-Z]\.)(?<!\b[MD]r\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bSt\.)\s+"
)
_POINTING = re.compile(
    r"(?:that|this|it|them|those|these|one|just|i|you|\s|你|您|这|那|它|事|条|些|个|件|我|的)*", re.I
)
_TOPICS = re.compile(r"\s*[,;，；、]\s*(?:and )?|\s+and (?=my |our |the |who |what |where )|和(?=我)", re.I)
READ_CHARACTERS = 4_000
"""What is read of a message: nobody states more about themselves at once, and pasted logs are no statements."""

_FEW = 2
"""A sentence of fewer telling words is no fact by itself."""

_HAN = re.compile("[\u3400-\u9fff]")
_CLAUSE = {
    "en": re.compile(
        r"[,;]? (?:and|so|but) (?=(?:i|i'm|my|we|our|the \w+ (?:is|are|runs))\b)|[,;] (?=(?:i|i'm|my|we|our)\b)", re.I
    ),
    "zh": re.compile(r"[，,；;](?=我|另外|还有我)"),
}
_TOLD = re.compile(
    "remember|note|mind|save|store|memor|forget|you to|can you|could you|would you|will you|记|忘|存", re.I
)
_SUBORDINATE = re.compile(
    r"(?:when|if|because|since|after|before|as|while|although|for|whenever|where|unless|until)\b"
    r"|如果|当|因为|虽然|只要|每次|跟我|给我|由于|要是|除了",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact or wish to keep, near the speaker's own words, and the memory it belongs to."""

    text: str
    target: TargetName


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a message does.

    `topics` is what shall be forgotten, an empty text where it is only pointed at ("forget that").  `corrects` tells
    how plainly the speaker takes something back.
    """

    language: Language
    statements: tuple[Statement, ...] = ()
    questions: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    forget_everything: bool = False
    overview: bool = False
    help: bool = False
    corrects: Literal["no", "maybe", "plainly"] = "no"
    another: bool = False
    new_value: str | None = None
    old_value: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and what it does; `text` is without openers, for a forget request only its topic."""

    act: Act
    text: str
    told: bool = False
    corrects: bool = False


@lru_cache(maxsize=512)
def understand(text: str) -> Understanding:
    """Understand a message."""
    text = text[:READ_CHARACTERS]
    language = language_of(text)
    found = tuple(sentences(text))
    pick = {act: tuple(s.text for s in found if s.act == act) for act in ("ask", "forget")}
    statements = tuple(_statements(found, language))
    maybe = matches("correction", text)
    new, old = _bare_values(found)
    plainly = old is not None or any(sentence.corrects for sentence in found)
    return Understanding(
        language=language,
        statements=statements,
        questions=pick["ask"],
        topics=tuple(part for topic in pick["forget"] for part in _TOPICS.split(topic)),
        forget_everything=any(s.act == "forget_everything" for s in found),
        overview=any(s.act == "overview" for s in found),
        help=any(s.act == "help" for s in found),
        corrects="plainly" if plainly else "maybe" if maybe else "no",
        another=matches("another", text),
        new_value=new if plainly else None,
        old_value=old,
    )


def language_of(text: str) -> Language:
    """Chinese where a fifth of the letters are Chinese, else English."""
    letters = sum(character.isalpha() for character in text)
    return "zh" if letters and len(_HAN.findall(text)) * 5 >= letters else "en"


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text, each with what it does."""
    for piece in _SENTENCE_END.split(text[:READ_CHARACTERS].replace("’", "'")):
        if piece.strip():
            yield _sentence(piece.strip())


def told_text(text: str) -> str:
    """What a message tells, be it worth keeping or not; empty for questions, small talk and requests to forget."""
    found = tuple(sentences(text))
    telling = [s for s in found if s.act in ("state", "pass") and s.text and not matches("chat", s.text)]
    if any(s.act in ("forget", "forget_everything") for s in found):
        return " ".join(s.text for s in telling if s.act == "state")
    return text if telling else ""


def matches(frame: str, text: str) -> bool:
    """Whether one of the frames of that name fits."""
    return any(pattern.search(text) for pattern in patterns(frame, language_of(text)))


@lru_cache(maxsize=64)
def patterns(frame: str, language: Language) -> tuple[re.Pattern[str], ...]:
    """The frames of that name; Chinese ones only for texts with Chinese in them, as compiling takes its time."""
    return tuple(re.compile(line, re.I) for line in _frames()[frame] if language == "zh" or not _HAN.search(line))


@lru_cache(maxsize=1)
def _frames() -> dict[str, list[str]]:
    """The frames of patterns.toml, read once."""
    return tomllib.loads(resources.files(__package__).joinpath("patterns.toml").read_text(encoding="utf-8"))


def _sentence(raw: str) -> Sentence:
    text, told = _without_openers(raw)
    renewed = _renewed(text)
    if renewed:
        return Sentence("state", renewed, told, corrects=True)
    topic = _topic(text)
    if topic is None:
        topic = _topic(_without_noise(text)[0])
    if topic is not None:
        everything = matches("forget_everything", topic)
        return Sentence("forget_everything" if everything else "forget", _bare_topic(topic))
    if matches("overview", text):
        return Sentence("overview", text)
    if matches("help", text):
        return Sentence("help", text)
    chat = matches("chat", text)
    if not chat and _is_question(text, told):
        return Sentence("ask", text)
    plain, corrects = _without_noise(text)
    if not plain:
        return Sentence("pass", "", corrects=corrects)
    if told or (not chat and (corrects or _is_durable(plain))):
        return Sentence("state", plain, told, corrects)
    lasting = "" if chat else _lasting_part(plain)
    return Sentence("state" if lasting else "pass", lasting or plain, told, corrects)


def _renewed(text: str) -> str | None:
    """ "They moved the standup, it's at ten now" as "The standup is at ten"; None for any other sentence."""
    for pattern in patterns("renewed", language_of(text)):
        match = pattern.match(text)
        if match and language_of(text) == "zh":
            return f"我的{match['subject']}是{match['value']}"
        if match:
            return f"The {match['subject']} is {match['value']}"
    for pattern in patterns("rejoined", language_of(text)):
        match = pattern.match(text)
        if match:
            employer = match["employer"]
            return f"我在{employer}上班" if language_of(text) == "zh" else f"I work at {employer}"
    return None


def _is_question(text: str, told: bool) -> bool:
    if told and not matches("asks", text):
        return False
    return matches("question", text) and not matches("not_question", text)


def _lasting_part(text: str) -> str:
    """The clauses of a passing sentence from the first that lasts ("It was my birthday, I'm 35 now")."""
    starts = (match.end() for pattern in _CLAUSE.values() for match in pattern.finditer(text))
    return next((text[start:] for start in starts if _is_durable(text[start:])), "")


def _is_durable(text: str) -> bool:
    """Whether a sentence says something lasting: by its frame, or since it speaks of things known to the lexicon."""
    if matches("lasting", text):
        return True
    if matches("episodic", text):
        return False
    return matches("durable", text) or _has_substance(text)


def _has_substance(text: str) -> bool:
    found = terms(text)
    return len(found) >= _FEW and any(term.about and term.role in ("owner", "attribute", "word") for term in found)


def _without_openers(text: str) -> tuple[str, bool]:
    """The text from its first telling word on, and whether the speaker asks to remember it."""
    told = False
    while True:
        rest = text
        for pattern in patterns("openers", language_of(text)):
            match = pattern.match(rest)
            if match and match.end() and match.end() < len(rest):
                told = told or re.search(_TOLD, match[0]) is not None
                rest = rest[match.end() :]
        if rest == text:
            return text.strip(), told
        text = rest


def _without_noise(text: str) -> tuple[str, bool]:
    """The text without apologies and the like, and whether there were any."""
    plain = text
    while True:
        rest = plain
        for pattern in patterns("correction_noise", language_of(text)):
            rest = pattern.sub("", rest, count=1).strip()
        for pattern in patterns("closers", language_of(text)):
            rest = pattern.sub("", rest, count=1).strip()
        if rest == plain:
            break
        plain = rest
    return _tidied(plain), any(pattern.match(text) for pattern in patterns("correction_noise", language_of(text)))


def _tidied(text: str) -> str:
    text = text.strip(" \t\n,，。.;；!！~～:：")
    return text if re.search(r"\w", text) else ""


def _topic(text: str) -> str | None:
    """What shall be forgotten, or None where the sentence asks for nothing like that."""
    if matches("not_forget", text):
        return None
    found = [
        match["topic"].strip(" ,.!，。！")
        for pattern in patterns("forget", language_of(text))
        if (match := pattern.search(text))
    ]
    return next((topic for topic in found if _bare_topic(topic)), found[0] if found else None)


def _bare_topic(topic: str) -> str:
    for pattern in patterns("forget_noise", language_of(topic)):
        topic = pattern.sub(" ", topic)
    topic = _tidied(" ".join(topic.split()))
    return "" if _POINTING.fullmatch(topic) else topic


def _statements(found: Iterable[Sentence], language: Language) -> Iterator[Statement]:
    texts: list[str] = []
    for sentence in found:
        leans = bool(texts) and sentence.act in ("state", "pass") and matches("leaning", sentence.text)
        if leans and sentence.text and not matches("chat", sentence.text):
            texts[-1] += (". " if language == "en" else "。") + sentence.text
        elif sentence.act == "state":
            texts += _clauses(sentence.text, language)
    for text in dict.fromkeys(texts):
        yield Statement(text, target_of(text))


def _clauses(text: str, language: Language) -> list[str]:
    """The independent clauses of a sentence, each a fact of its own."""
    match = _CLAUSE[language].search(text)
    while match:
        left = text[: match.start()]
        if not _SUBORDINATE.match(left) and _is_durable(left):
            rest = text[match.end() :]
            return [_tidied(left), *_clauses(rest, language)]
        match = _CLAUSE[language].search(text, match.end())
    return [_tidied(text)]


def target_of(text: str) -> TargetName:
    """Whether a fact is about the person (`user`) or their environment (`memory`)."""
    if not matches("environment", text):
        return "user" if matches("personal", text) else "memory"
    return "user" if re.match(r"(?:i|i'm|my|please|call|don't)\b|我(?!们)", text, re.I) else "memory"


def _bare_values(found: Iterable[Sentence]) -> tuple[str | None, str | None]:
    """The new and the old value of "it's 9090, not 8080"; None for what is not said."""
    for sentence in found:
        for pattern in patterns("bare_value", language_of(sentence.text)):
            match = pattern.match(sentence.text) if sentence.act in ("state", "pass") else None
            if match:
                old = match.groupdict().get("old")
                return match["new"].strip(), old and old.strip()
    return None, None
