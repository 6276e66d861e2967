"""The service as an application: which path is answered by what."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from ..web import refusal_handlers
from ..web.asgi import App
from .limits import Limits
from .pages import index
from .questions import OPTIONS
from .service import JSON, Service
from .shelf import Shelf

METRICS = "text/plain; version=0.0.4; charset=utf-8"
HTML = "text/html; charset=utf-8"
PART = 2**16
"""Bytes of an answer that are handed on at once."""


def service(
    shelf: Shelf,
    limits: Limits | None = None,
    *,
    secured: bool = False,
    thread_starts: Callable[[], None] = lambda: None,
) -> App:
    """Return the service as an ASGI application, not yet guarded.

    Parameters
    ----------
    shelf : Shelf
        The models.
    limits : Limits, optional
        How much one request may ask for.
    secured : bool
        Whether a token is needed, for the description.
    thread_starts : callable
        Called first in every thread that predicts, to set its number of threads.
    """
    from starlette.applications import Starlette
    from starlette.routing import Route

    own = _Endpoints(Service(shelf, limits or Limits(), secured, thread_starts))
    reading = {
        "/": own.home,
        "/openapi.json": own.openapi,
        "/health": own.health,
        "/metrics": own.metrics,
        "/models": own.models,
        "/models/{name}": own.model,
    }
    routes = [  # tried in this order
        Route(f"/models/{{name}}/{operation}", partial(own.ask, operation), methods=["POST"])
        for operation in OPTIONS
    ]
    routes += [Route(path, endpoint, methods=["GET"]) for path, endpoint in reading.items()]
    app = Starlette(routes=routes, exception_handlers=refusal_handlers(), lifespan=own.service.running)
    app.router.redirect_slashes = False
    return app


class _Endpoints:
    """Requests of Starlette, answered by a service."""

    def __init__(self, service: Service) -> None:
        from starlette.responses import Response

        self.service, self._response = service, Response

    def _answer(self, body: str | bytes, kind: str = JSON, status: int = 200) -> Any:
        return self._response(body, status, {"content-type": kind})

    async def ask(self, operation: str, request: Any) -> Any:
        return _Asking(self.service, operation, request)

    async def home(self, request: Any) -> Any:
        return self._answer(index(self.service.shelf, str(request.base_url).rstrip("/")), HTML)

    async def openapi(self, _: Any) -> Any:
        return self._answer(self.service.document())

    async def metrics(self, _: Any) -> Any:
        return self._answer(self.service.measured(), METRICS)

    async def health(self, _: Any) -> Any:
        status = 200 if self.service.is_answering else 503
        return self._answer(json.dumps(self.service.health()), status=status)

    async def models(self, _: Any) -> Any:
        shelf = self.service.shelf
        found = {"models": {name: shelf[name].description() for name in shelf.names}}
        return self._answer(json.dumps(found))

    async def model(self, request: Any) -> Any:
        return self._answer(json.dumps(self.service.model(request.path_params["name"]).description()))


class _Asking:
    """A request to a model, and its answer, which is handed on in parts as the client reads them.

    The body and then the answer count as memory under way until the client has taken the last part.
    """

    def __init__(self, service: Service, operation: str, request: Any) -> None:
        self.service, self.operation, self.request = service, operation, request

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers, budget = self.request.headers, self.service.budget
        kind, name = headers.get("content-type", ""), self.request.path_params["name"]
        with budget.taken(int(headers.get("content-length", self.service.limits.bytes))):
            answer = await self.service.ask(name, self.operation, kind, self.request.body)
        with budget.taken(len(answer)):
            fields = [(b"content-type", JSON.encode()), (b"content-length", str(len(answer)).encode())]
            await send({"type": "http.response.start", "status": 200, "headers": fields})
            for part in range(0, len(answer), PART):
                body = answer[part : part + PART]
                more = part + PART < len(answer)
                await send({"type": "http.response.body", "body": body, "more_body": more})
