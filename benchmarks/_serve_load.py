"""The clients of a service, as a process of their own: python -m benchmarks._serve_load PORT BODIES.

Speaks just enough HTTP to keep the clients cheap: both sides share the same two cores. With ``--rate``
requests are sent by the clock, whether or not the ones before were answered, and a late request counts from
when it was due; without, every connection sends the next request when it has an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import deque
from pathlib import Path
from typing import Any

END = b"\r\n\r\n"
LENGTH = b"content-length: "


def request(path: str, body: bytes) -> bytes:
    """One request as bytes."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


class Client(asyncio.Protocol):
    """One connection; calls back with the status of every answer."""

    def __init__(self, answered: Any) -> None:
        self.answered, self.rest = answered, b""
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.rest += data
        head, separator, body = self.rest.partition(END)
        if not separator:
            return
        place = head.find(LENGTH) + len(LENGTH)
        if len(body) >= int(head[place : head.find(b"\r", place) % (len(head) + 1)]):
            self.rest = b""
            self.answered(self, int(head[9:12]))


class Load:
    """Requests in a row, the time of each, and how many failed."""

    def __init__(self, requests: list[bytes], seconds: float, rate: float | None) -> None:
        self.requests, self.seconds, self.rate = requests, seconds, rate
        self.times: list[float] = []
        self.failed = 0
        self.sent = 0
        self.due: dict[Client, float] = {}
        self.free: deque[Client] = deque()
        self.waiting: deque[float] = deque()

    async def run(self, port: int, connections: int) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        made = [
            await loop.create_connection(lambda: Client(self.answered), "127.0.0.1", port)
            for _ in range(connections)
        ]
        self.free.extend(client for _, client in made)
        self.start = time.perf_counter()
        if self.rate is None:
            while self.free:
                self.send(self.free.popleft(), time.perf_counter())
            await asyncio.sleep(self.seconds)
        else:
            await self._by_the_clock(self.rate)
        took = time.perf_counter() - self.start
        for transport, _ in made:
            transport.abort()
        return self._summary(took)

    async def _by_the_clock(self, rate: float) -> None:
        for n in range(round(rate * self.seconds)):
            due = self.start + n / rate
            while (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            if self.free:
                self.send(self.free.popleft(), due)
            else:
                self.waiting.append(due)
        for _ in range(1000):
            if not self.due and not self.waiting:
                return
            await asyncio.sleep(0.01)

    def send(self, client: Client, due: float) -> None:
        self.due[client] = due
        client.transport.write(self.requests[self.sent % len(self.requests)])
        self.sent += 1

    def answered(self, client: Client, status: int) -> None:
        now = time.perf_counter()
        self.times.append(now - self.due.pop(client))
        self.failed += status != 200
        if self.rate is None:
            self.send(client, now)
        elif self.waiting:
            self.send(client, self.waiting.popleft())
        else:
            self.free.append(client)

    def _summary(self, took: float) -> dict[str, Any]:
        times = sorted(self.times)
        at = {share: 1e3 * times[min(int(share * len(times)), len(times) - 1)] for share in (0.5, 0.99, 1.0)}
        return {
            "requests_per_second": len(times) / took,
            "p50_ms": at[0.5],
            "p99_ms": at[0.99],
            "slowest_ms": at[1.0],
            "requests": len(times),
            "failed": self.failed,
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("bodies", type=Path, help="one body per line")
    parser.add_argument("--path", default="/models/model/tag")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float)
    options = parser.parse_args()
    requests = [request(options.path, line) for line in options.bodies.read_bytes().splitlines()]
    load = Load(requests, options.seconds, options.rate)
    print(json.dumps(asyncio.run(load.run(options.port, options.connections))))


if __name__ == "__main__":
    main()
