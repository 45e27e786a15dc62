"""`girdle chat`: one turn with `-m`, else a conversation."""

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from girdlebook import env_file, settings
from girdlebook.agent import Agent, TurnResult
from girdlebook.cli.conversation import Conversation, Screen, WaitedForModel, going_on
from girdlebook.cli.logs import write_log
from girdlebook.cli.output import Json, User, from_argument, notice, out, out_json
from girdlebook.cli.signals import Signals
from girdlebook.errors import StoreError
from girdlebook.memory import Memory
from girdlebook.models import open_model
from girdlebook.models.base import ChatModel
from girdlebook.profiles import resolve as resolve_home
from girdlebook.repository import project_of
from girdlebook.sessions.filters import SessionFilter

SOURCE = "cli"

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("chat")
def chat(
    context: typer.Context,
    message: Annotated[
        str | None, typer.Option("--message", "-m", metavar="TEXT", help="Say this, print the reply, and leave.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Who answers: anthropic:NAME, openai:NAME, URL#NAME for any compatible endpoint, scripted:FILE. "
            "Without it chat.model of the settings, else the embedded responder, which is no language model.",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option("--resume", "-r", metavar="SESSION", help="Go on with this one: an id, its beginning, a title."),
    ] = None,
    go_on: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the latest conversation.")] = False,
    user: User = None,
    max_iterations: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The most model calls in one turn.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Talk to an agent that remembers.

    At a terminal it opens a conversation; /help lists its commands.  Without a terminal each line of the input is a
    turn.  Replies go to stdout, everything else to stderr.
    """
    if as_json and message is None:
        raise typer.BadParameter("it prints one reply, so it needs -m TEXT", param_hint="--json")
    if resume is not None and go_on:
        raise typer.BadParameter("it names another conversation than --continue; give one of the two", param_hint="-r")
    home = resolve_home(context.obj)
    config = settings.load(home).config
    env_file.fill(os.environ, home.env_file)
    answering = open_model(model or config.chat.model or None, cache_ttl=config.prompt_caching.cache_ttl)
    screen = Screen()
    with Signals() as signals, Memory.open(home, user_id=user) as memory:
        waited_for = WaitedForModel(answering, signals, screen)
        project = project_of(Path.cwd())
        write_log(home)
        most = max_iterations or config.chat.max_iterations
        length = config.chat.context_length or None
        agent = Agent(waited_for, memory, max_iterations=most, source=SOURCE, project=project, context_length=length)
        with closing(agent):
            notice(introduction(answering))
            if resume is not None or go_on:
                session = agent.resume(latest(memory) if resume is None else from_argument(resume))
                notice(going_on(session))
            if message is None:
                interactive = sys.stdin.isatty() and sys.stdout.isatty()
                Conversation(agent, signals, screen, interactive=interactive).run()
            else:
                _print_reply(agent.run(from_argument(message)), as_json=as_json)


def latest(memory: Memory) -> str:
    """The id of the latest conversation that took place here.

    Raises:
        StoreError: there is none.
    """
    where = SessionFilter(sources=(SOURCE,))
    records = memory.own_sessions.recent(limit=1, where=where)
    if not records:
        raise StoreError("there is no conversation to go on with; start one with: girdle chat")
    return records[0].id


def introduction(model: ChatModel) -> str:
    """What to say at the start of who answers: a model's own `notice`, else its name."""
    own: str | None = getattr(model, "notice", None)
    return own or f"Model: {model.name}"


def _print_reply(result: TurnResult, *, as_json: bool) -> None:
    if as_json:
        out_json({"text": result.text, "session_id": result.session_id, "stopped": result.stopped})
    else:
        out(result.text)
    if result.stopped == "max_iterations":
        notice(f"stopped after {result.iterations} model calls; --max-iterations allows more")
        raise typer.Exit(1)
