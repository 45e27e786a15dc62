"""`girdle demo`: two conversations and a search, in a home that is gone afterwards."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import typer

from girdlebook.agent import Agent
from girdlebook.cli.chat import introduction
from girdlebook.cli.memory import block
from girdlebook.cli.output import out
from girdlebook.memory import Memory
from girdlebook.models import open_model

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_FIRST = (
    "Hi! My name is Ada Lindqvist and I live in Uppsala.",
    "I prefer short answers, please.",
    "我的服务器运行 Debian 12。",
    "We fixed the backup yesterday: the rsync timeout is now 90 seconds.",
)
_SECOND = ("What is my name?", "我的服务器运行什么系统？", "What did we do about the rsync timeout?")
_SEARCH = "backup"


@app.command("demo")
def demo() -> None:
    """Show in a few lines what it does.  Your own memory is neither read nor touched."""
    with tempfile.TemporaryDirectory(prefix="girdle-demo-") as folder, Memory.open(Path(folder) / "home") as memory:
        out(introduction(open_model()))
        _converse("The first conversation", memory, _FIRST)
        out("\n── What it keeps of it " + "─" * 37 + "\n")
        for target in memory.store.targets:
            out(block(memory.store, target) + "\n")
        _converse("A new conversation", memory, _SECOND)
        out(f"\n── girdle search {_SEARCH} " + "─" * 36)
        for hit in memory.sessions.search(_SEARCH, limit=3, roles=["user"]):
            out(f"\n{hit.session_id}  {hit.role}\n    {hit.snippet}")


def _converse(title: str, memory: Memory, texts: Sequence[str]) -> None:
    out(f"\n── {title} " + "─" * (56 - len(title)))
    with Agent(open_model(), memory, source="demo") as agent:
        for text in texts:
            out(f"\n> {text}")
            out(agent.run(text).text)
