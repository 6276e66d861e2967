"""Headers that keep browsers from doing more with an answer than was meant."""

from __future__ import annotations

from .asgi import App, Message, Receive, Scope, Send

NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The policy of a server without pages."""


class SecurityHeaders:
    """Adds the headers to every answer; those that an answer has already are kept.

    Parameters
    ----------
    app : ASGI application
        Whose answers they are.
    policy : str
        The Content-Security-Policy; ``frame-ancestors`` belongs into it.
    """

    def __init__(self, app: App, policy: str = NOTHING) -> None:
        self.app = app
        headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "referrer-policy": "no-referrer",
            "cross-origin-resource-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cache-control": "no-store",
        }
        self.headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                more = [pair for pair in self.headers if pair[0] not in given]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self.app(scope, receive, send_with_headers)
