"""Bounded, curated, cache-friendly memory for AI agents.

Importing this package runs nothing: each public name is loaded on its first use.
"""

from importlib import import_module

from girdlebook._version import __version__

_HOMES = {
    "Agent": "agent",
    "TurnResult": "agent",
    "AsyncMemory": "aio",
    "AsyncMemorySession": "aio",
    "Memory": "memory",
    "MemorySession": "session",
    "MemoryStore": "curated.store",
    "MemorySnapshot": "curated.snapshot",
    "SessionStore": "sessions.store",
    "SessionRecord": "sessions.store",
    "SearchHit": "sessions.store",
    "CompressionPolicy": "compression.policy",
    "CompressionResult": "compression.compressor",
    "ContextCompressor": "compression.compressor",
    "Context": "context",
    "Message": "messages",
    "Reply": "messages",
    "ToolCall": "messages",
    "ToolResult": "messages",
    "Usage": "messages",
    "Tool": "tools",
    "ToolSpec": "tools",
    "Toolbox": "tools",
    "Config": "config",
    "GirdleError": "errors",
    "ConfigError": "errors",
    "ProfileError": "errors",
    "MissingExtra": "errors",
    "MemoryFileError": "errors",
    "InvalidEntry": "errors",
    "ThreatFound": "errors",
    "OverLimit": "errors",
    "NoMatch": "errors",
    "AmbiguousMatch": "errors",
    "TargetDisabled": "errors",
    "UnreadableFile": "errors",
    "LedgerError": "errors",
    "LockTimeout": "errors",
    "StoreError": "errors",
    "StoreBusy": "errors",
    "StoreFull": "errors",
    "StoreCorrupt": "errors",
    "StoreForked": "errors",
    "SessionNotFound": "errors",
    "AmbiguousSession": "errors",
    "SessionMoved": "errors",
    "TitleError": "errors",
    "TransferError": "errors",
    "ScopeError": "errors",
    "TurnError": "errors",
    "ToolError": "errors",
    "ModelError": "errors",
    "InvalidRequest": "errors",
    "ModelUnavailable": "errors",
    "ModelTimeout": "errors",
    "ContextOverflow": "errors",
    "ContextTooLarge": "errors",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'girdlebook' has no attribute {name!r}")
    value = getattr(import_module(f"girdlebook.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
