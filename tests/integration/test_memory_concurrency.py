"""Layer 1 under many writers and under kill -9: real processes, real threads, real files."""

import signal
import subprocess
import sys
import threading

from girdlebook.curated.store import MemoryStore

ADDER = """
import sys
from girdlebook.curated.store import MemoryStore
store = MemoryStore.open(sys.argv[1], memory_char_limit=100_000)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    store.add("memory", f"{sys.argv[2]} 条目 {number:03}")
    print(f"{sys.argv[2]} 条目 {number:03}", flush=True)
"""


def adder(folder, name, count):
    command = [sys.executable, "-X", "utf8", "-c", ADDER, str(folder), name, str(count)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")


def start(process):
    process.stdin.write("\n")
    process.stdin.flush()


def test_L1_01_two_processes_add_twenty_entries_each(tmp_path):
    processes = [adder(tmp_path, name, 20) for name in ("left", "right")]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        start(process)
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    entries = MemoryStore.open(tmp_path).entries("memory")
    assert sorted(entries) == sorted(f"{name} 条目 {number:03}" for name in ("left", "right") for number in range(20))


def test_L1_03_twenty_threads_add_to_one_store(tmp_path):
    store = MemoryStore.open(tmp_path)
    gate = threading.Barrier(20)

    def add(number):
        gate.wait()
        store.add("memory", f"fact {number}")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(store.entries("memory")) == sorted(f"fact {number}" for number in range(20))


def test_L1_07_kill_in_the_middle_loses_no_acknowledged_entry(tmp_path):
    process = adder(tmp_path, "killed", 200)
    assert process.stdout.readline() == "ready\n"
    start(process)
    acknowledged = [process.stdout.readline().strip() for _ in range(60)]
    process.send_signal(signal.SIGKILL)
    acknowledged += process.stdout.read().split("\n")[:-1]
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    store = MemoryStore.open(tmp_path, memory_char_limit=100_000)
    entries = store.entries("memory")
    assert entries[: len(acknowledged)] == tuple(acknowledged)
    assert len(entries) <= len(acknowledged) + 1
    assert store.add("memory", "after").entries[-1] == "after"
