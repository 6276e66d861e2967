"""How a Starlette application says no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import quoted
from .asgi import RefusedError


def refusal_handlers() -> dict[Any, Callable[..., Any]]:
    """Return the ``exception_handlers`` of an application whose refusals are one sentence in JSON."""
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect
    from starlette.responses import Response

    async def refused(_: Any, error: Any) -> Any:
        return Response(error.body(), error.status, error.headers, "application/json")

    async def lost(request: Any, error: Any) -> Any:
        return await refused(request, _said(request, error))

    async def gone(request: Any, _: Any) -> Any:  # nobody reads it, but it is no failure of the server
        return await refused(request, RefusedError(400, "The client left before its request was complete."))

    return {RefusedError: refused, HTTPException: lost, ClientDisconnect: gone}


def _said(request: Any, error: Any) -> RefusedError:
    """Return what Starlette found as a sentence."""
    path = quoted(request.url.path, 80)
    headers = dict(error.headers or {})
    if error.status_code == 404:
        return RefusedError(404, f"There is nothing at {path}.", headers)
    if error.status_code == 405:
        methods = headers.get("Allow", "other methods")
        return RefusedError(405, f"{path} answers {methods} only.", headers)
    return RefusedError(error.status_code, str(error.detail), headers)
