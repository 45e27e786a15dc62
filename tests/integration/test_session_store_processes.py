"""Many processes on one database file: opening, appending, being killed."""

import os
import signal
import subprocess
import sys
import time

from girdlebook.messages import Message
from girdlebook.sessions.sqlite import SQLiteSessionStore

OPEN_AND_APPEND = """
import sys
from pathlib import Path
from girdlebook.messages import Message
from girdlebook.sessions.sqlite import SQLiteSessionStore
path, name = Path(sys.argv[1]), sys.argv[2]
with SQLiteSessionStore.open(path) as store:
    store.create_session(name, source="test")
    for number in range(int(sys.argv[3])):
        store.append(name, Message("user", f"消息 {number} of {name}"))
        print(number, flush=True)
"""


def start(path, name, count, **more):
    command = [sys.executable, "-c", OPEN_AND_APPEND, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def finish(processes):
    return [(*process.communicate(timeout=120), process.returncode) for process in processes]


def test_96_processes_open_a_fresh_home_at_once(tmp_path):
    path = tmp_path / "fresh" / "state.db"
    done = finish([start(path, f"s{n}", 1) for n in range(96)])
    assert [err for _, err, code in done if code] == []
    with SQLiteSessionStore.open(path) as store:
        assert len(store.recent(limit=200)) == 96
        assert len(store.search("消息", limit=200)) == 96


def test_L2_27_eight_writers_lose_nothing_and_keep_their_order(tmp_path):
    path = tmp_path / "state.db"
    done = finish([start(path, f"s{n}", 60) for n in range(8)])
    assert [err for _, err, code in done if code] == []
    with SQLiteSessionStore.open(path) as store:
        for n in range(8):
            texts = [stored.message.text for stored in store.messages(f"s{n}")]
            assert texts == [f"消息 {number} of s{n}" for number in range(60)]
            assert store.session(f"s{n}").message_count == 60


def test_a_kill_in_the_middle_loses_no_acknowledged_message(tmp_path):
    path = tmp_path / "state.db"
    for attempt in range(5):
        process = start(path, f"s{attempt}", 200)
        acknowledged = -1
        for line in process.stdout:
            acknowledged = int(line)
            if acknowledged >= 20 * (attempt + 1):
                os.kill(process.pid, signal.SIGKILL)
                break
        rest = process.communicate(timeout=30)[0].split()
        acknowledged = max([acknowledged, *map(int, rest)])
        with SQLiteSessionStore.open(path) as store:
            texts = [stored.message.text for stored in store.messages(f"s{attempt}")]
            assert texts[: acknowledged + 1] == [f"消息 {n} of s{attempt}" for n in range(acknowledged + 1)]
            assert len(texts) <= acknowledged + 2
            assert store.search("消息", session_id=f"s{attempt}", limit=1)


def test_L2_29_a_reader_left_open_does_not_pin_the_log_for_ever(tmp_path):
    path = tmp_path / "state.db"
    with SQLiteSessionStore.open(path) as store, SQLiteSessionStore.open(path) as reader:
        store.create_session("s", source="test")
        for _ in range(100):
            store.append("s", Message("user", "word " * 50))
            reader.search("word", limit=1)
        reader.close()
    log = path.with_name("state.db-wal")
    deadline = time.monotonic() + 5
    while log.exists() and log.stat().st_size and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not log.exists() or log.stat().st_size == 0
