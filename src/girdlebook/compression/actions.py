"""What a tool call did: its main argument, whether it only looked, what it wrote, how it ended (pure)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from girdlebook.messages import Message, ToolCall

_MAIN_ARGUMENTS = (
    *("command", "cmd", "script", "code", "path", "file_path", "filename", "file", "uri", "url"),
    *("query", "pattern", "question", "task", "name", "title", "action"),
)

_READING_TOOL = re.compile(r"(?:^|_)(?:read|view|cat|open|grep|search|fetch|browse|show)(?:_|$)", re.IGNORECASE)
_WRITING_TOOL = re.compile(r"write|edit|patch|create|replace|insert|delete|remove|move|save|append", re.IGNORECASE)

# Shell commands that print a file's text: what they print is source and no news.
_PRINTS_SOURCE = re.compile(
    r"\s*(?:cd \S+\s*(?:&&|;)\s*)?(?:cat(?!\s*<<)|bat|nl|sed -n|head|tail|less|more|e?grep|rg|ag|awk)\b(?!.*>\s*\S+\.)"
)

_FILE = r"(?:~|\.{1,2})?/?[\w.@+-]*[\w@+-](?:/[\w.@+-]+)*"
_HEREDOC = re.compile(
    r"<<-?\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)(?P<rest>[^\n]*)\n.*?(?:^\s*(?P=end)\s*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_REDIRECTED = re.compile(rf"(?:^|[\s\d&;)])>>?\s*['\"]?({_FILE})", re.MULTILINE)
_TEE = re.compile(rf"\btee\s+(?:-a\s+)?['\"]?({_FILE})")
_IN_PLACE = re.compile(r"\b(?:sed|perl)\s+(?:-[a-zA-Z]\S*\s+)*?-\w*i\S*\s+([^\n;&|]*)")
_MOVED = re.compile(r"(?:^|[;&|]\s*)(?:mv|cp|rm|touch|git (?:add|rm|mv|checkout --))\s+([^\n;&|]*)", re.MULTILINE)
_OPENED = re.compile(
    r"\bopen\(\s*(?:(?P<quote>['\"])(?P<name>[^'\"\n]+)(?P=quote)|(?P<variable>\w+))\s*,\s*(?:mode\s*=\s*)?['\"][wax]"
)
_PATH_WRITTEN = re.compile(r"\bPath\(\s*['\"]([^'\"\n]+)['\"]\s*\)\.(?:write_|touch|unlink)")
_LOOKS_LIKE_A_FILE = re.compile(r"(?=.*(?:/|\.[A-Za-z]\w{0,9}$))[\w./@+~-]+")

_EXIT = re.compile(
    r"(?:return ?code|exit(?:ed)?(?: with)?(?: ?_?code| status)?|\"exit_code\"|\"returncode\")\W{0,3}?(-?\d{1,3})\b",
    re.I,
)
_OUTCOME_SCANNED = 400


@dataclass(frozen=True, slots=True)
class Action:
    """A call with its result, where there is one."""

    call: ToolCall
    arguments: Mapping[str, Any] = field(repr=False)
    output: str = field(repr=False)
    is_error: bool = False

    @property
    def main_argument(self) -> str:
        """What the call is about, on one line: a command, a path, a query."""
        values = self.arguments
        for name in _MAIN_ARGUMENTS:
            if isinstance(values.get(name), str) and values[name].strip():
                return " ".join(values[name].split())
        texts = [value for value in values.values() if isinstance(value, str) and value.strip()]
        return " ".join((texts[0] if texts else self.call.arguments).split())

    @property
    def prints_source(self) -> bool:
        """Whether the result is text that stands in a file anyway."""
        command = self.command
        return bool(_PRINTS_SOURCE.match(command)) if command else bool(_READING_TOOL.search(self.call.name))

    @property
    def command(self) -> str:
        """The shell command as it was written; empty where the tool runs none."""
        value = self.arguments.get("command") or self.arguments.get("cmd") or ""
        return value if isinstance(value, str) else " ".join(map(str, value)) if isinstance(value, list) else ""

    @property
    def exit_code(self) -> int | None:
        """The exit code, where the beginning or the end of the result tells it."""
        edges = (
            self.output
            if len(self.output) <= 2 * _OUTCOME_SCANNED
            else (f"{self.output[:_OUTCOME_SCANNED]}\n{self.output[-_OUTCOME_SCANNED:]}")
        )
        found = _EXIT.search(edges)
        return int(found[1]) if found else None

    @property
    def outcome(self) -> str:
        """How it ended, in a few words."""
        code = self.exit_code
        if code is not None:
            return f"exit {code}"
        return "error" if self.is_error else "done"

    def written(self) -> list[str]:
        """Files that the call writes, edits, moves or removes, as far as its arguments tell."""
        if self.command:
            return list(dict.fromkeys(filter(_is_file, _written_by_shell(self.command))))
        if not _WRITING_TOOL.search(self.call.name):
            return []
        paths = [value for name, value in self.arguments.items() if "path" in name or "file" in name]
        return [path for path in paths if isinstance(path, str) and _is_file(path)]


def actions_of(messages: Sequence[Message]) -> Iterator[Action]:
    """The calls of a transcript in order, each with its result."""
    results = {message.tool_call_id: message for message in messages if message.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            result = results.get(call.id)
            yield Action(call, arguments_of(call), result.text if result else "", bool(result and result.is_error))


def arguments_of(call: ToolCall) -> Mapping[str, Any]:
    """The arguments, or nothing where they are no JSON object."""
    try:
        value = json.loads(call.arguments or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _written_by_shell(command: str) -> Iterator[str]:
    shell = _HEREDOC.sub(r"\g<rest>", command) if "<<" in command else command
    # A quoted text with blanks is a script or a message, and a > in it redirects nothing.
    bare = _QUOTED.sub(lambda match: "''" if re.search(r"\s", match[0]) else match[0], shell)
    yield from _REDIRECTED.findall(bare)
    yield from _TEE.findall(bare)
    for pattern in (_IN_PLACE, _MOVED):
        for rest in pattern.findall(_QUOTED.sub("''", shell)):
            yield from (word for word in rest.split() if not word.startswith(("-", "'")))
    for match in _OPENED.finditer(command):
        yield match["name"] or _assigned(command, match["variable"])
    yield from _PATH_WRITTEN.findall(command)


def _assigned(script: str, variable: str) -> str:
    found = re.search(rf"\b{variable}\s*=\s*['\"]([^'\"\n]+)['\"]", script)
    return found[1] if found else ""


def _is_file(path: str) -> bool:
    return not path.startswith("/dev/") and bool(_LOOKS_LIKE_A_FILE.fullmatch(path))
