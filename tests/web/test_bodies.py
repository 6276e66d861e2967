"""Bodies that are too large or too slow."""

import asyncio

import httpx
import pytest

from kernelfields.web import Guards, guarded


async def reading(scope, receive, send):
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(body)).encode()})


def post(content, headers=None, **guards):
    async def posted():
        transport = httpx.ASGITransport(guarded(reading, Guards(**guards)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/", content=content, headers=headers)

    return asyncio.run(posted())


async def chunks(count, size=10):
    for _ in range(count):
        yield b"x" * size


@pytest.mark.parametrize(("size", "status"), [(0, 200), (100, 200), (101, 413)])
def test_announced_bodies(size, status):
    assert post(b"x" * size, most=100).status_code == status


@pytest.mark.parametrize(("count", "status"), [(10, 200), (11, 413), (1000, 413)])
def test_bodies_in_chunks(count, status):
    answer = post(chunks(count), most=100)
    assert answer.status_code == status
    assert (
        status == 200 or answer.json()["error"] == "The body is larger than 100 bytes, the most that is read."
    )


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 5000, "\u0663", "1, 2", ""])
def test_odd_lengths(length):
    answer = post(b"", {"content-length": length.encode()}, most=100)
    assert answer.status_code in (400, 413)


@pytest.mark.parametrize("announced", [True, False])
def test_what_is_too_large_is_read_to_its_end_within_reason(announced):
    """A connection that is closed while data arrive is reset, and its client would not see the refusal."""

    async def run(count):
        taken, said = [], []

        async def receive():
            taken.append(1)
            return {"type": "http.request", "body": b"x" * 50, "more_body": len(taken) < count}

        async def send(message):
            said.append(message)

        length = [(b"content-length", str(50 * count).encode())] if announced else []
        scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost"), *length]}
        await guarded(reading, Guards(most=100))(scope, receive, send)
        return len(taken), said[0]["status"]

    assert asyncio.run(run(8)) == (8, 413)
    taken, status = asyncio.run(run(1000))
    assert (taken <= 12, status) == (True, 413)


def test_a_body_has_one_length():
    answer = post(b"x", {"transfer-encoding": "chunked", "content-length": "1"})
    assert answer.status_code == 400
    assert answer.json()["error"].endswith("not both.")


def test_bodies_that_do_not_arrive():
    async def stuck():
        yield b"x"
        await asyncio.Event().wait()

    answer = post(stuck(), seconds=0.05)
    assert answer.status_code == 408
    assert answer.headers["connection"] == "close"


def test_after_its_body_a_request_may_wait_for_long():
    """Streams of events wait for the client to go, which is no body that is late."""

    async def run():
        waited = []

        async def streaming(scope, receive, send):
            await receive()
            try:
                await asyncio.wait_for(receive(), 0.1)
            except TimeoutError:
                waited.append(True)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        messages = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive():
            return messages.pop() if messages else await asyncio.Event().wait()

        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
        await guarded(streaming, Guards(seconds=0.02))(scope, receive, send)
        return waited, sent[0]["status"]

    assert asyncio.run(run()) == ([True], 200)
