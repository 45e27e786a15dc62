"""`girdle profile`: several memories beside one another."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from girdlebook import profiles
from girdlebook.backup import back_up, copy, restore
from girdlebook.cli.output import Json, confirm_deleting, out, out_json
from girdlebook.errors import ProfileError
from girdlebook.profiles import Home
from girdlebook.repository import project_of

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
def create(
    name: Name,
    clone: Annotated[
        str | None,
        typer.Option("--clone", metavar="PROFILE", help="Begin with its settings, secrets and memory."),
    ] = None,
    clone_all: Annotated[
        str | None, typer.Option("--clone-all", metavar="PROFILE", help="The same, and its conversations.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a profile, empty or as a copy of another."""
    if clone is not None and clone_all is not None:
        raise typer.BadParameter("it is more than --clone; give one of the two", param_hint="--clone-all")
    origin = profiles.resolve(clone or clone_all) if clone or clone_all else None
    home = profiles.create(name)
    if origin is not None:
        with _gone_if_it_fails(home):
            copy(origin, home, left_out=("state.db",) if clone else ())
    if as_json:
        out_json({"name": name, "path": str(home.path)})
    else:
        out(f"made {name} in {home.path}; choose it with: girdle profile use {name}")


@app.command("use")
def use(
    name: Name,
    here: Annotated[
        bool, typer.Option("--here", help="Only in this repository, worktrees included; elsewhere nothing changes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Work in this profile from now on; `default` is the home itself."""
    project = project_of(Path.cwd()) if here else None
    home = profiles.use(name) if project is None else profiles.bind(name, project)
    if as_json:
        out_json({"name": name, "path": str(home.path), "project": None if project is None else str(project)})
    else:
        out(f"in use{f' in {project}' if project else ''}: {name} in {home.path}")


@app.command("unbind")
def unbind(as_json: Json = False) -> None:
    """Let this repository have no profile of its own any more."""
    project = project_of(Path.cwd())
    was_bound = profiles.unbind(project)
    if as_json:
        out_json({"project": str(project), "was_bound": was_bound})
    else:
        out(f"{project} has no profile of its own{' any more' if was_bound else ''}")


@app.command("export")
def export(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A zip that does not exist yet.")],
    with_secrets: Annotated[bool, typer.Option("--with-secrets", help="Take `.env` along.")] = False,
    as_json: Json = False,
) -> None:
    """Write a profile into one file, without its secrets."""
    names = back_up(profiles.resolve(name), file, left_out=() if with_secrets else (".env",))
    if as_json:
        out_json({"name": name, "file": str(file), "files": names})
    else:
        out(f"{len(names)} files are in {file}")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="From `girdle profile export` or `girdle backup`.")],
    name: Name,
    as_json: Json = False,
) -> None:
    """Make a profile from a file."""
    home = profiles.create(name)
    with _gone_if_it_fails(home):
        restored = restore(file, home)
    if as_json:
        out_json({"name": name, "path": str(home.path), "files": list(restored.names)})
    else:
        out(f"made {name} in {home.path} from {len(restored.names)} files")


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


@contextmanager
def _gone_if_it_fails(home: Home) -> Iterator[None]:
    """Leave no half-made profile behind."""
    with ExitStack() as failed:
        failed.callback(shutil.rmtree, home.path, ignore_errors=True)
        yield
        failed.pop_all()
