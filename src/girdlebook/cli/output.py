"""How commands speak: text or JSON on stdout, notices and one-line errors on stderr.

Exit codes: 0 done (also where nothing was found), 1 refused or failed, 2 wrong usage, 130 and 143 interrupted by Ctrl-C
and SIGTERM.  With `--json` stdout holds one JSON document and nothing else, errors included:
`{"error": "…", "kind": "NoMatch", …}`.
"""

import io
import json
import os
import sys
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from girdlebook.errors import GirdleError

COLUMNS = 80
"""Width that listings keep to."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
User = Annotated[
    str | None, typer.Option("--user", metavar="ID", help="Act for this user of a shared gateway, not for the owner.")
]

# A terminal obeys control characters, and texts come from models and strangers.
_CONTROLS = {
    code: "\N{REPLACEMENT CHARACTER}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}
_CONTROLS[ord("\r")] = ""


def prepare_streams() -> None:
    """Let no character that a stream cannot carry end the command (report CLI-05)."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def out(text: str = "", *, end: str = "\n") -> None:
    """Print text on stdout."""
    print(visible(text), end=end, flush=True)


def notice(text: str) -> None:
    """Print what is not the answer itself on stderr."""
    print(visible(text), file=sys.stderr, flush=True)


def out_json(value: object) -> None:
    """Print a JSON document on stdout, in escapes where the stream cannot carry every character."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "").startswith("utf")
    text = json.dumps(value, ensure_ascii=not is_unicode, indent=2)
    # A lone surrogate has no UTF-8 form, and is kept by an escape.
    print(text.encode("utf-8", "backslashreplace").decode(), flush=True)


def report(message: str, *, kind: str, details: Mapping[str, Any], as_json: bool) -> None:
    """Report an error: one line on stderr, or a JSON document on stdout."""
    line = " ".join(message.split())
    if as_json:
        out_json({"error": line, "kind": kind, **details})
    else:
        notice(f"girdle: {line}")


def confirm_deleting(question: str, *, refusal: type[GirdleError]) -> None:
    """Ask at the terminal before something is deleted; see `confirm`.

    Parameters:
        refusal: the error raised where nobody can be asked.
    """
    confirm(question, refusal=refusal("deleting wants to be confirmed; add --yes"))


def confirm(question: str, *, refusal: GirdleError) -> None:
    """Ask at the terminal.

    Parameters:
        refusal: raised where nobody can be asked.

    Raises:
        typer.Abort: the answer is no.
    """
    if not sys.stdin.isatty():
        raise refusal
    typer.confirm(question, abort=True, err=True)


def drop_unwritten_output() -> None:
    """Forget what stdout could not take, so that the interpreter's last flush does not complain."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def visible(text: str) -> str:
    """The text without control characters other than line ends and tabs, and without lone surrogates."""
    return text.encode("utf-8", "replace").decode().translate(_CONTROLS)


def clip(text: str, columns: int) -> str:
    """One line of at most that many terminal columns; Chinese characters and emoji take two."""
    line = " ".join(text.split())
    if width(line) <= columns:
        return line
    kept, taken = "", 1
    for char in line:
        taken += width(char)
        if taken > columns:
            break
        kept += char
    return kept.rstrip() + "…"


def width(text: str) -> int:
    """Terminal columns that the text takes."""
    return sum(_columns(char) for char in text)


def size(count: int) -> str:
    """Bytes, for people."""
    if count < 1000:
        return f"{count} B"
    power = 2 if count >= 1000**2 else 1
    power = 3 if count >= 1000**3 else power
    return f"{count / 1000**power:.1f} {'kMG'[power - 1]}B"


def from_argument(text: str) -> str:
    """A command line argument as text: bytes that are no UTF-8 become replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
