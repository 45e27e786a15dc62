"""The composition root: puts the layers of one home together, and alone reads its settings."""

import datetime
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

from girdlebook import settings
from girdlebook.compression.compressor import ContextCompressor
from girdlebook.compression.flush import Flushed, flush_on_auxiliary, flush_on_main
from girdlebook.compression.policy import DEFAULT_CONTEXT_LENGTH, Brake, CompressionPolicy
from girdlebook.compression.summary import is_summary
from girdlebook.config import AuxiliaryTask, Config
from girdlebook.context import Context
from girdlebook.curated.ledger import Ledger
from girdlebook.curated.store import MemoryStore
from girdlebook.curated.tool import MemoryTool
from girdlebook.files import private_folder
from girdlebook.making_room import MakingRoom
from girdlebook.models import open_model
from girdlebook.models.base import ChatModel, is_language_model, window_of
from girdlebook.prices import Prices
from girdlebook.profiles import Home, resolve
from girdlebook.prompts.assemble import system_prompt
from girdlebook.session import MemorySession
from girdlebook.sessions.care import prune_if_due
from girdlebook.sessions.rows import plain
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.store import SessionStore, new_session_id
from girdlebook.sessions.tool import SessionSearchTool
from girdlebook.tools import Toolbox, ToolSpec, specs_from_json, specs_to_json
from girdlebook.transcripts import mended


class Memory:
    """All memory of one home, for its owner or for one user of a shared gateway.

    MEMORY.md is shared by all users of a home, USER.md and the conversations are each user's own (article section 9.2).

    Use as a context manager, or call `close()`.
    """

    def __init__(
        self,
        home: Home,
        config: Config,
        database: SQLiteSessionStore,
        ledger: Ledger,
        user_id: str | None,
        *,
        auxiliary_model: ChatModel | None = None,
        context_length: int | None = None,
    ) -> None:
        self._auxiliary_model = auxiliary_model
        self._context_length = context_length
        self.home = home
        self.config = config
        self.user_id = user_id
        self.ledger = ledger
        self.store = open_curated(home, config, user_id, ledger)
        self._database = database

    @classmethod
    def open(
        cls,
        home: Home | Path | str | None = None,
        *,
        user_id: str | None = None,
        auxiliary_model: ChatModel | None = None,
        context_length: int | None = None,
    ) -> "Memory":
        """Open a home, and make it where it does not exist.

        Parameters:
            home: the folder; None for the active profile (`$GIRDLE_HOME`, else `~/.girdlebook`).
            user_id: whose memory, in a gateway that serves many; None for the home's owner.
            auxiliary_model: who summarises and flushes; None for the models that the settings name under `auxiliary`.
            context_length: the window in tokens of the models that answer; None for 128,000.

        Raises:
            ConfigError: a setting in config.yaml, `.env` or the environment is wrong.
            StoreError: the database cannot be opened.
        """
        resolved = home if isinstance(home, Home) else resolve(None) if home is None else Home(Path(home).absolute())
        config = settings.load(resolved).config
        private_folder(resolved.path)
        database = SQLiteSessionStore.open(resolved.state_db)
        if config.sessions.auto_prune and database.read_only is None:
            prune_if_due(
                database,
                retention_days=config.sessions.retention_days,
                min_interval_hours=config.sessions.min_interval_hours,
                vacuum=config.sessions.vacuum_after_prune,
            )
        ledger = Ledger.open(resolved.ledger_db)
        return cls(
            resolved,
            config,
            database,
            ledger,
            user_id,
            auxiliary_model=auxiliary_model,
            context_length=context_length,
        )

    def for_user(self, user_id: str) -> "Memory":
        """The same home as another user sees it; both share their connections, which `close()` of either closes."""
        return Memory(
            self.home,
            self.config,
            self._database,
            self.ledger,
            user_id,
            auxiliary_model=self._auxiliary_model,
            context_length=self._context_length,
        )

    @property
    def sessions(self) -> SessionStore:
        """The stored conversations: the user's own, or all of them for the home's owner."""
        return self._database if self.user_id is None else self.own_sessions

    @property
    def own_sessions(self) -> SessionStore:
        """The conversations that can be gone on with: the user's own; the owner's are those without a user."""
        return self._database.for_user(self.user_id)

    def session(
        self,
        instructions: str = "",
        *,
        source: str = "library",
        title: str | None = None,
        project: Path | None = None,
        tools: Sequence[ToolSpec] = (),
        model: str | None = None,
        main_model: ChatModel | None = None,
        context_length: int | None = None,
        today: datetime.date | None = None,
    ) -> MemorySession:
        """Start a conversation.  The snapshot is taken now and stays for the whole session.

        Parameters:
            instructions: the system prompt's first part, in the caller's words.
            source: where it takes place (`cli`, `library`, …), for lists and searches.
            title: a name for lists.
            project: the folder that it is about, for lists and searches.
            tools: the caller's own tools; their calls wait in `pending_calls`.
            model: the name of the model that will answer, for the records.
            main_model: that model itself, asked for summaries and flushes where no auxiliary one is set.
            context_length: its window in tokens; None for what `open` was told.
            today: the date in the prompt; None for the local date.

        Raises:
            UnreadableFile: MEMORY.md or USER.md cannot be read.
            ValueError: one of `tools` has the name of one of ours.
        """
        session_id = new_session_id()
        memory_tool, toolbox = self._own_tools(session_id, tools)
        specs = (*toolbox.specs, *tools)
        rebuild = partial(self._system_prompt, instructions, toolbox, today)
        system = rebuild()
        store = self.own_sessions
        start = partial(
            store.create_session,
            session_id,
            source=source,
            title=title,
            project=None if project is None else str(project),
            model=model,
            system_prompt=system,
            tool_specs=specs_to_json(specs),
        )
        return MemorySession(
            session_id,
            start=start,
            store=store,
            system=system,
            memory_tool=memory_tool,
            toolbox=toolbox,
            tools=specs,
            making_room=self._room(memory_tool, rebuild, main_model, context_length, Brake()),
            prices=Prices(self.config.prices),
        )

    def resume(
        self,
        name: str,
        instructions: str = "",
        *,
        tools: Sequence[ToolSpec] = (),
        main_model: ChatModel | None = None,
        context_length: int | None = None,
        today: datetime.date | None = None,
    ) -> MemorySession:
        """Go on with an earlier conversation, also one that ended or broke off.

        The prompt and the tools that it began with are used again, so its next request extends its last one byte for
        byte and a vendor's cache may still serve it.  Only where the tools on offer have changed is the prompt built
        anew, with a fresh snapshot.

        Parameters:
            name: its id, the beginning of one, or its title.
            instructions, today: as in `session`; used where the prompt is built anew.
            tools: the caller's own tools.
            main_model, context_length: as in `session`.

        Raises:
            SessionNotFound, AmbiguousSession: the name is nobody's, or that of several.
            UnreadableFile: MEMORY.md or USER.md cannot be read.
            ValueError: one of `tools` has the name of one of ours.
        """
        store = self.own_sessions
        record = store.session(store.tip_of(store.resolve(name).id))
        memory_tool, toolbox = self._own_tools(record.id, tools)
        specs = (*toolbox.specs, *tools)
        rebuild = partial(self._system_prompt, instructions, toolbox, today)
        system, stored_specs = _stored_beginning(store, record.id)
        if system is not None and _same_tools(specs, stored_specs):
            start, specs = partial(store.reopen, record.id), stored_specs
        else:
            system = rebuild()
            start = partial(store.reopen, record.id, system_prompt=system, tool_specs=specs_to_json(specs))
        stored = store.history(record.id)
        seen = {id(one.message): one.id for one in stored}
        messages = mended(one.message for one in stored if not one.archived)
        return MemorySession(
            record.id,
            start=start,
            store=store,
            system=system,
            memory_tool=memory_tool,
            toolbox=toolbox,
            tools=specs,
            making_room=self._room(memory_tool, rebuild, main_model, context_length, _stored_brake(store, record.id)),
            messages=messages,
            numbers=[seen.get(id(message), 0) for message in messages],
            last=max((one.id for one in stored), default=0),
            turns=sum(one.message.role == "user" and not is_summary(one.message) for one in stored),
            usage=record.usage,
            prices=Prices(self.config.prices),
        )

    def _room(
        self,
        memory_tool: MemoryTool | None,
        rebuild: Callable[[], str],
        main_model: ChatModel | None,
        context_length: int | None,
        brake: Brake,
    ) -> MakingRoom:
        """How a session makes room, by the settings."""
        figures, length = self.config.compression, context_length or self._context_length or DEFAULT_CONTEXT_LENGTH
        main = main_model if main_model is not None and is_language_model(main_model) else None
        summariser = self._auxiliary(self.config.auxiliary.compression)
        compressor = ContextCompressor(
            length,
            summariser or main,
            CompressionPolicy(figures.enabled, figures.threshold, figures.target_ratio, figures.protect_first_n),
            fallback=main if summariser else None,
            model_window=window_of(summariser) if summariser else None,
        )
        return MakingRoom(
            compressor,
            rebuild,
            self._flush(memory_tool, main),
            flush_min_turns=self.config.memory.flush_min_turns,
            nudge_interval=self.config.memory.nudge_interval,
            brake=brake,
        )

    def _flush(self, memory_tool: MemoryTool | None, main: ChatModel | None) -> Callable[[Context], Flushed] | None:
        """How a session flushes: with the auxiliary model, else with its own; not at all without either."""
        task = self.config.auxiliary.flush_memories
        auxiliary = self._auxiliary(task)
        if memory_tool is None or (auxiliary is None and main is None):
            return None
        if auxiliary is not None:
            return lambda context: flush_on_auxiliary(auxiliary, context, memory_tool.tool, timeout=task.timeout)
        assert main is not None
        return lambda context: flush_on_main(main, context, memory_tool.tool, timeout=task.timeout)

    def _auxiliary(self, task: AuxiliaryTask) -> ChatModel | None:
        """Who does work beside the conversation; None where nobody was named."""
        if self._auxiliary_model is not None:
            return self._auxiliary_model
        ttl = self.config.prompt_caching.cache_ttl
        return open_model(task.model, cache_ttl=ttl, timeout=task.timeout) if task.model else None

    def _own_tools(self, session_id: str, caller_tools: Sequence[ToolSpec]) -> tuple[MemoryTool | None, Toolbox]:
        memory_tool = MemoryTool(self.store) if self.store.targets else None
        search_tool = SessionSearchTool(self.own_sessions, session_id=session_id)
        toolbox = Toolbox([*([memory_tool.tool] if memory_tool else []), search_tool.tool])
        taken = [spec.name for spec in caller_tools if spec.name in toolbox]
        if taken:
            raise ValueError(f"the tool name {taken[0]!r} is taken by the memory; rename yours")
        return memory_tool, toolbox

    def _system_prompt(self, instructions: str, toolbox: Toolbox, today: datetime.date | None) -> str:
        snapshot = self.store.snapshot()
        text = system_prompt(
            instructions,
            guidance=[spec.name for spec in toolbox.specs],
            memory_blocks=[block for target in self.store.targets if (block := snapshot.render(target))],
            today=today or datetime.date.today(),
        )
        return plain(text)  # what the store cannot hold exactly would be another prompt after a resume

    def close(self) -> None:
        """Close the database and the ledger.  A second call does nothing."""
        self._database.close()
        self.ledger.close()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_curated(home: Home, config: Config, user_id: str | None, ledger: Ledger | None = None) -> MemoryStore:
    """Layer 1 of a home alone, as its settings want it.  Nothing is read or made yet.

    Parameters:
        user_id: whose USER.md; None for the home's owner.
        ledger: where changes are entered; None where nothing will be changed.
    """
    wanted = config.memory
    enabled = {"memory": wanted.memory_enabled, "user": wanted.user_profile_enabled}
    return MemoryStore.open(
        home.memories,
        memory_char_limit=wanted.memory_char_limit,
        user_char_limit=wanted.user_char_limit,
        user_folder=None if user_id is None else home.user_memories(user_id),
        targets=tuple(target for target, on in enabled.items() if on),
        ledger=ledger,
    )


def _stored_beginning(store: SessionStore, session_id: str) -> tuple[str | None, tuple[ToolSpec, ...]]:
    """The system prompt and the tools of a session's requests so far, where they are known."""
    system, specs = store.prompt_of(session_id)
    try:
        return (None, ()) if system is None or specs is None else (system, specs_from_json(specs))
    except ValueError:
        return None, ()


def _same_tools(specs: Sequence[ToolSpec], stored: Sequence[ToolSpec]) -> bool:
    """Whether the same tools take the same arguments; other descriptions are no reason to lose a cached prefix."""

    def offered(some: Sequence[ToolSpec]) -> dict[str, str]:
        return {spec.name: json.dumps(spec.parameters, sort_keys=True) for spec in some}

    return offered(specs) == offered(stored)


def _stored_brake(store: SessionStore, session_id: str) -> Brake:
    """What compression wanted to know the next time."""
    state = store.compression_state(session_id)
    try:
        return Brake.from_dict(json.loads(state)) if state else Brake()
    except (ValueError, TypeError):
        return Brake()
