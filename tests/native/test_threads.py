"""Threads: the same bits on one and on two, no deadlock after a fork, calls from several threads."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kernelfields import native
from kernelfields.structures import ChainBatch


def large(rng, L: int = 9, shared: bool = True, dtype: type = np.float64):
    """Enough work for threads to be used (above a millisecond)."""
    lengths = rng.integers(0, 60, 1000)
    chain = ChainBatch(np.cumsum([0, *lengths]), L, shared)
    return chain, {name: rng.normal(size=shape).astype(dtype) for name, shape in chain.shapes.items()}


def everything(chain: ChainBatch, scores) -> list[np.ndarray]:
    weights = np.linspace(0.1, 2, chain.n_instances)
    found = chain.marginals(scores, weights)
    direction = {name: np.ones_like(array) for name, array in scores.items()}
    covariance = chain.covariance(scores, direction, weights)
    labels, values = chain.kbest(scores, 2)
    return [
        found.log_partition,
        *found.parts.values(),
        *covariance.values(),
        *chain.argmax(scores),
        chain.entropy(scores),
        chain.sample(scores, 2, seed=5),
        labels,
        values,
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
def test_the_same_bits_on_any_number_of_threads(rng, shared: bool, dtype: type) -> None:
    chain, scores = large(rng, shared=shared, dtype=dtype)
    if not any(pool["user_api"] == "openmp" for pool in threadpool_info()):
        pytest.skip("This build has no OpenMP.")
    results = []
    for threads in (1, 2, 3):
        with threadpool_limits(limits=threads, user_api="openmp"):
            results.append(everything(chain, scores))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_seeds(rng) -> None:
    chain, scores = large(rng, L=3)
    first = chain.sample(scores, 3, seed=11)
    np.testing.assert_array_equal(first, chain.sample(scores, 3, seed=11))
    np.testing.assert_array_equal(first[:2], chain.sample(scores, 2, seed=11))
    assert (first != chain.sample(scores, 3, seed=12)).any()
    assert (first[0] != first[1]).any()


def test_several_python_threads_at_once(rng) -> None:
    chain, scores = large(rng)
    other, other_scores = large(rng, L=4)
    wanted, other_wanted = everything(chain, scores), everything(other, other_scores)
    with ThreadPoolExecutor(4) as pool:
        tasks = [
            pool.submit(everything, *(pair))
            for _ in range(3)
            for pair in ((chain, scores), (other, other_scores))
        ]
        for n, task in enumerate(tasks):
            for a, b in zip(task.result(timeout=60), (wanted, other_wanted)[n % 2], strict=True):
                np.testing.assert_array_equal(a, b)


FORK = """
import os
import signal
import numpy as np
from kernelfields import native

rng = np.random.default_rng(0)
# ten times the millisecond of work from which on threads are used
batch = rng.normal(size=(400_000, 9)), rng.normal(size=(9, 9)), np.arange(0, 400_001, 40)
before = native.chain_marginals(*batch)  # a parallel region in the parent
child = os.fork()
if child == 0:
    signal.alarm(20)  # ends a child that waits for ever
    same = all((a == b).all() for a, b in zip(before, native.chain_marginals(*batch)))
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
after = native.chain_marginals(*batch)  # and the parent still works
assert all((a == b).all() for a, b in zip(before, after))
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system cannot fork.")
def test_fork_after_a_parallel_region() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    result = subprocess.run(
        [sys.executable, "-c", FORK], env=environment, timeout=60, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def test_the_global_lock_is_released(rng) -> None:
    """While one thread computes, another Python thread goes on."""
    node = rng.normal(size=(300_000, 12))
    batch = node, rng.normal(size=(12, 12)), np.arange(0, 300_001, 100)
    with ThreadPoolExecutor(1) as pool, threadpool_limits(limits=1, user_api="openmp"):
        task = pool.submit(native.chain_entropy, *batch)
        steps = 0
        while not task.done():
            steps += 1
    assert steps > 1000  # a held lock would let this loop run at most a handful of times
    assert np.isfinite(task.result()).all()
