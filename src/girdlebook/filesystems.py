"""Which kind of file system a path lies on, as far as the system tells."""

import re
from pathlib import Path

SHARED = frozenset(
    (
        "nfs",
        "nfs4",
        "cifs",
        "smb2",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "vboxsf",
        "fuse.sshfs",
        "fuse.rclone",
        "afs",
        "ceph",
        "glusterfs",
        "fuse.glusterfs",
        "lustre",
        "prl_fs",
        "vmhgfs",
        "fuse.vmhgfs-fuse",
        "drvfs",
    )
)
"""Those that machines share, where SQLite's write-ahead log corrupts files (report L2-35)."""

# Blanks in mount points are written as \040.
_ESCAPE = re.compile(r"\\([0-7]{3})")

_MOUNTS = Path("/proc/self/mounts")


def type_of(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The type of the file system that holds a path, such as `ext4`; None where it cannot be known.

    Parameters:
        mounts: the list of mounts, in the form of `/proc/self/mounts`.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    place = path.resolve()
    found: tuple[int, str] | None = None
    for line in lines:
        _, mount_point, kind, *_ = [*line.split(" "), "", "", ""]
        folder = Path(_ESCAPE.sub(lambda match: chr(int(match[1], 8)), mount_point))
        # A later mount covers an earlier one at the same place.
        if (place == folder or folder in place.parents) and (found is None or len(folder.parts) >= found[0]):
            found = len(folder.parts), kind
    return None if found is None else found[1]
