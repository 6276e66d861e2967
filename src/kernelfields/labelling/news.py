"""News for all pages that are open: server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any
from weakref import WeakKeyDictionary

WAITING = 64
"""Messages that a page may be behind; it then loses the oldest, and is told to look at everything again."""
PULSE = 15.0
"""Seconds after which a comment keeps a silent connection alive."""
LISTENERS = 32
"""Pages that can be open at a time."""
OF_ONE = 16
"""Of them at one address."""

Messages = asyncio.Queue[dict[str, Any] | None]
"""What a page has not been told yet; None at the end."""


class Newsroom:
    """Passes messages on, from any thread, to all who listen."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        # Those of streams that are there: one that never begins cannot take its queue away itself.
        self._queues: WeakKeyDictionary[Messages, str] = WeakKeyDictionary()

    def is_full(self, client: str = "") -> bool:
        """Return whether a client, by its address, cannot listen once more."""
        own = sum(other == client for other in self._queues.values())
        return len(self._queues) >= LISTENERS or own >= OF_ONE

    def tell(self, message: dict[str, Any]) -> None:
        """Pass a message on; without anybody who listens it is lost."""
        self._pass(message)

    def end(self) -> None:
        """End all streams."""
        self._pass(None)

    def listen(self, client: str = "") -> AsyncGenerator[bytes, None]:
        """Return a stream of messages as events, from now on."""
        self._loop = asyncio.get_running_loop()
        queue: Messages = asyncio.Queue(WAITING)
        self._queues[queue] = client  # at once: before a stream begins, others may ask whether there is room
        return self._stream(queue)

    async def _stream(self, queue: Messages) -> AsyncGenerator[bytes, None]:
        """Yield what is put into a queue."""
        try:
            yield b"retry: 1000\n\n"
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), PULSE)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if message is None:
                    return
                yield b"data: " + json.dumps(message, allow_nan=False).encode() + b"\n\n"
        finally:
            self._queues.pop(queue, None)

    def _pass(self, message: dict[str, Any] | None) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, message)

    def _put(self, message: dict[str, Any] | None) -> None:
        for queue in self._queues:
            if queue.full():
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait({"type": "behind"})
            queue.put_nowait(message)
