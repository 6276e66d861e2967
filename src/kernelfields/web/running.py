"""Running a server until it is told to stop."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .asgi import App
from .patience import impatient_protocol

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
