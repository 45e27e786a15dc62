"""`girdle restore`: a home from its backup."""

from pathlib import Path
from typing import Annotated

import typer

from girdlebook.backup import restore as restore_home
from girdlebook.cli.output import Json, confirm_deleting, notice, out, out_json
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
    if not yes and home.state_db.exists():
        confirm_deleting(f"Replace what is in {home.path}?", refusal=TransferError)
    with progress("restoring") as advance:
        restored = restore_home(file, home, progress=advance)
    if as_json:
        kept = None if restored.kept is None else str(restored.kept)
        out_json({"home": str(home.path), "files": list(restored.names), "kept": kept})
        return
    out(f"{len(restored.names)} files are back in {home.path}")
    if restored.kept is not None:
        notice(f"what was there before is in {restored.kept}")
