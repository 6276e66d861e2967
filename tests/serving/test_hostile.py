"""Hostile requests to a real process: it survives them, and answers others as before.

A few hundred here; KERNELFIELDS_HOSTILE=10000 sends that many.
"""

import os
import re
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

from ._hostile import GOOD, INCOMPLETE, KINDS, request
from ._process import ServeProcess

COUNT = int(os.environ.get("KERNELFIELDS_HOSTILE", "300"))
SLOW = 20
"""Connections that send a byte now and then, all the while."""
PATIENCE = 120
"""Seconds for which a busy server is asked again."""
LEAKS = re.compile(rb"Traceback|File \"|root:|site-packages|/src/")


@pytest.fixture(scope="module")
def server(folder):
    found = ServeProcess(*(folder / f"{name}.kf" for name in ("words", "numbers", "attributes")))
    yield found
    assert found.stop() == 0
    assert "Traceback" not in found.said


def send(port, name, data):
    """Send bytes; return the answer, or what there is of it once the server has closed the connection.

    Where it may wait for more, it is told that there is none.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        found = b""
        try:
            client.sendall(data)
            if name in INCOMPLETE:
                client.shutdown(socket.SHUT_WR)
            while not is_complete(found) and (more := client.recv(65536)):
                found += more
        except ConnectionError:  # closed in the middle, as it should be
            pass
        except TimeoutError:
            pytest.fail(f"{name} was never answered.")
        return found


def is_complete(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    size = re.search(rb"content-length: (\d+)", head)
    return size is not None and len(body) >= int(size[1])


def status_of(answer):
    found = re.match(rb"HTTP/1\.1 (\d{3})", answer)
    return int(found[1]) if found else None


def right(server):
    """Return the answer to a good request, which is repeated while the server is busy."""
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = httpx.post(
            f"{server.url}/models/words/tag",
            content=GOOD,
            headers={"content-type": "application/json"},
            trust_env=False,
            timeout=60,
        )
        if answer.status_code != 503 or time.monotonic() > deadline:
            return answer.status_code, answer.json().get("labels")
        time.sleep(0.02)


def test_hostile_requests_are_survived(server):
    rng = np.random.default_rng(0)
    names, weights = list(KINDS), np.array([weight for _, weight in KINDS.values()], dtype=float)
    chosen = rng.choice(names, size=COUNT, p=weights / weights.sum())
    requests = [(name, KINDS[name][0](rng)) for name in [*names, *chosen[len(names) :]]]
    before = right(server)
    assert before[0] == 200
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(SLOW)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda one: send(server.port, *one), requests))
    for client in idle:
        client.close()
    statuses = Counter((name, status_of(answer)) for (name, _), answer in zip(requests, answers, strict=True))
    assert server.is_running
    assert [answer for answer in answers if LEAKS.search(answer)] == []
    assert {one: n for one, n in statuses.items() if one[1] == 500} == {}
    for name, expected in (
        ("wrong host", {421, 400}),
        ("other site", {403}),
        ("traversal", {404, 405, 400, None}),
    ):
        assert {status for kind, status in statuses if kind == name} <= expected
    assert right(server) == before, statuses
    assert httpx.get(f"{server.url}/health", trust_env=False, timeout=60).json()["status"] == "ok"


def test_slow_clients_keep_nobody_waiting(server):
    """Headers and bodies that arrive byte by byte, while others are answered."""
    head = b"POST /models/words/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(2 * SLOW)]
    for client in clients[:SLOW]:
        client.sendall(head[:30])
    for client in clients[SLOW:]:
        client.sendall(head + b"Content-Length: 100\r\n\r\n{")
    for n in range(5):
        clients[n].sendall(head[30 + n : 31 + n])
        assert right(server)[0] == 200
    for client in clients:
        client.close()
    assert right(server)[0] == 200


def test_clients_that_leave_at_once(server):
    """More at a time than are answered; the log stays short."""
    data = request()
    for _ in range(COUNT):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
    assert right(server)[0] == 200  # first, it is busy with what nobody waits for


def test_answers_that_nobody_reads(server):
    """Clients that ask for much and go away."""
    body = b'{"sequences":[' + b",".join([b'["Ana","saw"]'] * 2000) + b"]}"
    for _ in range(8):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(request(body, "/models/words/marginals"))
    assert right(server)[0] == 200
