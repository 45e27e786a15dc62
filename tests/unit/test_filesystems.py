"""Which file system a path lies on."""

from pathlib import Path

import pytest

from girdlebook.filesystems import SHARED, type_of

MOUNTS = """\
overlay / overlay rw 0 0
server:/x /mnt/nfs nfs4 rw 0 0
//server/x /mnt/my\\040disk cifs rw 0 0
tmpfs /mnt/nfs/inner tmpfs rw 0 0
host /mnt/记忆 virtiofs rw 0 0
a /mnt/twice ext4 rw 0 0
b /mnt/twice 9p rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/x", "overlay"),
        ("/mnt/nfs/deep/er", "nfs4"),
        ("/mnt/nfsx", "overlay"),
        ("/mnt/my disk/a", "cifs"),
        ("/mnt/nfs/inner", "tmpfs"),
        ("/mnt/记忆/x", "virtiofs"),
        ("/mnt/twice", "9p"),
    ],
)
def test_the_innermost_mount_counts(tmp_path: Path, path: str, kind: str) -> None:
    (tmp_path / "mounts").write_text(MOUNTS, encoding="utf-8")
    assert type_of(Path(path), tmp_path / "mounts") == kind


def test_where_nothing_is_told_nothing_is_known(tmp_path: Path) -> None:
    assert type_of(tmp_path, tmp_path / "no mounts") is None
    assert type_of(tmp_path) not in SHARED
