"""`girdle profile`: several memories beside one another."""

from typing import Annotated

import typer

from girdlebook import profiles
from girdlebook.cli.output import Json, confirm_deleting, out, out_json
from girdlebook.errors import ProfileError

app = typer.Typer(name="profile", help="Keep several memories apart.", add_completion=False, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="The profile's name.")]


@app.command("list")
def list_profiles(as_json: Json = False) -> None:
    """List the profiles; * marks the one that `use` chose."""
    found = profiles.profiles()
    if as_json:
        rows = [{"name": one.name, "path": str(one.home.path), "active": one.active} for one in found]
        out_json({"profiles": rows})
        return
    for one in found:
        out(f"{'*' if one.active else ' '} {one.name}  {one.home.path}")


@app.command("create")
def create(name: Name, as_json: Json = False) -> None:
    """Make an empty profile."""
    home = profiles.create(name)
    if as_json:
        out_json({"name": name, "path": str(home.path)})
    else:
        out(f"made {name} in {home.path}; choose it with: girdle profile use {name}")


@app.command("use")
def use(name: Name, as_json: Json = False) -> None:
    """Work in this profile from now on; `default` is the home itself."""
    home = profiles.use(name)
    if as_json:
        out_json({"name": name, "path": str(home.path)})
    else:
        out(f"in use: {name} in {home.path}")


@app.command("delete")
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a profile with everything that it remembers."""
    home = profiles.home_of(name)
    if not yes and home.path.exists():
        confirm_deleting(f"Delete {name} and all its memory in {home.path}?", refusal=ProfileError)
    profiles.delete(name)
    if as_json:
        out_json({"name": name, "deleted": True})
    else:
        out(f"deleted {name}")
