"""Phases of gestures from a few labelled stretches of video: what a graph over all frames adds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import load_gestures
from kernelfields.graphs import NeighborGraph, spread

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.intervals import paired_interval
from .lib.results import Outcome
from .lib.semi_methods import FieldMethod, GraphMethod, SemiMethod, field_methods
from .lib.semi_pool import SequencePool
from .lib.semi_trials import TrialPlan, draw_errors, error_rows, run_trials

RADIAL, GRAPH, BOTH = "kernel CRF, RBF", "kernel CRF, graph", "kernel CRF, RBF + graph"

SPINE = slice(9, 12)
"""Columns of positions; hands and wrists are seen from there."""


@dataclass(frozen=True)
class GesturesSemiSettings:
    """Stretches of video, the graph over their frames, and settings to choose from."""

    max_stretches: int
    frames: int
    """Length of a stretch."""
    sizes: list[int]
    """Labelled stretches."""
    n_trials: int
    test_stretches: int
    n_folds: int
    n_neighbors: int
    n_eigenpairs: int
    epsilons: list[float]
    gammas: list[float]
    penalties: list[float]
    weights: list[float]
    """Of the graph kernel beside the RBF kernel."""
    edge_penalty: float
    alphas: list[float]
    """α of label spreading."""
    tol: float
    seed: int


def run(settings: GesturesSemiSettings, report: Report) -> Outcome:
    """Make one graph over all frames; label some stretches in every trial, and test on others."""
    pool = gestures_pool(settings)
    methods = methods_of(pool, settings)
    plan = TrialPlan(
        settings.sizes, settings.n_trials, settings.test_stretches, settings.n_folds, settings.seed
    )
    errors = run_trials(pool, methods, plan, report)
    fields = [method.gap for method in methods.values() if isinstance(method, FieldMethod)]
    claims = []
    for column, size in enumerate(plan.sizes):
        for name, short in ((GRAPH, "graph"), (BOTH, "rbf_and_graph")):
            low, _ = paired_interval((errors[RADIAL] - errors[name])[:, column].tolist())
            claims.append(Claim(f"{short}_below_rbf_at_{size}_stretches_lower_end", low, at_least=0.0))
    claims.append(Claim("largest_relative_gap", max(fields), at_most=settings.tol))
    details = {
        "errors": {name: found.tolist() for name, found in errors.items()},
        "graph": repr(pool.graph),
        "share of neighbours with equal labels": pool.equal_share(),
    }
    rows = error_rows(errors, plan, RADIAL, "stretches")
    return Outcome("gestures-semi", claims, rows, details, _notes(pool, settings))


def gestures_pool(settings: GesturesSemiSettings) -> SequencePool:
    """Return stretches of all videos, each video on a scale of its own: people and places differ."""
    gestures = load_gestures()
    X: list[Array] = []
    y: list[list[Any]] = []
    for positions, motion, labels in zip(gestures.positions, gestures.motion, gestures.labels, strict=True):
        hands = positions[:, [*range(6), *range(12, 18)]] - np.tile(positions[:, SPINE], 4)
        rows = np.hstack([hands, motion]).astype(np.float64)
        rows = ((rows - rows.mean(axis=0)) / rows.std(axis=0)).astype(np.float32)
        for start in range(0, len(rows) - settings.frames + 1, settings.frames):
            X.append(rows[start : start + settings.frames])
            y.append(labels[start : start + settings.frames])
    chosen = np.random.default_rng(settings.seed).permutation(len(X))[: settings.max_stretches]
    X, y = [X[i] for i in chosen], [y[i] for i in chosen]
    graph = NeighborGraph(settings.n_neighbors).on(np.concatenate(X))
    return SequencePool(X, y, graph, settings.n_eigenpairs, settings.epsilons)


def methods_of(pool: SequencePool, settings: GesturesSemiSettings) -> dict[str, SemiMethod]:
    """Return all methods by name."""
    radial = [pool.radial(gamma) for gamma in settings.gammas]
    graph = [pool.graph_kernel(epsilon) for epsilon in settings.epsilons]
    both = [radial[0] + weight * kernel for weight, kernel in product(settings.weights, graph)]

    def spreading(known: Array, alpha: float) -> Array:
        return spread(pool.graph.adjacency, known, alpha=alpha).probabilities

    kernels = {RADIAL: radial, GRAPH: graph, BOTH: both}
    return {
        **field_methods(pool, kernels, settings.penalties, settings.edge_penalty, settings.tol),
        "label spreading": GraphMethod(pool, settings.alphas, spreading),
    }


def _notes(pool: SequencePool, settings: GesturesSemiSettings) -> list[str]:
    return [
        f"{len(pool.y)} stretches of {settings.frames} frames of seven videos: velocities and accelerations, "
        "and hands and wrists seen from the spine, each video on a scale of its own. One graph over all "
        f"frames, {settings.n_neighbors} nearest neighbours: {pool.graph!r}; of its edges "
        f"{100 * pool.equal_share():.1f} % join frames of equal phase. Means over {settings.n_trials} "
        f"trials, tested on {settings.test_stretches} stretches without labels; 95 % intervals of "
        "differences trial by trial. Settings are chosen in every trial by cross-validation of its labelled "
        "stretches.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw errors of all methods against the number of labelled stretches."""
    draw_errors(outcome, figure, "labelled stretches", "frames wrong, %")


GESTURES_SEMI = Experiment(
    "gestures-semi",
    "Phases of gestures, a few stretches of video with labels: RBF and graph kernels, label spreading",
    "gesture_phase",
    GesturesSemiSettings,
    run,
    draw,
)
