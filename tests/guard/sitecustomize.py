"""Refuses every socket that leaves the machine: in the test process, and by its name and PYTHONPATH in its children."""

import sys

_CONNECTS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


class NetworkRefused(RuntimeError):
    """A test tried to leave the machine."""


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: raises where the event would reach another machine."""
    if event in _CONNECTS:
        address = arguments[1]
        if isinstance(address, tuple) and not _is_loopback(address[0]):
            raise NetworkRefused(f"tests stay on this machine; {event} to {address!r}")
    elif event in _LOOKUPS and not _is_loopback(arguments[0]):
        raise NetworkRefused(f"tests stay on this machine; {event} of {arguments[0]!r}")


def _is_loopback(host: object) -> bool:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    return name in (None, "", "localhost", "::1") or (isinstance(name, str) and name.startswith("127."))


sys.addaudithook(refuse_network)
