"""Answers that clients have not read yet count as memory under way."""

import asyncio
import importlib
import json

import pytest

from kernelfields.serving import Limits
from kernelfields.serving.service import Service

from ._client import AppClient
from .conftest import app_of, shelf_of

BODY = json.dumps({"sequences": [["Ana"] * 4000]}).encode()
PATH = "/models/words/marginals"


@pytest.fixture
def services(monkeypatch):
    """The services of all applications that are made."""
    made = []
    module = importlib.import_module("kernelfields.serving.app")
    monkeypatch.setattr(module, "Service", lambda *words: made.append(Service(*words)) or made[-1])
    return made


async def ask(app, gate, first, status):
    """Ask, and take no more than the first part of the answer until the gate opens."""
    fields = {"host": "127.0.0.1", "content-type": "application/json", "content-length": str(len(BODY))}
    headers = [(name.encode(), value.encode()) for name, value in fields.items()]
    scope = {"type": "http", "method": "POST", "path": PATH, "raw_path": PATH.encode(), "query_string": b""}
    scope |= {"headers": headers, "scheme": "http", "server": ("127.0.0.1", 80), "http_version": "1.1"}
    bodies = iter([{"type": "http.request", "body": BODY}])

    async def receive():
        return next(bodies)

    async def send(message):
        if message["type"] == "http.response.start":
            status.append(message["status"])
        elif not first.is_set():
            first.set()
            await gate.wait()

    await app(scope, receive, send)


def test_an_answer_counts_until_its_last_part_is_taken(folder, services):
    app = app_of(shelf_of(folder / "words.kf"), Limits())

    async def run():
        gate, first, status = asyncio.Event(), asyncio.Event(), []
        asking = asyncio.create_task(ask(app, gate, first, status))
        await first.wait()
        held = services[0].budget.used
        gate.set()
        await asking
        return status, held

    with AppClient(app) as client:
        answer = client.post(PATH, content=BODY, headers={"content-type": "application/json"})
        assert client.run(run()) == ([200], len(answer.content))
        assert services[0].budget.used == 0
