"""A real server: it starts on a free port, stops gracefully, and does not wait for slow clients."""

import signal
import socket
import subprocess
import sys
import textwrap

import pytest

from kernelfields.errors import InputError
from kernelfields.web import address_of, listen

SERVER = """
import asyncio, sys
sys.modules["uvloop"] = None  # its clock could not be put forward
from kernelfields.web import Guards, address_of, guarded, listen, run_server
import kernelfields.web.running as running
from kernelfields.web.running import impatient_protocol

PATIENCE = 1000
running.impatient_protocol = lambda: impatient_protocol(PATIENCE, connections=4, unread=PATIENCE)
running.KEPT = running.LAST = 100 * PATIENCE
stopped = []

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    await receive()
    body, loop = b"ok", asyncio.get_running_loop()
    match scope["path"]:
        case "/until-stopped":
            print("asked", flush=True)
            while not stopped:
                await asyncio.sleep(0.01)
        case "/later":
            now = loop.time
            loop.time = lambda: now() + 2 * PATIENCE
            await asyncio.sleep(0.01)  # all that is due by now happens
        case "/large":
            body = bytes(2**26)
    length = str(len(body)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
    await send({"type": "http.response.body", "body": body})
    if scope["path"] == "/large":
        print("written", flush=True)

listening = listen("127.0.0.1", 0)
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
    return socket.create_connection(("127.0.0.1", server.port), timeout=120)


def answer(client):
    found = b""
    while not found.endswith(b"\r\n\r\nok"):
        found += client.recv(1000) or pytest.fail(f"The connection ended after {found!r}.")
    return found.split(b"\r\n")[0]


def get(path, more=""):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_answers_first_what_is_under_way(server, number):
    with connect(server) as client:
        client.sendall(get("/until-stopped"))
        assert server.stdout.readline() == "asked\n"
        server.send_signal(number)
        assert answer(client) == b"HTTP/1.1 200 OK"
    rest, errors = server.communicate(timeout=120)
    assert (server.returncode, rest, errors) == (0, "stopped 1\n", "")


def test_slow_headers_end_the_connection_and_others_are_answered(server):
    with connect(server) as idle, connect(server) as slow, connect(server) as other:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        for path in ("/", "/later"):  # the latter takes long, but its headers came in time
            other.sendall(get(path))
            assert answer(other) == b"HTTP/1.1 200 OK"
        for client in (idle, slow):
            assert client.recv(10) == b""
        other.sendall(get("/"))
        assert answer(other) == b"HTTP/1.1 200 OK"


def test_more_connections_than_allowed_are_turned_away(server):
    clients = [connect(server) for _ in range(4)]
    with connect(server) as fifth:
        assert fifth.recv(1000).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    clients[0].sendall(get("/"))
    assert answer(clients[0]) == b"HTTP/1.1 200 OK"
    for client in clients:
        client.sendall(get("/", "Connection: close\r\n"))
        assert answer(client) == b"HTTP/1.1 200 OK"
        assert client.recv(1) == b""  # now the server does not count it any more
        client.close()
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
        assert server.stdout.readline() == "written\n"
        with connect(server) as other:
            other.sendall(get("/later"))
            assert answer(other) == b"HTTP/1.1 200 OK"
        count = 0
        try:
            while part := client.recv(2**20):
                count += len(part)
        except ConnectionError:
            pass
        assert count < 2**26
