"""How many requests are answered at a time."""

from __future__ import annotations

from .asgi import App, Receive, RefusedError, Scope, Send


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
