"""A scheduler that is killed: fits go on if it comes back in time, and else from their checkpoint."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelfields import CRF, Run, distributed
from kernelfields.distributed import dask_pool
from kernelfields.errors import DistributedError
from tests.distributed._sets import TOKENS, sentences

dask = pytest.importorskip("distributed")
START, LIMIT = 120.0, 600.0
"""Seconds in which a process must have started, and after which all of them are ended, come what may."""


class Programs:
    """A scheduler and a worker, processes of this machine, on a port where another scheduler may follow."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start both, without waiting for them."""
        common = ["--host", "127.0.0.1", "--no-dashboard"]
        worker = ["--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--death-timeout", f"{START:g}"]
        self._scheduler = self._run("dask_scheduler", "--port", str(self._port), *common)
        self._run("dask_worker", f"127.0.0.1:{self._port}", *common, *worker)

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        call = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
        with (self._folder / f"{len(self._running)}.log").open("wb") as log:
            self._running.append(subprocess.Popen(call, cwd=self._folder, stdout=log, stderr=log))
        return self._running[-1]

    def client(self, timeout: float) -> Any:
        """Return a client, which waits for so many seconds for another scheduler if it loses its own."""
        deadline = time.monotonic() + START
        while not self._listens():
            assert time.monotonic() < deadline, "No scheduler has started."
            time.sleep(0.05)
        # Not the default one: fits must ask the client they were given.
        found = dask.Client(f"127.0.0.1:{self._port}", timeout=timeout, set_as_default=False)
        found.wait_for_workers(1, timeout=START)
        return found

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0

    def kill_scheduler(self) -> None:
        """Kill -9; its worker ends by itself."""
        self._scheduler.kill()
        self._scheduler.wait(START)

    def close(self) -> None:
        """End what still runs; a client that waits for it gives up then."""
        for process in reversed(self._running):
            process.kill()
            process.wait(START)


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    found = Programs(tmp_path)
    guard = threading.Timer(LIMIT, found.close)
    guard.start()
    try:
        found.start()
        yield found
    finally:
        guard.cancel()
        found.close()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: Any) -> None:
    """Wait for workers for as long as one takes to start."""
    monkeypatch.setattr(dask_pool, "PATIENCE", 1.0)
    monkeypatch.setattr(dask_pool, "DESERTED", START)


def fitted(backend: Any, callback: Callable[[Any], None], checkpoint: Path | None = None) -> CRF:
    with distributed.use(backend, shards=3):
        model = CRF(0.3, run=Run(callback=callback, checkpoint=checkpoint, checkpoint_seconds=0), **TOKENS)
        return model.fit(*sentences())


def test_a_scheduler_comes_back_and_the_fit_goes_on(programs: Programs, tmp_path: Path) -> None:
    """With the same bits: whatever was lost is submitted again."""
    seen: list[Any] = []

    def restart(progress: Any) -> None:
        seen.append(progress)
        if progress.iteration == 6:
            programs.kill_scheduler()
            programs.start()

    with programs.client(timeout=START) as client:
        found = fitted(client, restart, tmp_path / "state")
    usual: list[Any] = []
    np.testing.assert_array_equal(found.coef_, fitted("threads", usual.append).coef_)
    assert len(seen) == len(usual)
    assert not (tmp_path / "state").exists()


def test_a_scheduler_stays_away_and_the_next_fit_goes_on(programs: Programs, tmp_path: Path) -> None:
    first: list[Any] = []

    def kill(progress: Any) -> None:
        first.append(progress)
        if progress.iteration == 24:
            programs.kill_scheduler()

    with programs.client(timeout=10) as client:
        with pytest.raises(DistributedError, match="checkpoint="):
            fitted(client, kill, tmp_path / "state")
        with pytest.raises(DistributedError, match="client is closed"), distributed.use(client):
            pass
    programs.start()
    second: list[Any] = []
    with programs.client(timeout=START) as client:
        found = fitted(client, second.append, tmp_path / "state")
    usual: list[Any] = []
    expected = fitted("threads", usual.append)
    assert first[-1].iteration == 24
    assert second[0].value == pytest.approx(first[-1].value, rel=1e-9)
    assert len(second) < len(usual)
    assert found.certificate_.value == pytest.approx(expected.certificate_.value, rel=1e-6)
    assert found.predict(sentences()[0]) == expected.predict(sentences()[0])
