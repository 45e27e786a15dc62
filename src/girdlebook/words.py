"""Text → search words: folding, stems, bigrams for scripts without blanks, stop words (pure).

Index and queries go through the same functions, so what was written is found however it is written again: `payments`
finds `payment`, `ＰＯＲＴ` finds `port`, and any two neighbouring Chinese characters are a word (reports L2-01, L2-05).
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer

# Scripts that put no blanks between words: Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Marks that belong to the letter before them; Python's \w leaves them out.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u200c\u200d"
_PIECE = re.compile(rf"(?P<run>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}_])\w)(?:(?![{_UNSPACED}_])[\w{_MARKS}])*")

_ENGLISH_STOP_WORDS = """
    a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can could couldn d did didn do does doesn doing don down during each few for from further
    get got had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it
    its itself just kind let ll m many may me might more most much must my myself no nor not now of off on once one
    only or other our ours ourselves out over own per please re s same say shall shan she should shouldn so some
    such t tell than that the their theirs them themselves then there these they this those through to too under
    until up upon us ve very via was wasn we were weren what when where which while who whom whose why will with won
    would wouldn you your yours yourself yourselves
"""

# Words that ask, point or join; a run is cut at them before its bigrams are taken.  Longer ones come first.
_CHINESE_STOP_WORDS = """
    什么时候 可不可以 记不记得 为什么 怎么样 是不是 有没有 能不能 还记得 什么 怎么 怎样 如何 哪里 哪儿 哪个
    哪些 多少 几个 几点 记得 告诉 知道 请问 一下 一个 一些 这个 那个 这些 那些 这样 那样 这里 那里 我们 你们
    他们 她们 它们 咱们 自己 因为 所以 但是 不过 而且 如果 虽然 然后 或者 以及 还是 就是 可以 已经 之前 以前
    曾经 刚才 上次 提到 说过 关于 对于 现在 来着 时候 哪 我 你 您 他 她 它 的 了 着 过 吗 呢 吧 啊 呀 哦 嗯
    嘛 是 在 有 和 与 及 或 也 都 就 还 很 那 这 谁 把 被 给 让 到 从 对 跟 请
"""

STOP_WORDS = frozenset(_ENGLISH_STOP_WORDS.split())
_CHINESE_STOP = re.compile("|".join(_CHINESE_STOP_WORDS.split()))


class Word(NamedTuple):
    """A search word and where it stands in the text."""

    text: str
    start: int
    end: int


def words(text: str) -> Iterator[Word]:
    """Every search word of a text, in order, stop words included."""
    for piece in _PIECE.finditer(text):
        if piece["run"] is None:
            yield Word(_stem(_fold(piece[0])), piece.start(), piece.end())
        else:
            yield from _bigrams(piece[0], piece.start())


def index_words(text: str) -> str:
    """What the full-text index stores for a text: its words with blanks between."""
    return " ".join(word.text for word in words(text))


def terms(text: str) -> list[tuple[str, ...]]:
    """What a query asks for: each term a word, or several that must stand together (`v2.1`, `src/app.py`).

    Stop words are left out, unless there is nothing else.
    """
    return _without_repeats(_content_terms(text)) or _without_repeats(_all_terms(text))


def _all_terms(text: str) -> Iterator[tuple[str, ...]]:
    for compound in text.split():
        for is_run, group in _groups(compound):
            found = tuple(word.text for word in words(group))
            yield from ((word,) for word in found) if is_run else [found]


def _content_terms(text: str) -> Iterator[tuple[str, ...]]:
    for compound in text.split():
        for is_run, group in _groups(compound):
            if is_run:
                yield from ((word.text,) for part in _CHINESE_STOP.split(group) for word in _query_bigrams(part))
            else:
                yield from _content_compound(group)


def _content_compound(group: str) -> Iterator[tuple[str, ...]]:
    """A word, or words joined by signs; an apostrophe or a stop word breaks the bond."""
    for part in re.split("['’]", group):
        found = [(_fold(piece[0]), _stem(_fold(piece[0]))) for piece in _PIECE.finditer(part)]
        if len(found) == 1 and found[0][0] in STOP_WORDS:
            continue
        if found:
            yield tuple(stem for _, stem in found)


def _groups(compound: str) -> Iterator[tuple[bool, str]]:
    """Runs of an unspaced script, and what stands between them."""
    for match in re.finditer(rf"([{_UNSPACED}]+)|[^{_UNSPACED}]+", compound):
        if _PIECE.search(match[0]):
            yield match[1] is not None, match[0]


def _query_bigrams(run: str) -> Iterator[Word]:
    """Bigrams of a run; the single last character is only needed where the run is that short."""
    found = list(_bigrams(run, 0)) if run else []
    yield from found[:-1] if len(found) > 1 else found


def _bigrams(run: str, start: int) -> Iterator[Word]:
    """Each character with the next one, and the last one alone: so every character begins a word."""
    folded = unicodedata.normalize("NFKC", run)
    for at in range(len(folded)):
        place = start + min(at, len(run) - 1)
        yield Word(folded[at : at + 2], place, min(place + 2, start + len(run)))


def _without_repeats(found: Iterator[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(term for term in found if term))


@lru_cache(maxsize=65_536)
def _fold(word: str) -> str:
    """Lower case, compatibility forms made plain, marks taken off."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.category(c).startswith(("M", "Cf"))) or word


_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    stem: str = _STEMMER.stemWord(word) if word.isascii() and word.isalpha() else word
    return stem
