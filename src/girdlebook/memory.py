"""The composition root: puts the layers of one home together, and alone reads its settings."""

import datetime
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

from girdlebook.config import Config
from girdlebook.curated.store import MemoryStore
from girdlebook.curated.tool import MemoryTool
from girdlebook.files import private_folder
from girdlebook.profiles import Home, resolve
from girdlebook.prompts.assemble import system_prompt
from girdlebook.session import MemorySession
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.store import SessionStore, new_session_id
from girdlebook.sessions.tool import SessionSearchTool
from girdlebook.tools import Toolbox, ToolSpec


class Memory:
    """All memory of one home, for its owner or for one user of a shared gateway.

    MEMORY.md is shared by all users of a home, USER.md and the conversations are each user's own (article section 9.2).

    Use as a context manager, or call `close()`.
    """

    def __init__(self, home: Home, config: Config, database: SQLiteSessionStore, user_id: str | None) -> None:
        self.home = home
        self.config = config
        self.user_id = user_id
        self.store = open_curated(home, config, user_id)
        self._database = database

    @classmethod
    def open(cls, home: Home | Path | str | None = None, *, user_id: str | None = None) -> "Memory":
        """Open a home, and make it where it does not exist.

        Parameters:
            home: the folder; None for the active profile (`$GIRDLE_HOME`, else `~/.girdlebook`).
            user_id: whose memory, in a gateway that serves many; None for the home's owner.

        Raises:
            ConfigError: config.yaml is wrong.
            StoreError: the database cannot be opened.
        """
        resolved = home if isinstance(home, Home) else resolve(None) if home is None else Home(Path(home).absolute())
        config = Config.load(resolved.config_file)
        private_folder(resolved.path)
        return cls(resolved, config, SQLiteSessionStore.open(resolved.state_db), user_id)

    def for_user(self, user_id: str) -> "Memory":
        """The same home as another user sees it; both share one connection, which `close()` of either closes."""
        return Memory(self.home, self.config, self._database, user_id)

    @property
    def sessions(self) -> SessionStore:
        """The stored conversations: the user's own, or all of them for the home's owner."""
        return self._database if self.user_id is None else self._database.for_user(self.user_id)

    def session(
        self,
        instructions: str = "",
        *,
        source: str = "library",
        title: str | None = None,
        tools: Sequence[ToolSpec] = (),
        model: str | None = None,
        today: datetime.date | None = None,
    ) -> MemorySession:
        """Start a conversation.  The snapshot is taken now and stays for the whole session.

        Parameters:
            instructions: the system prompt's first part, in the caller's words.
            source: where it takes place (`cli`, `library`, …), for lists and searches.
            title: a name for lists.
            tools: the caller's own tools; their calls wait in `pending_calls`.
            model: the name of the model that will answer, for the records.
            today: the date in the prompt; None for the local date.

        Raises:
            UnreadableFile: MEMORY.md or USER.md cannot be read.
            ValueError: one of `tools` has the name of one of ours.
        """
        own = self._database.for_user(self.user_id)
        session_id = new_session_id()
        memory_tool = MemoryTool(self.store) if self.store.targets else None
        search_tool = SessionSearchTool(own, session_id=session_id)
        ours = [*([memory_tool.tool] if memory_tool else []), search_tool.tool]
        snapshot = self.store.snapshot()
        system = system_prompt(
            instructions,
            guidance=[tool.spec.name for tool in ours],
            memory_blocks=[block for target in self.store.targets if (block := snapshot.render(target))],
            today=today or datetime.date.today(),
        )
        return MemorySession(
            session_id,
            start=partial(
                own.create_session, session_id, source=source, title=title, model=model, system_prompt=system
            ),
            store=own,
            system=system,
            memory_tool=memory_tool,
            toolbox=Toolbox(ours),
            caller_tools=tools,
        )

    def close(self) -> None:
        """Close the database.  A second call does nothing."""
        self._database.close()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_curated(home: Home, config: Config, user_id: str | None) -> MemoryStore:
    """Layer 1 of a home alone, as its settings want it.  Nothing is read or made yet.

    Parameters:
        user_id: whose USER.md; None for the home's owner.
    """
    settings = config.memory
    enabled = {"memory": settings.memory_enabled, "user": settings.user_profile_enabled}
    return MemoryStore.open(
        home.memories,
        memory_char_limit=settings.memory_char_limit,
        user_char_limit=settings.user_char_limit,
        user_folder=None if user_id is None else home.user_memories(user_id),
        targets=tuple(target for target, on in enabled.items() if on),
    )
