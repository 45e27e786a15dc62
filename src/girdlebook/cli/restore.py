"""`girdle restore`: a home from its backup."""

from pathlib import Path
from typing import Annotated

import typer

from girdlebook.backup import left_out_of
from girdlebook.backup import restore as restore_home
from girdlebook.cli.output import Json, confirm, notice, out, out_json
from girdlebook.cli.progress import progress
from girdlebook.errors import TransferError
from girdlebook.profiles import resolve

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("restore")
def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `girdle backup` wrote.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Put a home back as it was.  The file is verified first; what is there now is kept beside it."""
    home = resolve(context.obj)
    missing = left_out_of(file)
    if missing:
        raise TransferError(
            f"{file} was made without {', '.join(missing)}, so it is no whole home; "
            f"make a profile of it: girdle profile import {file} NAME"
        )
    if not yes and home.state_db.exists():
        confirm(f"Replace what is in {home.path}?", refusal=TransferError("replacing wants to be confirmed; add --yes"))
    with progress("restoring") as advance:
        restored = restore_home(file, home, progress=advance)
    if as_json:
        kept = None if restored.kept is None else str(restored.kept)
        out_json({"home": str(home.path), "files": list(restored.names), "kept": kept})
        return
    out(f"{len(restored.names)} files are back in {home.path}")
    if restored.kept is not None:
        notice(f"what was there before, conversations too, is in {restored.kept}; delete it when you need it no more")
