"""The public names, for type checkers; `__init__.py` loads each on its first use."""

from girdlebook._version import __version__ as __version__
from girdlebook.agent import Agent as Agent
from girdlebook.agent import TurnResult as TurnResult
from girdlebook.config import Config as Config
from girdlebook.context import Context as Context
from girdlebook.curated.snapshot import MemorySnapshot as MemorySnapshot
from girdlebook.curated.store import MemoryStore as MemoryStore
from girdlebook.errors import AmbiguousMatch as AmbiguousMatch
from girdlebook.errors import ConfigError as ConfigError
from girdlebook.errors import GirdleError as GirdleError
from girdlebook.errors import InvalidEntry as InvalidEntry
from girdlebook.errors import LockTimeout as LockTimeout
from girdlebook.errors import MemoryFileError as MemoryFileError
from girdlebook.errors import MissingExtra as MissingExtra
from girdlebook.errors import ModelError as ModelError
from girdlebook.errors import NoMatch as NoMatch
from girdlebook.errors import OverLimit as OverLimit
from girdlebook.errors import ProfileError as ProfileError
from girdlebook.errors import ScopeError as ScopeError
from girdlebook.errors import SessionNotFound as SessionNotFound
from girdlebook.errors import StoreBusy as StoreBusy
from girdlebook.errors import StoreCorrupt as StoreCorrupt
from girdlebook.errors import StoreError as StoreError
from girdlebook.errors import StoreForked as StoreForked
from girdlebook.errors import StoreFull as StoreFull
from girdlebook.errors import TargetDisabled as TargetDisabled
from girdlebook.errors import ThreatFound as ThreatFound
from girdlebook.errors import ToolError as ToolError
from girdlebook.errors import TurnError as TurnError
from girdlebook.errors import UnreadableFile as UnreadableFile
from girdlebook.memory import Memory as Memory
from girdlebook.messages import Message as Message
from girdlebook.messages import Reply as Reply
from girdlebook.messages import ToolCall as ToolCall
from girdlebook.messages import ToolResult as ToolResult
from girdlebook.messages import Usage as Usage
from girdlebook.session import MemorySession as MemorySession
from girdlebook.sessions.store import SearchHit as SearchHit
from girdlebook.sessions.store import SessionRecord as SessionRecord
from girdlebook.sessions.store import SessionStore as SessionStore
from girdlebook.tools import Tool as Tool
from girdlebook.tools import Toolbox as Toolbox
from girdlebook.tools import ToolSpec as ToolSpec

__all__: list[str]
