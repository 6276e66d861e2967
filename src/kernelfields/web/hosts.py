"""By which names a server answers: a page elsewhere must not reach it under a name of its own."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from ipaddress import ip_address

from .asgi import App, Receive, RefusedError, Scope, Send, header_of
from .listening import WILDCARDS

LOOPBACK = ("localhost", "127.0.0.1", "::1")
FORM = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")


class HostGuard:
    """Lets requests pass whose Host is a name of this server.

    A name that somebody else owns may point to this machine for a moment (DNS rebinding); browsers then take
    the server for part of that somebody's site. Only names that are known in advance are safe: loopback, the
    host that the server is bound to, and those that are given. A server on all interfaces also answers by
    numeric addresses, which nobody can redirect, and by the name of the machine.
    """

    def __init__(self, app: App, host: str, names: Iterable[str] = ()) -> None:
        self.app = app
        self.anywhere = host in WILDCARDS
        own = (socket.gethostname(),) if self.anywhere else (host,)
        self.names = frozenset(name.lower() for name in (*LOOPBACK, *own, *names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        name = host_name(header_of(scope, b"host"))
        if name is None or not (name in self.names or (self.anywhere and _is_numeric(name))):
            raise RefusedError(
                421, "This server does not answer by that name: the Host header is not one of its."
            )
        await self.app(scope, receive, send)


def host_name(header: str | None) -> str | None:
    """Return the name in a Host header, without its port; None if that is no name.

    Examples
    --------
    >>> host_name("LocalHost:8000"), host_name("[::1]:80"), host_name("a, b")
    ('localhost', '::1', None)
    """
    found = FORM.fullmatch(header or "")
    return None if found is None else found[1].strip("[]").lower()


def _is_numeric(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
