"""What words are about: text → terms with their concepts, in English and Chinese.  Its data are read once."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

Role = Literal["owner", "attribute", "thing", "wh", "word", "value"]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_PIECE = re.compile(rf"(?P<run>[{_HAN}]+)|[^\W_{_HAN}]+")
_LONGEST = 6
"""Most pieces of a phrase, and most characters of a Chinese word."""

_SHORTEST, _LEAST_STEM = 4, 3
_ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ss", "ss"), ("us", "us"), ("ing", ""), ("ed", ""), ("s", ""))

_WEIGHTS: Mapping[Role, float] = {"owner": 1.0, "attribute": 1.0, "thing": 0.6, "word": 0.8, "wh": 0.3, "value": 0.0}


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase of a text.

    `names` are the concepts it calls by name, `about` these, their more general ones and those it is a kind of.
    """

    key: str
    role: Role
    names: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    weight: float = 0.8


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The data of lexicon.toml, ready to be looked up."""

    phrases: Mapping[str, Term]
    shapes: Mapping[str, re.Pattern[str]]
    parents: Mapping[str, str]
    stop_words: frozenset[str]
    strict: frozenset[str]
    common: frozenset[str]

    def of_shape(self, text: str) -> Iterator[Term]:
        """Values that tell their kind by their form: addresses, times, sums of money."""
        for concept, pattern in self.shapes.items():
            for match in pattern.finditer(text):
                about = frozenset(_with_parents([concept], self.parents))
                yield Term(match[0], "value", frozenset(), about, 0.0)


def terms(text: str) -> tuple[Term, ...]:
    """The terms of a text in order; words without weight are left out."""
    return _terms(unicodedata.normalize("NFKC", text).replace("’", "'"))


@lru_cache(maxsize=8192)
def _terms(text: str) -> tuple[Term, ...]:
    book = lexicon()
    found: list[Term] = []
    latin: list[str] = []
    for piece in _PIECE.finditer(text):
        if piece["run"] is None:
            latin.append(piece[0])
            continue
        found += _latin(latin, book)
        latin = []
        found += _chinese(piece[0], book)
    return (*found, *_latin(latin, book), *book.of_shape(text))


def _latin(pieces: list[str], book: Lexicon) -> Iterator[Term]:
    stems = [_stem(piece) for piece in pieces]
    at = 0
    while at < len(pieces):
        for size in range(min(_LONGEST, len(pieces) - at), 0, -1):
            key = " ".join(stems[at : at + size])
            if key in book.phrases:
                yield book.phrases[key]
                yield from (Term(stem, "word", weight=0.0) for stem in stems[at : at + size] if size > 1)
                break
        else:
            size = 1
            if pieces[at].casefold() not in book.stop_words:
                yield Term(stems[at], "word")
        at += size


def _chinese(run: str, book: Lexicon) -> Iterator[Term]:
    """Longest known words first; what is left between them is taken in pairs of characters."""
    at, unknown = 0, ""
    while at < len(run):
        word = _longest_word(run, at, book)
        if not word or (unknown and len(word) == 1 and word in book.phrases and book.phrases[word].role == "owner"):
            unknown += run[at]
            at += 1
            continue
        yield from _pairs(unknown)
        unknown = ""
        if word in book.phrases:
            yield book.phrases[word]
        at += len(word)
    yield from _pairs(unknown)


def _longest_word(run: str, at: int, book: Lexicon) -> str:
    for size in range(min(_LONGEST, len(run) - at), 0, -1):
        word = run[at : at + size]
        if word in book.phrases or word in book.stop_words:
            return word
    return ""


def _pairs(run: str) -> Iterator[Term]:
    pairs = [run[at : at + 2] for at in range(len(run) - 1)] or ([run] if run else [])
    weight = _WEIGHTS["word"] if len(run) > 1 else _WEIGHTS["word"] / 2
    for pair in pairs:
        yield Term(pair, "word", weight=weight / len(pairs))


def _stem(word: str) -> str:
    """A light stem: numbers, tenses and a silent e are taken off.  The whole lexicon is stemmed at each start, so it
    has to be quick; what it runs together does no harm, as both sides go through it.
    """
    folded = word.casefold()
    if not folded.isascii() or len(folded) < _SHORTEST:
        return folded
    for ending, put in _ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= _LEAST_STEM:
            folded = folded[: -len(ending)] + put
            break
    if len(folded) > _LEAST_STEM and folded[-1] == folded[-2] and folded[-1] not in "lsz":
        return folded[:-1]
    return folded.removesuffix("e") if len(folded) > _LEAST_STEM else folded


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon, read once."""
    data = tomllib.loads(resources.files(__package__).joinpath("lexicon.toml").read_text(encoding="utf-8"))
    parents: dict[str, str] = data["under"]
    stop = data["stop"]
    return Lexicon(
        phrases=dict(_phrases(data, parents)),
        shapes={name: re.compile(pattern) for name, pattern in data["shapes"].items()},
        parents=parents,
        stop_words=frozenset([*stop["words"].split(), *stop["chinese"].split()]),
        strict=frozenset(data["strict"]["concepts"].split()),
        common=frozenset(data["strict"]["common"].split()),
    )


def _phrases(data: Mapping[str, Any], parents: Mapping[str, str]) -> Iterator[tuple[str, Term]]:
    named: dict[str, list[tuple[str, Role]]] = {}
    kinds: dict[str, list[str]] = {}
    roles: tuple[Role, ...] = ("owner", "attribute", "thing", "wh")
    for role in roles:
        for concept, line in data[role].items():
            names, _, instances = line.partition("|")
            for key in _keys(names):
                named.setdefault(key, []).append((concept, role))
            for key in _keys(instances):
                kinds.setdefault(key, []).append(concept)
    for key in {**named, **kinds}:
        names_of = named.get(key, [])
        role = names_of[0][1] if names_of else "word"
        concepts = [concept for concept, _ in names_of]
        about = frozenset(_with_parents([*concepts, *kinds.get(key, [])], parents))
        yield key, Term(key, role, frozenset(concepts), about, _WEIGHTS[role])


def _keys(line: str) -> Iterator[str]:
    for item in line.split(","):
        if item.isascii() and item.replace(" ", "").isalnum():
            yield " ".join(map(_stem, item.split()))
            continue
        text = unicodedata.normalize("NFKC", item.strip())
        if re.fullmatch(rf"[{_HAN}]+", text):
            yield text
        elif text:
            yield " ".join(_stem(piece[0]) for piece in _PIECE.finditer(text))


def _with_parents(concepts: Iterable[str], parents: Mapping[str, str]) -> Iterator[str]:
    for concept in concepts:
        at: str | None = concept
        while at is not None:
            yield at
            at = parents.get(at)
