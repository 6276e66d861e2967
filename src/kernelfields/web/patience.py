"""Connections on which no request arrives."""

from __future__ import annotations

import asyncio
from typing import Any

SECONDS = 10.0
"""From the first byte of a request, or from the beginning of a connection, to the end of its headers."""


def impatient_protocol(seconds: float = SECONDS) -> Any:
    """Return uvicorn's protocol with a limit on the time that the headers of a request may take.

    uvicorn itself waits for ever: whoever opens connections and sends a byte now and then would use up all
    of them.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class ImpatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """Closes connections that keep it waiting."""

        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait(self.transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._wait(self.transport)
            else:
                self._wait(None)

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait(None)
            super().connection_lost(exc)

        def _wait(self, transport: Any) -> None:
            if transport is None and self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None
            elif transport is not None and self.waiting is None:
                self.waiting = self.loop.call_later(seconds, transport.abort)

    return ImpatientProtocol
