"""Tools: what a model may call, and the one place where errors become tool answers."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from girdlebook.errors import GirdleError
from girdlebook.messages import ToolCall, ToolResult

Trust = Literal["local", "untrusted"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool.

    `parameters` is a JSON schema of type object.  `trust` is `untrusted` where results hold text written by
    strangers (web pages, mail): what is remembered after reading it counts as derived from it.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    trust: Trust = "local"


def specs_to_json(specs: Iterable[ToolSpec]) -> str:
    """The tools on offer as text, so that a session that goes on later can offer the very same."""
    return json.dumps([asdict(spec) for spec in specs])


def specs_from_json(text: str) -> tuple[ToolSpec, ...]:
    """The tools that `specs_to_json` wrote.

    Raises:
        ValueError: the text is something else.
    """
    try:
        return tuple(ToolSpec(**spec) for spec in json.loads(text))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"no list of tools: {text[:80]!r}") from error


Handler = Callable[[dict[str, Any]], object]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and the function that runs it: parsed arguments in, text or JSON-like data out."""

    spec: ToolSpec
    handler: Handler


class Toolbox:
    """Tools by name, in a fixed order.

    `run` never raises an ordinary error: whatever a handler raises becomes the call's result, so that the transcript
    stays valid.  It is one of the four places with a broad `except`, since handlers are the user's own functions.

    Raises:
        ValueError: two tools have the same name.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.spec.name in self._tools:
                raise ValueError(f"two tools are called {tool.spec.name!r}; rename one of them")
            self._tools[tool.spec.name] = tool

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told, in the order given."""
        return tuple(tool.spec for tool in self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def run(self, call: ToolCall) -> ToolResult:
        """Run one call and give its result, an error's text included."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return _refusal(call, {"success": False, "error": f"no tool {call.name!r}; there are: {known}"})
        try:
            return ToolResult(call.id, as_text(tool.handler(call.parsed())))
        except GirdleError as error:
            return _refusal(call, error.answer())
        except Exception as error:  # noqa: BLE001 - the user's functions may raise anything
            return _refusal(call, {"success": False, "error": f"{type(error).__name__}: {error}"})


def as_text(value: object) -> str:
    """What a handler gave as the text that the model reads: strings as they are, data as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _refusal(call: ToolCall, answer: Mapping[str, Any]) -> ToolResult:
    return ToolResult(call.id, as_text(answer), is_error=True)
