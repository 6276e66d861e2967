"""Running a server until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .asgi import App, RefusedError

KEPT = 30
"""Seconds for which a connection without requests is kept."""
LAST = 10
"""Seconds for which a server that stops waits for the answers that are under way."""


def run_server(
    app: App,
    listening: socket.socket,
    started: Callable[[], None] = lambda: None,
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve an application until Ctrl-C or SIGTERM; requests that are under way are answered first.

    Parameters
    ----------
    app : ASGI application
        Guarded.
    listening : socket
        From `listen`.
    started : callable
        Called once requests are accepted: the time to say the address, on stderr.
    stopping : callable
        Called when the server begins to stop, from a signal handler's frame: streams should end now.
    """
    import uvicorn

    class GracefulServer(uvicorn.Server):
        """Tells when it starts and stops."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            started()

        def handle_exit(self, sig: int, frame: Any) -> None:
            super().handle_exit(sig, frame)
            stopping()

    config = uvicorn.Config(
        app,
        http=impatient_protocol(),
        ws="none",
        log_level="error",  # a warning for every odd request would fill disks
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=LAST,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_ours)
    with _quiet_end(), listening:
        GracefulServer(config).run(sockets=[listening])


def _is_ours(record: logging.LogRecord) -> bool:
    """Return whether a message is about this server.

    Answers to clients that broke the protocol in the middle of a request cannot be sent; that is no news.
    """
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or not kind.__module__.startswith("h11")


@contextmanager
def _quiet_end() -> Iterator[None]:
    """Let the signals end the server and not the program: uvicorn raises them again when it has stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), signal.SIG_IGN) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


SECONDS = 10.0
"""From the first byte of a request, or from the beginning of a connection, to the end of its headers."""
UNREAD = 30.0
"""From when a client is behind with reading an answer to the end of it: as long as a body may take."""
CONNECTIONS = 512
"""At a time: well below the usual limit of 1,024 open files."""
BUSY = RefusedError(503, "There are too many connections; try again in a second.").body()
TURNED_AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BUSY), BUSY)
)


def impatient_protocol(
    seconds: float = SECONDS, connections: int = CONNECTIONS, unread: float = UNREAD
) -> Any:
    """Return uvicorn's protocol with limits on connections, and on the time of headers and answers.

    uvicorn itself waits for headers for ever: whoever opens connections and sends a byte now and then would
    use up all of them. Its own limit on connections fails, with a page of log, where a client has left.
    Answers that a client does not read would be kept for ever, too.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class ImpatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """Closes connections that keep it waiting."""

        waiting: asyncio.TimerHandle | None = None
        behind: asyncio.TimerHandle | None = None
        unread_cycle: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > connections:
                self.transport.write(TURNED_AWAY)
                self.transport.close()
            else:
                self._wait(self.transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._wait(self.transport)
            else:
                self._wait(None)

        def pause_writing(self) -> None:
            super().pause_writing()
            if self.behind is None or self.unread_cycle is not self.cycle:
                self._catch_up()
                self.unread_cycle = self.cycle
                self.behind = self.loop.call_later(unread, self._drop)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self.cycle is None or self.cycle.response_complete:
                self._catch_up()

        def _drop(self) -> None:
            self.behind = None
            if self.flow.write_paused:
                self.transport.abort()

        def _catch_up(self) -> None:
            if self.behind is not None:
                self.behind.cancel()
                self.behind = None

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait(None)
            self._catch_up()
            super().connection_lost(exc)

        def _wait(self, transport: Any) -> None:
            if transport is None and self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None
            elif transport is not None and self.waiting is None:
                self.waiting = self.loop.call_later(seconds, transport.abort)

    return ImpatientProtocol
