"""CLI-07: a backup while another process writes, restored and whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

WRITER = """
import sys
from girdlebook import Message
from girdlebook.sessions.sqlite import SQLiteSessionStore
with SQLiteSessionStore.open(sys.argv[1]) as store:
    store.create_session("s", source="cli")
    for number in range(100_000):
        store.append("s", Message("user", f"消息 number {number}"))
        print(number, flush=True)
"""


def test_CLI_07_a_backup_during_heavy_writes_is_consistent_and_restores(girdle, home: Path, tmp_path: Path) -> None:
    assert girdle("memory", "add", "memory", "服务器在厦门").returncode == 0
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(home / "state.db")], stdout=subprocess.PIPE, env=os.environ)
        for _ in range(2)
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            for _ in range(20):
                writer.stdout.readline()
        backups = [tmp_path / f"b{n}.zip" for n in range(2)]
        for file in backups:
            assert girdle("backup", str(file)).returncode == 0
        assert all(writer.poll() is None for writer in writers)
        refused = girdle("restore", str(backups[0]), "--yes")
        assert refused.returncode == 1
        assert "another process" in refused.stderr
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    counts = []
    for file in backups:
        assert girdle("restore", str(file), "--yes").returncode == 0
        report = json.loads(girdle("doctor", "--json").stdout)
        assert report["healthy"], report
        shown = json.loads(girdle("sessions", "show", "s", "--json").stdout)["messages"]
        counts.append(len(shown))
        assert len(shown) == len({one["id"] for one in shown})
        assert girdle("search", "消息", "--json").returncode == 0
    assert 40 <= counts[0] <= counts[1]
