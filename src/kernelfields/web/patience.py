"""Connections on which no request arrives, and those that are too many."""

from __future__ import annotations

import asyncio
from typing import Any

from .asgi import RefusedError

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
