"""The desk over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..errors import InputError, quoted
from ..web import RefusedError, refusal_handlers
from .changes import ConflictError, Sender
from .desk import Desk
from .export import fitted, write_labels
from .news import Newsroom
from .page import page

TYPES = {"jsonl": "application/x-ndjson", "conll": "text/plain", "csv": "text/csv", "npz": "application/zip"}


def application(desk: Desk, news: Newsroom) -> Any:
    """Return the Starlette application; `web.guarded` must stand before it.

    Whatever reads or changes the desk runs in a thread: it waits for the disk and for the model.
    """
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    content = page()
    learning = asyncio.Lock()  # a model for an export takes both time and memory: one at a time

    async def index(_: Any) -> Any:
        return Response(content, media_type="text/html; charset=utf-8")

    async def events(request: Any) -> Any:
        client = request.client.host if request.client else ""
        if news.is_full(client):
            raise RefusedError(503, "Too many pages are open; close one.")
        return StreamingResponse(news.listen(client), media_type="text/event-stream")

    async def export(request: Any) -> Any:
        kind = request.query_params.get("format", "jsonl")
        auto = request.query_params.get("auto") == "1"
        if auto and learning.locked():
            raise RefusedError(503, "Another export with the model's labels is under way; try again.")
        async with learning if auto else nullcontext():
            body = await run_in_threadpool(_sentences, lambda: exported(desk, kind, auto))
        name = f'attachment; filename="labels.{kind}"'
        return Response(body, media_type=TYPES[kind], headers={"content-disposition": name})

    def reading(answer: Callable[[Any], Any]) -> Any:
        async def endpoint(request: Any) -> Any:
            return JSONResponse(await run_in_threadpool(_sentences, lambda: answer(request)))

        return endpoint

    def acting(act: Callable[[SentFields], Any]) -> Any:
        async def endpoint(request: Any) -> Any:
            fields = SentFields.of(await request.body())
            fields.require_session(desk.name)
            try:
                return JSONResponse(await run_in_threadpool(_sentences, lambda: act(fields)))
            except ConflictError as conflict:
                return JSONResponse(conflict.answer(), 409)

        return endpoint

    def run(of: Callable[..., Any]) -> Callable[[SentFields], Any]:
        return lambda sent: of(
            sent.whole("item"), sent.whole("at"), sent.whole("length"), sent.label("label"), sent.sender()
        )

    def accept(sent: SentFields) -> Any:
        return desk.accept(sent.whole("item"), sent.labels("labels"), sent.sender())

    def shown(request: Any) -> Any:
        return desk.visit(_number(request, desk), _window(request))

    routes = [
        Route("/", index),
        Route("/api/events", events),
        Route("/api/export", export),
        Route("/api/overview", reading(lambda _: desk.overview())),
        Route("/api/begin", reading(lambda request: desk.begin(_window(request)))),
        Route("/api/next", reading(lambda request: desk.ask(_window(request)))),
        Route("/api/items/{item}", reading(shown)),
        Route("/api/set", acting(run(desk.set)), methods=["POST"]),
        Route("/api/mark", acting(run(desk.mark)), methods=["POST"]),
        Route("/api/accept", acting(accept), methods=["POST"]),
        Route(
            "/api/skip", acting(lambda sent: desk.skip(sent.whole("item"), sent.sender())), methods=["POST"]
        ),
        Route("/api/undo", acting(lambda sent: desk.undo(sent.sender())), methods=["POST"]),
    ]
    return Starlette(routes=routes, exception_handlers=refusal_handlers())


def exported(desk: Desk, kind: str, auto: bool) -> bytes:
    """Return the file that `write_labels` writes."""
    if kind not in TYPES:
        raise InputError(f"There is no format {kind!r} to export to; choose one of {', '.join(TYPES)}.")
    session = desk.frozen()
    model, learner = fitted(desk.material, session, desk.settings.penalty) if auto else (None, None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"labels.{kind}"
        write_labels(path, kind, desk.material, session, model, learner)
        return path.read_bytes()


def _number(request: Any, desk: Desk) -> int:
    """Return the number of a sequence in a path; what is none, however long, is not there."""
    given = request.path_params["item"]
    known = len(desk.material)
    if not (given.isascii() and given.isdecimal() and len(given) < 10 and int(given) < known):
        raise RefusedError(
            404, f"There is no sequence {quoted(given, 20)}; they are numbered 0 to {known - 1}."
        )
    return int(given)


def _window(request: Any) -> str | None:
    """Return which window asks; None if it does not say so."""
    return SentFields(dict(request.query_params)).sender().window


def _sentences(answer: Callable[[], Any]) -> Any:
    """Return an answer; what is refused, or cannot be kept, is one sentence."""
    try:
        return answer()
    except InputError as error:
        raise RefusedError(422, str(error)) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise RefusedError(
            507, f"The journal could not be written, and nothing was changed: {reason}."
        ) from None


WHOLE = 2**31
NAME = re.compile(r"[A-Za-z0-9-]{1,40}")


class SentFields:
    """The fields of an object that the page sent; what is not as expected is refused in one sentence."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    @staticmethod
    def of(body: bytes) -> SentFields:
        """Read a body."""
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "The body is not JSON.") from None
        if not isinstance(given, dict):
            raise RefusedError(400, "The body is not an object.")
        return SentFields(given)

    def whole(self, name: str) -> int:
        """Return a whole number that is not negative."""
        value = self._given.get(name)
        if type(value) is not int or not 0 <= value < WHOLE:
            raise RefusedError(422, f"{name} is {_shown(value)}, expected a whole number from 0 on.")
        return value

    def sender(self) -> Sender:
        """Return who sent it; what is missing is not known."""
        window = self._given.get("window")
        if window is not None and not (isinstance(window, str) and NAME.fullmatch(window)):
            raise RefusedError(422, f"window is {_shown(window)}, expected up to 40 letters and digits.")
        numbers = [self.whole(key) if key in self._given else None for key in ("number", "revision")]
        return Sender(window, *numbers)

    def require_session(self, name: str) -> None:
        """Refuse a change of something else, which a page made before another server took the address."""
        given = self._given.get("session", name)
        if given != name:
            raise RefusedError(410, "This page labels something else than the server now: load it again.")

    def label(self, name: str) -> str | None:
        """Return a label, or None for none."""
        value = self._given.get(name)
        if value is not None and not isinstance(value, str):
            raise RefusedError(422, f"{name} is {_shown(value)}, expected a label or null.")
        return value

    def labels(self, name: str) -> list[str | None]:
        """Return a list of labels."""
        value = self._given.get(name)
        if not isinstance(value, list) or not all(one is None or isinstance(one, str) for one in value):
            raise RefusedError(422, f"{name} is {_shown(value)}, expected a list of labels.")
        return value


def _shown(value: Any) -> str:
    return quoted(json.dumps(value), 60)[1:-1]
