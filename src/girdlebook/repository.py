"""Which folder a piece of work belongs to: the root of the repository, one for all its worktrees."""

from pathlib import Path


def project_of(folder: Path) -> Path:
    """The root of the repository that a folder is in, else the folder itself; absolute.

    A linked worktree belongs to the repository that it was made from (report L1-36).  Nothing is run: the files that
    git keeps are read.
    """
    start = folder.absolute()
    for place in (start, *start.parents):
        marker = place / ".git"
        if marker.is_dir():
            return place
        if marker.is_file():
            return _main_root(marker) or place
    return start


def _main_root(marker: Path) -> Path | None:
    """The repository behind a `.git` file; None where it is a submodule or cannot be read."""
    try:
        line = marker.read_text(encoding="utf-8", errors="replace").strip()
        git_folder = (marker.parent / line.removeprefix("gitdir:").strip()).resolve()
        common = (git_folder / (git_folder / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, ValueError):
        return None
    return common.parent if common.name == ".git" else common
