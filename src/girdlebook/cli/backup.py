"""`girdle backup`: the whole home as one file."""

from pathlib import Path
from typing import Annotated

import typer

from girdlebook.backup import back_up
from girdlebook.cli.output import Json, notice, out, out_json
from girdlebook.cli.progress import progress
from girdlebook.profiles import profiles, resolve

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("backup")
def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A zip that does not exist yet.")],
    as_json: Json = False,
) -> None:
    """Copy settings, secrets, memory and conversations into one file; others may be at work meanwhile."""
    home = resolve(context.obj)
    with progress("backing up") as advance:
        names = back_up(home, file, progress=advance)
    others = [one.name for one in profiles() if one.home != home]
    if others:
        notice(f"other profiles have backups of their own (girdle -p NAME backup FILE): {', '.join(others)}")
    if as_json:
        out_json({"file": str(file), "size": file.stat().st_size, "files": names})
    else:
        out(f"{len(names)} files are in {file}; it holds your secrets, keep it private")
