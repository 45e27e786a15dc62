"""`girdle logs`: what the command wrote down while it ran."""

import logging
import time
from collections import deque
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Annotated, TextIO

import typer

from girdlebook.cli.output import notice, out
from girdlebook.files import create_private_file, private_folder
from girdlebook.profiles import Home, resolve

app = typer.Typer(add_completion=False, rich_markup_mode=None)

FILE = "girdle.log"

_BYTES = 1_000_000
_OLD_FILES = 3
_POLL_SECONDS = 0.2


@app.command("logs")
def logs(
    context: typer.Context,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, metavar="N", help="How many of the last.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    path: Annotated[bool, typer.Option("--path", help="Print where the file lies.")] = False,
) -> None:
    """Print the end of the log: sessions, turns, failures.  It holds no text of conversations."""
    file = resolve(context.obj).logs / FILE
    if path:
        out(str(file))
        return
    if not file.exists():
        notice("no log yet; `girdle chat` writes one")
        return
    with file.open(encoding="utf-8", errors="replace") as log:
        for line in deque(log, maxlen=lines):
            out(line, end="")
        if follow:
            for line in _following(log):
                out(line, end="")


def write_log(home: Home) -> None:
    """Let what the library reports go to the home's log, from now to the end of the process."""
    file = private_folder(home.logs) / FILE
    create_private_file(file)
    handler = _PrivateRotatingFile(file, maxBytes=_BYTES, backupCount=_OLD_FILES, encoding="utf-8", errors="replace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)-7s %(name)s: %(message)s"))
    logger = logging.getLogger("girdlebook")
    for former in logger.handlers:
        former.close()
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)


class _PrivateRotatingFile(RotatingFileHandler):
    """New files are made with mode 0600."""

    def _open(self):  # type: ignore[no-untyped-def]  # the type is the base class's own
        create_private_file(Path(self.baseFilename))
        return super()._open()


def _following(log: TextIO) -> Iterator[str]:
    while True:
        line = log.readline()
        if line:
            yield line
        else:
            time.sleep(_POLL_SECONDS)
