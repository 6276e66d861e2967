"""Labelling in the page: from an accepted sentence to the next question of a model that has learnt from it.

1,000 sentences of CoNLL-2000 are labelled, the others are the pool. Each round accepts one more sentence by
the HTTP interface of the page: it is written to the journal with fsync, the model goes on from the last one
with it, sentences are scored, and the next one comes back with its labels. Rounds are as far apart as the
model needs to settle, which is less than a person needs to read; that time is reported, too. A round whose
model does not know the last sentence counts with the time until it does.
"""

from __future__ import annotations

import http.client
import json
import resource
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

from kernelfields.features import TemplateFeatures
from kernelfields.features.sets import chunking
from kernelfields.files.items import FileData, Item
from kernelfields.labelling.app import application
from kernelfields.labelling.desk import Desk
from kernelfields.labelling.material import Material, material_of
from kernelfields.labelling.news import Newsroom
from kernelfields.labelling.opening import open_desk, tags_for
from kernelfields.web import Guards, guarded, listen

from . import _conll2000 as conll2000
from ._run import Bar, Result, machine

BOUND = 0.3
"""Seconds from one sentence to the next."""


def run(quick: bool) -> Result:
    known, rounds, limit = (40, 3, 120) if quick else (1000, 40, None)
    corpus = conll2000.read("train", limit)
    items = [Item(x, None, [word for word, _ in x], None) for x in corpus.sentences]
    material = material_of(FileData(items, "conll"), TemplateFeatures(chunking(), dtype=np.float32))
    with tempfile.TemporaryDirectory() as folder:
        desk = _opened(material, corpus.labels, Path(folder) / "journal", known)
        with _serving(desk) as port:
            rows = _rounds(desk, port, corpus.labels, rounds)
        desk.close()
    seconds = sorted(row["seconds"] for row in rows)
    details: dict[str, Any] = {"sentences": len(items), "labelled": known, "rounds": rounds}
    for name in ("seconds", "cpu_seconds", "settled_seconds"):
        details[f"median_{name}"] = median(row[name] for row in rows)
    details["worst_seconds"], details["learnt_in_time"] = seconds[-1], sum(row["learnt"] for row in rows)
    bars = [
        Bar("median_seconds", median(seconds), at_most=BOUND),
        Bar("p90_seconds", quantiles(seconds, n=10)[-1], at_most=BOUND),
        Bar("median_cpu_seconds", details["median_cpu_seconds"], at_most=BOUND),
    ]
    return Result("label", bars, {**details, "machine": machine()})


def _opened(material: Material, truth: list[list[str]], path: Path, known: int) -> Desk:
    """Return a desk at which some sentences have been accepted."""
    kinds = sorted({tag[2:] for tags in truth for tag in tags if tag != "O"})
    desk = open_desk(material, path, lambda: tags_for(material, kinds))
    for k in range(known):
        desk.session.apply(desk.session.accept(k, truth[k]))
    desk.accept(known, truth[known])
    assert desk.trainer.wait(desk.session.version, 120, settled=True)
    return desk


def _rounds(desk: Desk, port: int, truth: list[list[str]], rounds: int) -> list[dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    rows = []
    asked = _get(connection, "/api/next")["next"]["item"]
    for _ in range(rounds + 1):
        body = json.dumps({"item": asked, "labels": truth[asked]})
        start, cpu = time.perf_counter(), _cpu()
        connection.request("POST", "/api/accept", body, {"content-type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        seconds = time.perf_counter() - start
        if not answer["learnt"]:
            assert desk.trainer.wait(desk.session.version, 60)
            seconds = time.perf_counter() - start
        used = _cpu() - cpu
        assert desk.trainer.wait(desk.session.version, 60, settled=True)
        settled = time.perf_counter() - start
        rows.append(
            {"seconds": seconds, "cpu_seconds": used, "settled_seconds": settled, "learnt": answer["learnt"]}
        )
        asked = answer["next"]["item"]
        assert not desk.session.sheets[asked].done
    return rows[1:]


def _get(connection: http.client.HTTPConnection, path: str) -> Any:
    connection.request("GET", path)
    return json.loads(connection.getresponse().read())


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@contextmanager
def _serving(desk: Desk) -> Iterator[int]:
    """Serve the page from a thread of this process, whose processor time is counted."""
    import uvicorn

    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(
        uvicorn.Config(guarded(application(desk, Newsroom()), Guards()), log_level="error")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    until = time.monotonic() + 20
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()
