"""Does a plain question find the turns that hold its answer?  Measured on LoCoMo, without any model.

    python -m benchmarks.locomo PATH [--json]                         score the search
    python -m benchmarks.locomo PATH --import-into HOME [--conversation ID]   put one talk into a home, to chat about it

PATH is a LoCoMo file (github.com/snap-research/locomo).  Every turn is stored as one message of the role `user`, one
session per LoCoMo session at its own date.  Each question is searched for as it was typed; a turn is found when it is
among the first k hits.  `pooled` searches all conversations at once, `per_conversation` only the question's own.
The headline figures take categories 1 to 4; category 5 (adversarial) stands apart.
"""

import argparse
import datetime
import json
import platform
import re
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from girdlebook.messages import Message
from girdlebook.sessions.sqlite import SQLiteSessionStore

DEPTHS = (1, 5, 10, 20)
RANK_LIMIT = 100
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
HEADLINE = (1, 2, 3, 4)

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True)
class Session:
    id: str
    date: str
    turns: tuple[tuple[str, str], ...]
    """Turn ids with their texts."""


@dataclass(frozen=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Outcome:
    """What one question found: ids of turns, best first, and the CPU seconds it took."""

    question: Question
    found: tuple[str, ...]
    seconds: float


def load(path: Path) -> list[Conversation]:
    return [_conversation(number, row) for number, row in enumerate(json.loads(path.read_text(encoding="utf-8")))]


def fill(store: SQLiteSessionStore, conversations: Iterable[Conversation]) -> dict[int, str]:
    """Store every turn; gives the turn id of each message number."""
    turn_of: dict[int, str] = {}
    for session in (session for conversation in conversations for session in conversation.sessions):
        start = parse_date(session.date).timestamp()
        store.create_session(session.id, source="locomo", title=f"{session.id}, {session.date}", started_at=start)
        messages = [Message("user", text) for _, text in session.turns]
        times = [start + 60 * index for index in range(len(messages))]
        ids = store.append_many(session.id, messages, timestamps=times)
        turn_of |= dict(zip(ids, (turn for turn, _ in session.turns), strict=True))
    return turn_of


def parse_date(text: str) -> datetime.datetime:
    """`1:56 pm on 8 May, 2023`"""
    return datetime.datetime.strptime(text, "%I:%M %p on %d %B, %Y")


def score(conversations: Sequence[Conversation]) -> dict[str, Any]:
    apart = [outcome for conversation in conversations for outcome in _ask([conversation])]
    return {
        "pooled": figures(_ask(conversations)),
        "per_conversation": figures(apart),
        "conversations": len(conversations),
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        },
    }


def figures(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    by_category: dict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_category[outcome.question.category].append(outcome)
    headline = [outcome for category in HEADLINE for outcome in by_category[category]]
    return _figures(headline) | {
        "categories": {CATEGORIES[c]: _figures(by_category[c]) for c in CATEGORIES if by_category[c]}
    }


def _ask(conversations: Sequence[Conversation]) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder, SQLiteSessionStore.open(Path(folder) / "state.db") as store:
        turn_of = fill(store, conversations)
        questions = [question for conversation in conversations for question in conversation.questions]
        return [_outcome(store, question, turn_of) for question in questions]


def _outcome(store: SQLiteSessionStore, question: Question, turn_of: Mapping[int, str]) -> Outcome:
    start = time.process_time()
    hits = store.search(question.text, limit=RANK_LIMIT)
    seconds = time.process_time() - start
    return Outcome(question, tuple(turn_of[hit.message_id] for hit in hits), seconds)


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    result: dict[str, Any] = {f"R@{k}": _mean(_recall(outcome, k) for outcome in outcomes) for k in DEPTHS}
    result["hit@10"] = _mean(float(_recall(outcome, 10) > 0) for outcome in outcomes)
    result["MRR"] = _mean(_reciprocal_rank(outcome) for outcome in outcomes)
    result["empty_share"] = _mean(float(not outcome.found) for outcome in outcomes)
    milliseconds = [1e3 * outcome.seconds for outcome in outcomes]
    result["cpu_ms_p50"] = round(statistics.median(milliseconds), 3)
    result["cpu_ms_p95"] = round(statistics.quantiles(milliseconds, n=20, method="inclusive")[18], 3)
    return result | {"n": len(outcomes)}


def _recall(outcome: Outcome, depth: int) -> float:
    return len(outcome.question.evidence.intersection(outcome.found[:depth])) / len(outcome.question.evidence)


def _reciprocal_rank(outcome: Outcome) -> float:
    return next((1 / rank for rank, turn in enumerate(outcome.found, 1) if turn in outcome.question.evidence), 0.0)


def _mean(values: Iterable[float]) -> float:
    return round(statistics.fmean(values), 4)


def _conversation(number: int, row: Mapping[str, Any]) -> Conversation:
    name = row.get("sample_id", f"conv-{number}")
    sessions = tuple(_sessions(name, row["conversation"]))
    known = {turn for session in sessions for turn, _ in session.turns}
    return Conversation(name, sessions, tuple(_questions(name, row["qa"], known)))


def _sessions(name: str, talk: Mapping[str, Any]) -> Iterator[Session]:
    numbers = sorted(int(match[1]) for key in talk if (match := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        turns = tuple((f"{name}/{turn['dia_id']}", _turn_text(turn)) for turn in talk[f"session_{number}"])
        yield Session(f"{name}-S{number}", talk[f"session_{number}_date_time"], turns)


def _turn_text(turn: Mapping[str, Any]) -> str:
    image = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn.get('text', '')}{image}"


def _questions(name: str, rows: Iterable[Mapping[str, Any]], known: set[str]) -> Iterator[Question]:
    for row in rows:
        named = [f"{name}/D{int(a)}:{int(b)}" for text in row.get("evidence", ()) for a, b in _EVIDENCE.findall(text)]
        if evidence := frozenset(known.intersection(named)):
            yield Question(row["question"], row["category"], evidence)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, metavar="PATH")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--import-into", type=Path, metavar="HOME", help="store one conversation in HOME/state.db")
    parser.add_argument("--conversation", metavar="ID", help="which one (default: the first)")
    given = parser.parse_args()
    conversations = load(given.path)
    if given.import_into:
        chosen = [c for c in conversations if given.conversation in (None, c.id)][:1]
        if not chosen:
            parser.error(f"no conversation {given.conversation!r}; there are {', '.join(c.id for c in conversations)}")
        with SQLiteSessionStore.open(given.import_into / "state.db") as store:
            print(f"{len(fill(store, chosen))} turns of {chosen[0].id} are in {given.import_into}")
        return
    result = score(conversations)
    if given.json:
        print(json.dumps(result))
        return
    for scope in ("pooled", "per_conversation"):
        shown = {key: value for key, value in result[scope].items() if key != "categories"}
        print(scope, " ".join(f"{key}={value}" for key, value in shown.items()))


if __name__ == "__main__":
    main()
