"""Requests that another site's page makes a browser send."""

from __future__ import annotations

from .asgi import App, Receive, RefusedError, Scope, Send, header_of

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
