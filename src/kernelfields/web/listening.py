"""Where a server listens."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from ..errors import InputError

WILDCARDS = ("0.0.0.0", "::", "")


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a server that listens on a host.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to a host and a port; port 0 is any that is free."""
    if not 0 <= port <= 65535:
        raise InputError(f"Port {port} must be between 0 and 65535.")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"There is no host {host!r} on this machine: {error}.") from None
    found = socket.socket(family, kind, protocol)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(place)
    except (OSError, OverflowError) as error:
        found.close()
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"Cannot listen on port {port} of {host}: {reason}.") from None
    return found


def address_of(listening: socket.socket) -> str:
    """Return the address of a server, for people to open."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
