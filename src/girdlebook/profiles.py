"""Where everything lies: home folders and the profiles that tell several of them apart.

All state hangs off one folder, so profiles are apart by path alone.  Nothing here is created by asking.

    root/                    $GIRDLE_HOME, else ~/.girdlebook; at the same time the profile `default`
    ├── active_profile       the profile that `girdle profile use` chose
    ├── projects.json        which repositories have a profile of their own
    ├── config.yaml .env state.db ledger.db memories/ plugins/ logs/
    └── profiles/NAME/       the same layout again
"""

import difflib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from girdlebook.errors import ProfileError, ScopeError
from girdlebook.files import lock, private_folder, write_atomically
from girdlebook.repository import project_of

DEFAULT = "default"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_GRAMMAR = "lower-case letters, digits, - and _, at most 64, the first a letter or a digit"
# Names that Windows keeps for devices, in every folder.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10))}
_USER_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Home:
    """One profile's folder and the places in it.  `path` is absolute; nothing need exist."""

    path: Path

    @property
    def memories(self) -> Path:
        """MEMORY.md and the owner's USER.md."""
        return self.path / "memories"

    @property
    def state_db(self) -> Path:
        """The conversations."""
        return self.path / "state.db"

    @property
    def ledger_db(self) -> Path:
        """What was done to the memory files."""
        return self.path / "ledger.db"

    @property
    def config_file(self) -> Path:
        """The settings."""
        return self.path / "config.yaml"

    @property
    def env_file(self) -> Path:
        """Secrets, mode 0600."""
        return self.path / ".env"

    @property
    def plugins(self) -> Path:
        """Providers that the person dropped in."""
        return self.path / "plugins"

    @property
    def logs(self) -> Path:
        """Log files."""
        return self.path / "logs"

    def user_memories(self, user_id: str) -> Path:
        """The folder of a gateway user's own USER.md; the id's hash, so that no id can name another place.

        Raises:
            ScopeError: the id is blank, so it could be anybody's.
        """
        if not user_id.strip():
            raise ScopeError("the user id is blank; give each user an id of their own")
        digest = hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()
        return self.memories / "users" / digest[:_USER_DIGITS]


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile that exists, as lists show it; `active` is the sticky choice."""

    name: str
    home: Home
    active: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """The profile that is worked in, and why this one."""

    name: str
    home: Home
    why: str


def root() -> Path:
    """The folder that holds everything: `$GIRDLE_HOME`, else `~/.girdlebook`; absolute (report L1-36).

    Raises:
        ProfileError: neither is known.
    """
    chosen = os.environ.get("GIRDLE_HOME")
    try:
        return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".girdlebook"
    except RuntimeError as error:
        raise ProfileError(f"no home folder is known ({error}); set GIRDLE_HOME to a folder") from error


def choose(profile: str | None) -> Choice:
    """The profile to work in: the named one, else `$GIRDLE_PROFILE`, else the one that the repository around the
    working folder is bound to, else the sticky one, else the home itself.

    Raises:
        ProfileError: the name is no profile's name, or there is no such profile.
    """
    name, why = _chosen(profile)
    home = home_of(name)
    if name != DEFAULT and not home.path.is_dir():
        raise ProfileError(f"there is no profile {name!r}{_meant(name)}; make it with: girdle profile create {name}")
    return Choice(name, home, why)


def resolve(profile: str | None) -> Home:
    """The home to work in; see `choose`.

    Raises:
        ProfileError: the name is no profile's name, or there is no such profile.
    """
    return choose(profile).home


def _chosen(profile: str | None) -> tuple[str, str]:
    if profile:
        return profile, "named with -p"
    if from_environment := os.environ.get("GIRDLE_PROFILE"):
        return from_environment, "named by GIRDLE_PROFILE"
    known = bindings()
    if known:
        project = str(project_of(Path.cwd()))
        if project in known:
            return known[project], f"bound to {project}"
    sticky = active_name()
    return sticky, "no other was chosen" if sticky == DEFAULT else "chosen with: girdle profile use"


def home_of(name: str) -> Home:
    """Where a profile of this name lies or would lie.

    Raises:
        ProfileError: it is no profile's name.
    """
    _check(name)
    return Home(root() if name == DEFAULT else _folder() / name)


def active_name() -> str:
    """The sticky profile's name; `default` where none was chosen.

    Raises:
        ProfileError: the file holds something else.
    """
    try:
        name = _active_file().read_text(encoding="utf-8", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return DEFAULT
    if not _NAME.fullmatch(name):
        raise ProfileError(f"{_active_file()} holds no profile's name; choose one with: girdle profile use NAME")
    return name


def profiles() -> list[Profile]:
    """All profiles, `default` first, the others by name."""
    try:
        names = sorted(
            folder.name for folder in _folder().iterdir() if folder.is_dir() and _NAME.fullmatch(folder.name)
        )
    except (FileNotFoundError, NotADirectoryError):
        names = []
    active = active_name()
    return [Profile(name, home_of(name), name == active) for name in [DEFAULT, *names] if name not in _DEVICES]


def create(name: str) -> Home:
    """Make a profile.

    Raises:
        ProfileError: it is no profile's name, or taken.
        OSError: the folder cannot be made.
    """
    home = home_of(name)
    if name == DEFAULT or os.path.lexists(home.path):
        raise ProfileError(f"the profile {name!r} exists already; use it with: girdle profile use {name}")
    private_folder(home.path)
    return home


def use(name: str) -> Home:
    """Make a profile the sticky one.

    Raises:
        ProfileError: there is none of this name.
        OSError: the choice cannot be written.
    """
    home = resolve(name)
    private_folder(root())
    write_atomically(_active_file(), f"{name}\n".encode())
    return home


def bind(name: str, project: Path) -> Home:
    """Work in a profile wherever the working folder is in this project.

    Raises:
        ProfileError: there is no such profile, or the list of bindings is broken.
        OSError: the choice cannot be written.
    """
    home = resolve(name)
    _change_bindings(lambda known: known | {str(project): name})
    return home


def unbind(project: Path) -> bool:
    """Let a project have no profile of its own any more; gives whether it had one.

    Raises:
        ProfileError: the list of bindings is broken.
        OSError: it cannot be written.
    """
    if str(project) not in bindings():
        return False
    _change_bindings(lambda known: {place: name for place, name in known.items() if place != str(project)})
    return True


def bindings() -> dict[str, str]:
    """The profiles' names by the roots of the projects that are bound to them.

    Raises:
        ProfileError: the list is broken.
    """
    try:
        known = json.loads(_projects_file().read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except ValueError:
        known = None
    if not isinstance(known, dict) or not all(isinstance(name, str) for name in known.values()):
        raise ProfileError(f"{_projects_file()} holds no list of projects; correct or remove it")
    return known


def delete(name: str) -> None:
    """Delete a profile with all its memory.  A symbolic link is removed, never what it leads to.

    Raises:
        ProfileError: there is none of this name, or it is the default or the sticky one.
        OSError: something could not be removed; the rest is gone.
    """
    home = home_of(name)
    if name == DEFAULT:
        raise ProfileError(f"the profile {DEFAULT!r} is the home itself and stays; delete {home.path} by hand")
    if not os.path.lexists(home.path):
        raise ProfileError(f"there is no profile {name!r}{_meant(name)}; list them with: girdle profile list")
    if name == active_name():
        raise ProfileError(f"the profile {name!r} is in use; choose another first: girdle profile use {DEFAULT}")
    if name in bindings().values():
        _change_bindings(lambda known: {place: bound for place, bound in known.items() if bound != name})
    if home.path.is_symlink():
        home.path.unlink()
    else:
        shutil.rmtree(home.path)


def _folder() -> Path:
    return root() / "profiles"


def _active_file() -> Path:
    return root() / "active_profile"


def _projects_file() -> Path:
    return root() / "projects.json"


def _change_bindings(change: Callable[[dict[str, str]], dict[str, str]]) -> None:
    private_folder(root())
    with lock(_projects_file()):
        text = json.dumps(change(bindings()), indent=2, sort_keys=True)
        write_atomically(_projects_file(), f"{text}\n".encode())


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ProfileError(f"{name!r} is no profile's name: {_GRAMMAR}")
    if name in _DEVICES:
        raise ProfileError(f"the name {name!r} is reserved by Windows; choose another")


def _meant(name: str) -> str:
    near = difflib.get_close_matches(name, [profile.name for profile in profiles()], n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
