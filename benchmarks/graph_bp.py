"""Damped belief propagation on a grid: all messages at once, as often as asked for.

PGMax does the same iterations on a smaller grid, which takes it as long as is reasonable; times are compared
per edge and iteration, both on one core. Beliefs after the same number of iterations are compared first. The
share of the memory bandwidth counts messages as read twice and written once, beliefs and scores of vertices
as moved once each, against copying memory in the same rounds.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelfields import native
from kernelfields.structures import BeliefPropagation

from . import _pgmax, _run
from ._chains import CORES

LABELS = 8
DAMPING = 0.5


class Size(NamedTuple):
    """How much is measured."""

    side: int
    iterations: int
    rounds: int
    rival_side: int
    rival_iterations: int


FULL = Size(side=500, iterations=100, rounds=3, rival_side=100, rival_iterations=20)
QUICK = Size(side=20, iterations=5, rounds=1, rival_side=10, rival_iterations=3)


class Grid(NamedTuple):
    """A grid with scores; all edges share theirs."""

    side: int
    edges: np.ndarray
    scores: dict[str, np.ndarray]

    def batch(self, iterations: int) -> Any:
        """Return it with so many iterations to go."""
        settings = BeliefPropagation(schedule="flooding", damping=DAMPING, max_iter=iterations, tol=0.0)
        return settings.on([0, self.side**2], self.edges, LABELS)


def draw_grid(side: int) -> Grid:
    """Normal scores on a square grid of four neighbours."""
    random, vertex = np.random.default_rng(0), np.arange(side * side).reshape(side, side)
    across = np.stack([vertex[:, :-1].ravel(), vertex[:, 1:].ravel()], axis=1)
    down = np.stack([vertex[:-1].ravel(), vertex[1:].ravel()], axis=1)
    scores = {
        "node": random.normal(size=(side * side, LABELS)),
        "edge": random.normal(size=(LABELS, LABELS)),
    }
    return Grid(side, np.concatenate([across, down]), scores)


def run(quick: bool) -> _run.Result:
    size = QUICK if quick else FULL
    grid, ceilings = draw_grid(size.side), _run.Ceilings(quick)
    batch = grid.batch(size.iterations)
    batch.log_partition(grid.scores)  # what depends on the shape alone is kept
    sides = {
        "one_core": _run.Side(lambda: batch.log_partition(grid.scores)),
        "all_cores": _run.Side(lambda: batch.log_partition(grid.scores), CORES),
        "copy": ceilings.sides()["copy"],
    }
    seconds = _run.alternate(sides, size.rounds)
    work = len(grid.edges) * size.iterations
    numbers = LABELS * (3 * 2 * len(grid.edges) + 3 * size.side**2) * size.iterations
    copied = 2 * ceilings.source.nbytes / seconds["copy"]
    details: dict[str, Any] = {
        "machine": _run.machine(),
        "instruction_set": native.isa(),
        "pgmax": _pgmax.state(),
        "quick": quick,
        "seconds": {name: seconds[name] for name in ("one_core", "all_cores")},
        "ns_per_edge_and_iteration": 1e9 * seconds["one_core"] / work,
        "share_of_memory_bandwidth": 8 * numbers / seconds["one_core"] / copied,
    }
    bars = []
    if _pgmax.PYTHON:
        rival = _rival(size)
        details["pgmax_ns_per_edge_and_iteration"] = 1e9 * rival
        bars.append(_run.Bar("bp_over_pgmax", rival * work / seconds["one_core"], at_least=5.0))
    return _run.Result("graph_bp", bars, details)


def _rival(size: Size) -> float:
    """Seconds of PGMax per edge and iteration, after a comparison of beliefs."""
    grid = draw_grid(size.rival_side)
    with tempfile.TemporaryDirectory() as folder:
        scores, beliefs = Path(folder, "scores.npz"), Path(folder, "beliefs.npy")
        np.savez(scores, **grid.scores)
        seconds = _pgmax.seconds_per_iteration(
            size.rival_side, LABELS, size.rival_iterations, scores, beliefs
        )
        found = grid.batch(size.rival_iterations).marginals(grid.scores).parts["node"]
        np.testing.assert_allclose(found, np.load(beliefs), atol=1e-4)  # it works in single precision
    return seconds / len(grid.edges)
