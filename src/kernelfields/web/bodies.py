"""How large a request may be, and how long it may take to arrive."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from .asgi import App, Message, Receive, RefusedError, Scope, Send, header_of

MEGABYTE = 2**20
CLOSE = {"connection": "close"}
"""The rest of the body is not read."""

DISCARDED = 4
"""How many times the limit is read of a body that is too large, so that its client gets the refusal."""


class BodyLimit:
    """Refuses bodies that are too large, whether or not they say so in advance, or too slow.

    Parameters
    ----------
    app : ASGI application
        Sees what is refused while it reads as a `RefusedError`, which it should not catch.
    most : int
        Bytes of a body.
    seconds : float
        Time from the first look at a body to its end.
    """

    def __init__(self, app: App, most: int, seconds: float) -> None:
        self.app, self.most, self.seconds = app, most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with a limit on what it receives, or refuse it."""
        length = header_of(scope, b"content-length")
        if length is not None and not (length.isascii() and length.isdecimal()):
            raise RefusedError(400, "Content-Length is not a number.", CLOSE)
        if length is not None and header_of(scope, b"transfer-encoding") is not None:
            raise RefusedError(400, "A request has Content-Length or Transfer-Encoding, not both.", CLOSE)
        metered = _Metered(self, receive)
        try:
            if length is not None and (len(length) > 18 or int(length) > self.most):
                raise self._too_large()
            await self.app(scope, metered, send)
        except RefusedError as refused:
            if refused.status == 413:
                await metered.discard()
            raise

    def _too_large(self) -> RefusedError:
        size = f"{self.most / MEGABYTE:.3g} MB" if self.most >= MEGABYTE else f"{self.most} bytes"
        return RefusedError(413, f"The body is larger than {size}, the most that is read.", CLOSE)


class _Metered:
    """Receives one body, counting."""

    def __init__(self, limit: BodyLimit, receive: Receive) -> None:
        self.limit, self.receive = limit, receive
        self.count = 0
        self.due: float | None = None
        self.complete = False

    async def __call__(self) -> Message:
        if self.complete:
            return await self.receive()  # waits until the client has gone, as long as that takes
        message = await self._in_time()
        self.count += len(message.get("body", b""))
        self.complete = not message.get("more_body", False)
        if self.count > self.limit.most:
            raise self.limit._too_large()
        return message

    async def discard(self) -> None:
        """Read what the client is still sending, up to a limit.

        A connection that is closed while data arrive is reset, and the client never sees the answer.
        """
        most = self.count + DISCARDED * self.limit.most
        with suppress(RefusedError):
            while not self.complete and self.count <= most:
                message = await self._in_time()
                self.count += len(message.get("body", b""))
                self.complete = message["type"] != "http.request" or not message.get("more_body", False)

    async def _in_time(self) -> Message:
        if self.due is None:
            self.due = asyncio.get_running_loop().time() + self.limit.seconds
        try:
            async with asyncio.timeout_at(self.due):
                return await self.receive()
        except TimeoutError:
            seconds = f"{self.limit.seconds:g} seconds"
            raise RefusedError(408, f"The body was not complete after {seconds}.", CLOSE) from None
