"""A real server: it starts on a free port, stops gracefully, and does not wait for slow clients."""

import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from kernelfields.errors import InputError
from kernelfields.web import address_of, listen

SERVER = """
import asyncio, sys
from kernelfields.web import Guards, address_of, guarded, listen, run_server
import kernelfields.web.running as running
from kernelfields.web.patience import impatient_protocol

running.impatient_protocol = lambda: impatient_protocol(0.3, connections=4, unread=0.3)

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    await receive()
    await asyncio.sleep(0.5 if scope["path"] == "/slow" else 0)
    body = bytes(2**26) if scope["path"] == "/large" else b"ok"
    length = str(len(body)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
    await send({"type": "http.response.body", "body": body})

listening = listen("127.0.0.1", 0)
stopped = []
run_server(
    guarded(app, Guards()),
    listening,
    started=lambda: print(address_of(listening), flush=True),
    stopping=lambda: stopped.append(1),
)
print("stopped", len(stopped), flush=True)
"""


@pytest.fixture
def server():
    command = [sys.executable, "-c", textwrap.dedent(SERVER)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.port = int(process.stdout.readline().rsplit(":", 1)[1])
    yield process
    process.kill()
    process.communicate()


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def answer(client):
    found = b""
    while not found.endswith(b"\r\n\r\nok"):
        found += client.recv(1000) or pytest.fail(f"The connection ended after {found!r}.")
    return found.split(b"\r\n")[0]


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_answers_first_what_is_under_way(server, number):
    with connect(server) as client:
        client.sendall(get("/slow"))
        time.sleep(0.2)
        server.send_signal(number)
        assert answer(client) == b"HTTP/1.1 200 OK"
    rest, errors = server.communicate(timeout=20)
    assert (server.returncode, rest, errors) == (0, "stopped 1\n", "")


def test_slow_headers_end_the_connection_and_others_are_answered(server):
    with connect(server) as idle, connect(server) as slow, connect(server) as other:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        other.sendall(get("/"))
        assert answer(other) == b"HTTP/1.1 200 OK"
        for client in (idle, slow):
            assert client.recv(10) == b""
        other.sendall(get("/slow"))  # kept: it has been answered in time
        assert answer(other) == b"HTTP/1.1 200 OK"


def test_more_connections_than_allowed_are_turned_away(server):
    clients = [connect(server) for _ in range(4)]
    with connect(server) as fifth:
        assert fifth.recv(1000).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    clients[0].sendall(get("/"))
    assert answer(clients[0]) == b"HTTP/1.1 200 OK"
    for client in clients:
        client.close()
    time.sleep(0.1)
    with connect(server) as later:
        later.sendall(get("/"))
        assert answer(later) == b"HTTP/1.1 200 OK"


def test_a_port_that_is_taken_is_one_sentence():
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert address_of(taken) == f"http://127.0.0.1:{port}"
        with pytest.raises(InputError, match=rf"Cannot listen on port {port} of 127.0.0.1: .*\."):
            listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "why"),
    [
        ("127.0.0.1", 65536, "Port 65536"),
        ("127.0.0.1", -1, "Port -1"),
        ("no.such.host.invalid", 0, "no host"),
    ],
)
def test_odd_places_are_refused(host, port, why):
    with pytest.raises(InputError, match=why):
        listen(host, port)


def test_answers_that_nobody_reads_are_dropped(server):
    """The client sees the end of its connection once it looks, not all of the answer."""
    with connect(server) as client:
        client.sendall(get("/large"))
        with connect(server) as other:  # closed by the server at last, too: it has asked for nothing
            assert other.recv(1) == b""
        time.sleep(0.5)
        count = 0
        try:
            while part := client.recv(2**20):
                count += len(part)
        except ConnectionError:
            pass
        assert count < 2**26
