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
        kind = request.headers.get("content-type", "")
        return self._answer(
            await self.service.ask(request.path_params["name"], operation, kind, request.body)
        )

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
