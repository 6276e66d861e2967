"""Tokens: who may ask a server that others can reach."""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from ..errors import InputError
from .asgi import App, Receive, RefusedError, Scope, Send, header_of
from .listening import is_loopback

LEAST = 16
"""Characters of a token that cannot be tried out."""
COOKIE = "kf_token"
CHALLENGE = {"www-authenticate": 'Bearer realm="kernelfields"'}


def choose_token(host: str, given: str | None) -> str | None:
    """Return the token that requests need: the one that is given, a new one, or none on loopback."""
    if given is None:
        return None if is_loopback(host) else secrets.token_urlsafe(24)
    if len(given) < LEAST or not given.isascii() or not given.isprintable() or " " in given:
        raise InputError(f"A token must have at least {LEAST} characters, in ASCII and without spaces.")
    return given


class TokenGuard:
    """Lets requests pass that know the token.

    It is expected as ``Authorization: Bearer TOKEN``. Browsers cannot send that when they open a page or a
    stream of events: with ``page``, an address that ends in ``?token=TOKEN`` sets a cookie instead, and
    leads to the same address without it.
    """

    def __init__(self, app: App, token: str, page: bool = False) -> None:
        self.app, self.page = app, page
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if self._is_known(_bearer(scope)) or (self.page and self._is_known(_cookie(scope))):
            await self.app(scope, receive, send)
            return
        if self.page and scope["method"] == "GET" and self._is_known(_asked(scope)):
            raise RefusedError(303, "The token is kept in a cookie.", self._welcome(scope))
        raise RefusedError(401, "This server needs a token: Authorization: Bearer TOKEN.", CHALLENGE)

    def _is_known(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self._token)

    def _welcome(self, scope: Scope) -> dict[str, str]:
        """Return headers that set the cookie and lead to the page.

        The path begins with exactly one slash: two would name another server.
        """
        where = "/" + scope.get("raw_path", b"/").decode("latin-1").lstrip("/\\")
        cookie = f"{COOKIE}={self._token.decode()}; HttpOnly; SameSite=Strict; Path=/"
        return {"location": where, "set-cookie": cookie}


def _bearer(scope: Scope) -> str | None:
    scheme, _, token = (header_of(scope, b"authorization") or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _cookie(scope: Scope) -> str | None:
    try:
        found = SimpleCookie(header_of(scope, b"cookie") or "").get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def _asked(scope: Scope) -> str | None:
    found = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=100).get("token", [])
    return found[0] if len(found) == 1 else None
