"""All guards around an application."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from .asgi import App, Message, Receive, RefusedError, Scope, Send, send_refusal
from .bodies import MEGABYTE, BodyLimit
from .cross_site import CrossSiteGuard
from .crowd import Crowd
from .hosts import HostGuard
from .listening import is_loopback
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
