"""Marginals of segments beside a chain, where all lengths score alike and where not, and beside rivals.

flash-semicrf and torch-struct do the same on the same scores, in double precision, with as many threads, in a
process of their own (see `_segment_rivals`), and their marginals are compared first. Memory is what a process
grows by while it computes; ours counts the marginals that it returns, too.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelfields import native
from kernelfields.structures import SegmentBatch

from . import _parsing_rivals, _run, _segment_rivals
from ._chains import CORES, Batch


class Case(NamedTuple):
    """What is compared with a rival: so many sequences, positions of each, labels, lengths told apart."""

    sequences: int
    positions: int
    labels: int
    longest: int


class Size(NamedTuple):
    """How much is measured."""

    labels: tuple[int, ...]
    mean_lengths: tuple[int, ...]
    longest: tuple[int, ...]
    positions: int
    rounds: int
    cases: dict[str, Case]
    rival_rounds: int


FULL = Size(
    (3, 9, 26),
    (25, 1000),
    (1, 4, 16, 64),
    positions=100_000,
    rounds=7,
    cases={"flash_semicrf": Case(1, 1_000, 24, 100), "torch_struct": Case(4, 40, 6, 10)},
    rival_rounds=2,
)
QUICK = Size(
    (3,),
    (25,),
    (1, 4),
    positions=1_000,
    rounds=1,
    cases={"flash_semicrf": Case(1, 40, 3, 5), "torch_struct": Case(2, 20, 3, 5)},
    rival_rounds=1,
)


def run(quick: bool) -> _run.Result:
    size = QUICK if quick else FULL
    rows = [_beside_a_chain(size, L, mean) for L in size.labels for mean in size.mean_lengths]
    rivals = [_beside(rival, case, size) for rival, case in size.cases.items() if _parsing_rivals.has(rival)]
    details: dict[str, Any] = {
        "machine": _run.machine(),
        "instruction_set": native.isa(),
        "rivals": _parsing_rivals.state(),
        "quick": quick,
        "times_chain": rows,
        "times_rivals": rivals,
    }
    bars = [_run.Bar("k1_over_chain", max(row["K1"] for row in rows), at_most=1.5)]
    bars += [
        _run.Bar(f"{row['rival']}_over_ours", min(row[f"{cores}_ratio"] for cores in CORES), at_least=20.0)
        for row in rivals
    ]
    return _run.Result("segments", bars, details)


def _beside_a_chain(size: Size, labels: int, mean: int) -> dict[str, Any]:
    """Time segments whose lengths are told apart up to K, in multiples of a chain's time, on one core."""
    batch = Batch.draw(labels, mean, size.positions)
    theta = batch.scores["float64"]
    wanted = batch.chain.marginals(theta)
    sides = {"chain": _run.Side(lambda: batch.chain.marginals(theta))}
    for K in size.longest:
        segments = SegmentBatch(batch.chain.offsets, labels, np.arange(1, K + 1))
        scores = {**theta, "duration": np.zeros((K, labels))}
        found = segments.marginals(scores)
        np.testing.assert_allclose(found.log_partition, wanted.log_partition, rtol=1e-10)
        np.testing.assert_allclose(found.parts["node"], wanted.parts["node"], atol=1e-8)
        sides[f"K{K}"] = _run.Side(lambda segments=segments, scores=scores: segments.marginals(scores))
    seconds = _run.alternate(sides, size.rounds)
    row: dict[str, Any] = {"L": labels, "mean_length": mean, "chain_ms": 1e3 * seconds["chain"]}
    return row | {f"K{K}": seconds[f"K{K}"] / seconds["chain"] for K in size.longest}


def _beside(rival: str, case: Case, size: Size) -> dict[str, Any]:
    """Time a rival at equal threads; refuse to, if it computes something else."""
    S, T, L, K = case
    random = np.random.default_rng(0)
    node, edge = random.normal(size=(S, T, L)), random.normal(size=(L, L))
    duration = random.normal(size=(K, L))
    batch = SegmentBatch(np.arange(S + 1) * T, L, np.arange(1, K + 2))
    ours = node.copy()
    changes = np.where(np.eye(L, dtype=bool), -np.inf, edge)
    ours[:, 0] += np.logaddexp.reduce(changes, axis=0)  # their first segment changes from any label
    # Staying costs nothing, and no run is longer than K.
    theta = {
        "node": ours.reshape(-1, L),
        "edge": np.where(np.eye(L, dtype=bool), 0.0, edge),
        "duration": np.vstack([duration, np.full((1, L), -np.inf)]),
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = batch.marginals(theta)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    seconds = _run.alternate(
        {name: _run.Side(lambda: batch.marginals(theta), threads) for name, threads in CORES.items()},
        size.rounds,
    )
    row: dict[str, Any] = {"rival": rival, "T": T, "L": L, "K": K, "sequences": S, "kilobytes": float(grown)}
    with tempfile.TemporaryDirectory() as folder:
        given, theirs = Path(folder, "scores.npz"), Path(folder, "marginals.npz")
        np.savez(given, node=node, edge=edge, duration=duration)
        for cores, threads in CORES.items():
            took = _segment_rivals.timed(rival, given, theirs, threads, size.rival_rounds)
            with np.load(theirs) as file:
                np.testing.assert_allclose(file["value"], found.log_partition, rtol=1e-6)
                np.testing.assert_allclose(file["node"].reshape(-1, L), found.parts["node"], atol=1e-4)
            row[f"{cores}_ms"] = 1e3 * seconds[cores]
            row[f"rival_{cores}_ms"] = 1e3 * took["seconds"]
            row[f"{cores}_ratio"] = took["seconds"] / seconds[cores]
            row["rival_kilobytes"] = took["kilobytes"]
    return row
