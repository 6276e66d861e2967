"""A service under attack: how long ordinary clients wait, and how much memory the server takes.

Ordinary clients send short sequences to an ordinary model, by the clock. Meanwhile others ask a second-order
chain of forty labels for the sixteen best labellings of ten thousand positions, or a model of graphs for
sixty complete graphs of fifteen vertices, or for a sparse graph of ten thousand, or send a body of lists of
nothing, or ask for answers that they never read. Compare with the first row: nobody attacks there.
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kernelfields import CRF
from kernelfields.structures import Chain

from ._run import Bar, Result, machine
from ._serve_load import request
from .serve import _letters, _load, _Server, _server

RATE = 50
"""Requests of ordinary clients per second: the machine is to have time for attackers, too."""
ATTACKERS = 4
UNREAD = 40
"""Connections that do not read their answers."""
MEGABYTE = 2**20
WORDS = "columns: w\nw[0]"


def run(quick: bool) -> Result:
    seconds = 1.0 if quick else 15.0
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models are trained for their shape
        folder = Path(name)
        bodies = _models(folder, 100 if quick else 500)
        models = [folder / f"{name}.kf" for name in ("model", "chain2", "graph")]
        with _server(*models) as server:
            _load(server.port, bodies, 1.0)  # warms up
            idle = _memory(server, "VmRSS")
            rows = [_under(server, bodies, seconds, name) for name in ("none", *_attacks(quick))]
            peak = _memory(server, "VmHWM")
    bars = [Bar(f"p99_ms_{row['attack']}", row["p99_ms"], at_most=1000) for row in rows]
    bars.append(Bar("failed", sum(row["failed"] for row in rows), at_most=0))
    bars.append(Bar("peak_megabytes", peak / MEGABYTE, at_most=2 * idle / MEGABYTE + 512))
    details = {"machine": machine(), "idle_megabytes": idle / MEGABYTE, "attacks": rows}
    return Result("serve_hostile", bars, details)


def _models(folder: Path, limit: int) -> Path:
    """Fit three models, and return bodies for the first."""
    model, sequences = _letters(limit)
    model.save(folder / "model.kf")
    path = folder / "bodies"
    path.write_text("".join(json.dumps({"sequences": [x]}) + "\n" for x in sequences[:200]))
    rng = np.random.default_rng(0)
    labels = [[f"L{k:02d}" for k in rng.permutation(40)] for _ in range(4)]
    chain2 = CRF(features=WORDS, structure=Chain(order=2), max_iter=2)
    chain2.fit([["a"] * 40] * 4, labels).save(folder / "chain2.kf")
    graph = CRF(features=WORDS, structure="graph", max_iter=2)
    graph.fit([(["a", "b", "c"], [[0, 1], [1, 2]])] * 4, [["A", "B", "C"]] * 4).save(folder / "graph.kf")
    return path


def _attacks(quick: bool) -> dict[str, bytes]:
    """Requests by the name of the attack; those admitted are as large as the server admits."""
    edges = list(itertools.combinations(range(15), 2))
    graph = {"tokens": ["a"] * 15, "edges": edges}

    def best(length: int) -> bytes:
        body = {"sequences": [["a"] * length], "k": 16}
        return request("/models/chain2/kbest", json.dumps(body).encode())

    def graphs(count: int) -> bytes:
        return request("/models/graph/tag", json.dumps({"sequences": [graph] * count}).encode())

    ends = np.sort(np.random.default_rng(0).integers(10_000, size=(30_000, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    sparse = {"sequences": [{"tokens": ["a"] * 10_000, "edges": ends.tolist()}]}
    nothing = b'{"sequences":[' + b"[]," * 1_300_000 + b"[]]}"
    rows = {"sequences": [["a"] * 5000] * (1 if quick else 2)}
    return {
        "chain2": best(10_000),
        "graphs": graphs(60),
        "chain2_admitted": best(1000),
        "graphs_admitted": graphs(12),
        "sparse": request("/models/graph/tag", json.dumps(sparse).encode()),
        "nothing": request("/models/model/tag", nothing),
        "unread": request("/models/chain2/marginals", json.dumps(rows).encode()),
    }


def _under(server: _Server, bodies: Path, seconds: float, attack: str) -> dict[str, Any]:
    """Return what ordinary clients meet during an attack, and the server's time for all requests in it."""
    statuses: Counter[str] = Counter()
    before = server.seconds()
    with _attack(server.port, _attacks(False).get(attack), attack == "unread", statuses):
        found = _load(server.port, bodies, seconds, "--rate", str(RATE), "--connections", "8")
    names = ("p50_ms", "p99_ms", "slowest_ms", "requests", "failed")
    megabytes = _memory(server, "VmHWM") / MEGABYTE
    spent = server.seconds() - before
    shown = ", ".join(f"{status}: {n}" for status, n in sorted(statuses.items()))
    return {
        "attack": attack,
        **{name: found[name] for name in names},
        "peak": megabytes,
        "cpu_s": spent,
        "answers": shown,
    }


@contextmanager
def _attack(port: int, data: bytes | None, unread: bool, statuses: Counter[str]) -> Iterator[None]:
    end = threading.Event()
    count = 0 if data is None else UNREAD if unread else ATTACKERS
    threads = [
        threading.Thread(target=_ask, args=(port, data, unread, end, statuses), daemon=True)
        for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.5 * bool(threads))
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join(60)


def _ask(port: int, data: bytes, unread: bool, end: threading.Event, statuses: Counter[str]) -> None:
    """Ask again and again; or once, and read nothing."""
    while not end.is_set():
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(data)
            if unread:
                end.wait()
                return
            found = re.match(rb"HTTP/1.1 (\d+)", client.recv(65536))
            statuses[found[1].decode() if found else "none"] += 1
        end.wait(0.1)


def _memory(server: _Server, what: str) -> int:
    """Return VmRSS or VmHWM of the server, in bytes; 0 where the system does not say."""
    try:
        said = Path(f"/proc/{server.process.pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"{what}:\s+(\d+) kB", said)
    return 1024 * int(found[1]) if found else 0
