"""The summary that is made without a model: what was asked, decided, written, went wrong and named (pure).

Nothing is understood here.  What is kept is what cannot be guessed again: the person's short messages, values that the
assistant named, files, error lines, commands.  Where all of it is too much, each kind keeps its newest.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from girdlebook.compression.actions import Action, actions_of
from girdlebook.compression.summary import HEADINGS, render, sections
from girdlebook.messages import Message
from girdlebook.tokens import estimate_text

_GOAL, _WISHES, _, _DONE, _STATE, _BLOCKED, _DECISIONS, _FILES, _NEXT, _CONTEXT, _TOOLS = HEADINGS

# Kinds by importance, with their share of the whole.
_SHARES = {_WISHES: 0.15, _CONTEXT: 0.22, _DECISIONS: 0.25, _FILES: 0.22, _GOAL: 0.08, _STATE: 0.03, _DONE: 0.05}

_WISH_CHARACTERS = 400
_REQUEST_CHARACTERS = 240
_SENTENCE_CHARACTERS = 240
_ERROR_CHARACTERS = 300
_COMMAND_CHARACTERS = 100
_STATE_CHARACTERS = 400
_ALIKE = 3
"""Lines of one shape in one output that are news; more of them are a listing."""

_CODE_BLOCK = re.compile(r"```.*?```", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")

# Numbers of three digits and more, versions, decimals, digests, flags, names with a number: what is chosen or computed.
_VALUE = re.compile(
    r"(?<![\w./-])(?:--[A-Za-z][\w-]*|[A-Za-z][A-Za-z0-9]*-[A-Za-z0-9]*\d[A-Za-z0-9]*|\d+(?:\.\d+)+|\d{3,}"
    r"|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})(?![\w-]|\.\d)"
)
_MAY_HOLD_A_VALUE = re.compile(r"\d|--[A-Za-z]")
_QUOTED = re.compile(r"`[^`\n]{3,60}`")

_PATH = re.compile(r"(?<![\w./:@-])(?:/|\.{1,2}/)?[\w.@+-]+(?:/[\w.@+-]+)+(?!/?[\w@+-])")
_LIBRARY = re.compile(r"/(?:site-packages|dist-packages|node_modules|lib/python[\d.]+)/|^/usr/(?:lib|include)/")
_DIGITS = re.compile(r"\d+")

_WRONG = re.compile(
    r"^.*(?:Error\b|Exception\b|\berror\b|\bfatal\b|ERROR|FATAL|FAILED|\bpanic\b|\bdenied\b|\b[Nn]ot found\b"
    r"|No such file|\bcannot\b|\bcould not\b|Traceback|错误|失败|异常|找不到|拒绝).*$",
    re.MULTILINE,
)
# Cheap to look for; an output without any of them holds no line that went wrong.
_WRONG_HINTS = (
    *("Error", "Exception", "Warning", "error", "fatal", "ERROR", "FATAL", "FAILED", "panic", "denied", "ot found"),
    *("No such file", "cannot", "could not", "Traceback", "错误", "失败", "异常", "找不到", "拒绝"),
)
_RAISED = re.compile(r"^(?:E +)?(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Warning): \S.*$", re.MULTILINE)
_SOURCE_LINE = re.compile(
    r"^\s*(?:\d+[\t:-]|raise\b|except\b|class\b|def\b|return\b|if\b|elif\b|#|//|\*|[+-] ?\S*\s*(?:raise|except))"
)


def digest(messages: Sequence[Message], *, previous: str | None, notes: str, most_tokens: int) -> str:
    """The digest of these turns, on top of the summary so far.

    Parameters:
        messages: what is to leave the model's sight.
        notes: what an external memory wants to be kept.
        most_tokens: what the digest may have.
    """
    found = sections(previous or "")
    known = "\n".join(item for items in found.values() for item in items)
    actions = list(actions_of(messages))
    fresh = {
        _GOAL: list(_requests(messages)),
        _WISHES: list(_wishes(messages)),
        _DONE: list(_commands(actions)),
        _STATE: list(_last_words(messages)),
        _DECISIONS: list(_statements(messages, known)),
        _FILES: list(_files(actions, known)),
        _CONTEXT: [*([f"From the external memory: {' '.join(notes.split())}"] if notes else []), *_errors(actions)],
    }
    for heading, items in fresh.items():
        older = [] if heading == _STATE and items else found.get(heading, [])
        found[heading] = list(dict.fromkeys([*older, *items]))
    return render(_within(found, most_tokens))


# ── what the person said ────────────────────────────────────────────────────────────────────────────────────────


def _wishes(messages: Sequence[Message]) -> Iterator[str]:
    """Short messages of the person, whole: constraints and decisions are seldom long."""
    for message in messages:
        text = " ".join(message.text.split())
        if message.role == "user" and 0 < len(text) <= _WISH_CHARACTERS:
            yield text


def _requests(messages: Sequence[Message]) -> Iterator[str]:
    """How longer messages of the person begin."""
    for message in messages:
        text = " ".join(re.sub(r"</?[a-z_]+>", " ", message.text[: 4 * _REQUEST_CHARACTERS]).split())
        if message.role == "user" and len(message.text) > _WISH_CHARACTERS:
            yield f"{text[:_REQUEST_CHARACTERS]}…"


# ── what the assistant said ─────────────────────────────────────────────────────────────────────────────────────


def _statements(messages: Sequence[Message], known: str) -> Iterator[str]:
    """Sentences in which the assistant names a value that did not come up before."""
    seen: set[str] = set()
    for message in messages:
        if message.role != "assistant":
            continue
        prose = _CODE_BLOCK.sub("\n", message.text) if "```" in message.text else message.text
        if not _MAY_HOLD_A_VALUE.search(prose):
            continue
        for sentence in _SENTENCE_END.split(prose):
            if not _MAY_HOLD_A_VALUE.search(sentence) or _SOURCE_LINE.match(sentence):
                continue
            fresh = [value for value in dict.fromkeys(_values(sentence)) if value not in seen]
            seen.update(fresh)
            yield from _around(" ".join(sentence.split()), [value for value in fresh if value not in known])


def _values(sentence: str) -> Iterator[str]:
    yield from _VALUE.findall(sentence)
    if "`" in sentence:
        yield from (quoted for quoted in _QUOTED.findall(sentence) if any(char.isdigit() for char in quoted))


def _around(sentence: str, values: Sequence[str]) -> Iterator[str]:
    """The sentence that holds these values; a long one by the pieces around them."""
    if values and len(sentence) <= _SENTENCE_CHARACTERS:
        yield sentence
        return
    reached = 0
    for value in values:
        place = sentence.find(value, reached)
        if place >= 0:
            start = max(0, place - _SENTENCE_CHARACTERS // 2)
            reached = max(place + len(value), start + _SENTENCE_CHARACTERS)
            yield f"…{sentence[start:reached]}…"


def _last_words(messages: Sequence[Message]) -> Iterator[str]:
    for message in reversed(messages):
        if message.role == "assistant" and message.text.strip():
            yield " ".join(message.text.split())[:_STATE_CHARACTERS]
            return


# ── what was done ───────────────────────────────────────────────────────────────────────────────────────────────


def _commands(actions: Iterable[Action]) -> Iterator[str]:
    """What was run or changed, with its outcome; looking at files is no deed."""
    for action in actions:
        if not action.prints_source and action.main_argument:
            yield f"{action.call.name}: {action.main_argument[:_COMMAND_CHARACTERS]} → {action.outcome}"


def _files(actions: Sequence[Action], known: str) -> Iterator[str]:
    """Files that were written, then those that outputs named."""
    written = dict.fromkeys(path.removeprefix("./") for action in actions for path in action.written())
    yield from (f"{path} (written)" for path in written if f"{path} (written)" not in known)
    named: dict[str, None] = {}
    for action in actions:
        if not action.prints_source:
            named.update(dict.fromkeys(_news_paths(action.output)))
    named = {path: None for path in named if path not in written and path not in known}
    yield from sorted(named, key=lambda path: bool(_LIBRARY.search(path)))


def _news_paths(output: str) -> Iterator[str]:
    """Paths in an output, but for those in a listing: lines of one shape, again and again."""
    shapes: dict[str, int] = {}
    for match in _PATH.finditer(output):
        start, end = output.rfind("\n", 0, match.start()) + 1, output.find("\n", match.end())
        line = output[start : match.start()] + "\0" + output[match.end() : end if end >= 0 else len(output)]
        shape = _DIGITS.sub("0", line[:120])
        shapes[shape] = shapes.get(shape, 0) + 1
        if shapes[shape] <= _ALIKE:
            yield match[0]


def _errors(actions: Iterable[Action]) -> Iterator[str]:
    """Lines in which something went wrong, whole."""
    for action in actions:
        pattern = _RAISED if action.prints_source else _WRONG
        if not any(hint in action.output for hint in _WRONG_HINTS):
            continue
        for line in pattern.findall(action.output):
            stripped = line.strip().removeprefix("E ").strip()
            if len(stripped) <= _ERROR_CHARACTERS and not _SOURCE_LINE.match(line):
                yield stripped


# ── what there is room for ──────────────────────────────────────────────────────────────────────────────────────


def _within(found: dict[str, list[str]], most_tokens: int) -> dict[str, list[str]]:
    """Every kind within its share; what some leave, those that need more take, the most important kind first."""
    costs = {heading: sum(map(_cost, items)) for heading, items in found.items()}
    order = [*_SHARES, *(heading for heading in found if heading not in _SHARES)]
    rooms = {one: min(costs.get(one, 0), int(most_tokens * _SHARES.get(one, 0))) for one in order}
    spare = most_tokens - sum(rooms.values())
    for heading in order:
        more = min(spare, costs.get(heading, 0) - rooms[heading])
        rooms[heading] += more
        spare -= more
    return {heading: _newest(found.get(heading, []), rooms[heading]) for heading in order}


def _newest(items: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for item in reversed(items):
        if _cost(item) <= room:
            kept.append(item)
            room -= _cost(item)
    return kept[::-1]


def _cost(item: str) -> int:
    """Tokens of a line."""
    return estimate_text(item) + 2
