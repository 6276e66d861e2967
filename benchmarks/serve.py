"""A service under load: sentences per second, and how long they take at half of the rate it has to keep.

CoNLL-2000, features made by the server from words and parts of speech; ``kf serve`` and its clients are
processes of their own and share two cores. One sentence per request, 32 connections. Without that corpus,
the letters that come with the package, as rows of numbers. What the clients get is compared with the model's
own answers first.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from kernelfields import CRF

from . import _conll2000 as conll
from ._run import Bar, Result, machine

RATE = 2000
"""Sentences per second that the service has to answer."""
PATH = "/models/model/tag"
KF = "from kernelfields.cli import main; main()"


def run(quick: bool) -> Result:
    seconds, limit = (0.5, 100) if quick else (10.0, None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it is trained for speed
            model, sequences = (_sentences if conll.data_folder().is_dir() else _letters)(limit)
        model.save(folder / "model.kf")
        one, many = _bodies(folder / "one", sequences, 1), _bodies(folder / "many", sequences, 16)
        with _server(folder / "model.kf") as server:
            _check_agreement(server.port, model, sequences[:50])
            _load(server.port, one, 1.0)  # warms up
            full = _load(server.port, one, seconds)
            before = server.seconds()
            half = _load(server.port, one, seconds, "--rate", str(100 if quick else RATE / 2))
            cost = (server.seconds() - before) / max(half["requests"], 1)
            batched = _load(server.port, many, seconds / 2, "--connections", "8")
    failed = full["failed"] + half["failed"] + batched["failed"]
    if failed:
        raise RuntimeError(f"{failed} requests were refused.")
    bars = [
        Bar("sentences_per_second", full["requests_per_second"], at_least=RATE),
        Bar("p99_ms_at_half_rate", half["p99_ms"], at_most=50),
    ]
    loads = [
        {"load": "32 connections, one sentence each", **full},
        {"load": "by the clock at half rate", **half},
        {"load": "8 connections, 16 sentences each", **batched},
    ]
    details = {
        "machine": machine(),
        "server_microseconds_per_request": 1e6 * cost,
        "sentences_per_second_in_sixteens": 16 * batched["requests_per_second"],
        "loads": loads,
    }
    return Result("serve", bars, details)


def _sentences(limit: int | None) -> tuple[Any, list[Any]]:
    from kernelfields.features import TemplateFeatures
    from kernelfields.features.sets import chunking

    train, test = conll.read("train", limit), conll.read("test", limit)
    model = CRF(
        features=TemplateFeatures(chunking(), dtype="float32"), max_iter=30, tol=1e-2, observed_only=True
    )
    return model.fit(train.sentences, train.labels), test.sentences


def _letters(limit: int | None) -> tuple[Any, list[Any]]:
    from kernelfields.datasets import load_letters

    letters = load_letters()
    (X, y), (X_test, _) = letters.split(0), letters.split(1)
    model = CRF(max_iter=30, tol=1e-2).fit(X[:limit], y[:limit])
    return model, [x.tolist() for x in X_test[:limit]]


def _bodies(path: Path, sequences: list[Any], size: int) -> Path:
    groups = (sequences[a : a + size] for a in range(0, len(sequences) - size + 1, size))
    path.write_text("".join(json.dumps({"sequences": group}) + "\n" for group in groups))
    return path


class _Server:
    """A running service."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port = process, port

    def seconds(self) -> float:
        """Time of processors that it has taken so far; 0 where the system does not say."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _server(*models: Path) -> Iterator[_Server]:
    log = models[0].with_suffix(".log")
    command = [sys.executable, "-c", KF, "serve", *map(str, models), "--port", "0"]
    with log.open("w") as said:
        process = subprocess.Popen(command, stderr=said, cwd=conll.ROOT)
    try:
        yield _Server(process, _port(log))
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _port(log: Path) -> int:
    for _ in range(600):
        found = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())
        if found is not None:
            return int(found[1])
        time.sleep(0.1)
    raise RuntimeError(f"The server did not start: {log.read_text()}")


def _load(port: int, bodies: Path, seconds: float, *more: str) -> dict[str, Any]:
    words = [str(port), str(bodies), "--seconds", str(seconds), "--path", PATH, *more]
    command = [sys.executable, "-m", "benchmarks._serve_load", *words]
    done = subprocess.run(command, cwd=conll.ROOT, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def _check_agreement(port: int, model: Any, sequences: list[Any]) -> None:
    """The service gives the labels of the model."""
    client = HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"sequences": sequences})
    client.request("POST", PATH, body, {"Content-Type": "application/json"})
    answer = json.loads(client.getresponse().read())
    client.close()
    if answer.get("labels") != model.predict(sequences):
        raise RuntimeError(f"The service disagrees with the model: {str(answer)[:200]}")
