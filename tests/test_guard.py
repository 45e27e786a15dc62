"""The suite's own guard."""

import socket
import subprocess
import sys

import pytest

ELSEWHERE = ("192.0.2.1", 80)  # a documentation address: nobody is there


def test_a_test_cannot_leave_the_machine() -> None:
    with socket.socket() as outwards, pytest.raises(RuntimeError, match="tests stay on this machine"):
        outwards.connect(ELSEWHERE)


def test_names_of_other_machines_are_not_looked_up() -> None:
    with pytest.raises(RuntimeError, match="tests stay on this machine"):
        socket.getaddrinfo("example.org", 443)


def test_a_process_that_a_test_starts_cannot_leave_the_machine_either() -> None:
    program = f"import socket; socket.socket().connect({ELSEWHERE!r})"
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=30)
    assert "tests stay on this machine" in child.stderr


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
