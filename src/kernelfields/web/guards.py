"""All guards around an application."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from .asgi import App, Message, Receive, RefusedError, Scope, Send, header_of, send_refusal
from .bodies import MEGABYTE, BodyLimit
from .listening import WILDCARDS, is_loopback
from .security_headers import NOTHING, SecurityHeaders
from .tokens import TokenGuard

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Guards:
    """Who may ask, and how much."""

    host: str = "127.0.0.1"
    """What the server is bound to."""
    token: str | None = None
    """What requests have to know; needed unless the host is loopback."""
    names: tuple[str, ...] = ()
    """Further names of the server."""
    policy: str = NOTHING
    """The Content-Security-Policy of its pages."""
    page: bool = False
    """Whether browsers open it: a token may come in a cookie."""
    private: str | None = None
    """What paths begin with that pages of other sites may not even read."""
    most: int = 4 * MEGABYTE
    """Bytes of a request's body."""
    seconds: float = 30.0
    """Time for a body to arrive."""
    requests: int = 256
    """Requests at a time."""


def guarded(app: App, guards: Guards) -> App:
    """Return an application that answers only what the guards let pass.

    Raises
    ------
    ValueError
        If others than this machine could reach it without a token.
    """
    inner: App = BodyLimit(app, guards.most, guards.seconds)
    if guards.token is not None:
        inner = TokenGuard(inner, guards.token, guards.page)
    elif not is_loopback(guards.host):
        raise ValueError(f"A server on {guards.host} needs a token.")
    inner = CrossSiteGuard(HostGuard(inner, guards.host, guards.names), guards.private)
    return SecurityHeaders(_Gate(Crowd(inner, guards.requests), app), guards.policy)


class _Gate:
    """Answers refusals, and whatever goes wrong inside, and lets nothing but HTTP pass.

    Start and stop of the server are no requests: they go to the application itself.
    """

    def __init__(self, guards: App, app: App) -> None:
        self.guards, self.app = guards, app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # WebSockets: nothing here speaks them
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.guards(scope, receive, noting)
        except Exception as error:
            refusal = error if isinstance(error, RefusedError) else _failure(error)
            if started:  # too late for another answer: the connection is closed
                raise
            await send_refusal(noting, refusal)


def _failure(error: Exception) -> RefusedError:
    log.error("A request failed.", exc_info=error)
    return RefusedError(500, "The server failed to answer this request; its log says why.")


READING = ("GET", "HEAD", "OPTIONS")
OWN = ("same-origin", "none")
"""Values of Sec-Fetch-Site for what a page of this server asks, or a user by hand."""


class CrossSiteGuard:
    """Refuses requests that may change something, or cost much, and come from a page of another origin.

    Browsers say where such requests come from, in Sec-Fetch-Site and in Origin; other clients send neither.
    Another port of the same host is another origin: anybody on the machine may listen there.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    private : str, optional
        What paths begin with that pages of other origins may not even read: they could not see the answers,
        but they could keep the server busy.
    """

    def __init__(self, app: App, private: str | None = None) -> None:
        self.app, self.private = app, private

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if (scope["method"] not in READING or self._is_private(scope)) and _is_foreign(scope):
            raise RefusedError(403, "Requests of pages of other sites are not answered.")
        await self.app(scope, receive, send)

    def _is_private(self, scope: Scope) -> bool:
        return self.private is not None and scope["path"].startswith(self.private)


def _is_foreign(scope: Scope) -> bool:
    site, origin = header_of(scope, b"sec-fetch-site"), header_of(scope, b"origin")
    if site is not None and site not in OWN:
        return True
    if origin is None:
        return False
    scheme, separator, place = origin.partition("://")
    host = header_of(scope, b"host")
    return not (separator and scheme in ("http", "https") and place.lower() == (host or "").lower())


class Crowd:
    """Refuses requests while too many others are under way."""

    def __init__(self, app: App, most: int) -> None:
        self.app, self.most = app, most
        self.count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or ask to come back."""
        if self.count >= self.most:
            raise RefusedError(503, "The server is busy; try again in a second.", {"retry-after": "1"})
        self.count += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.count -= 1


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
