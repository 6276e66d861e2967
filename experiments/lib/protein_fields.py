"""Kernel CRFs for few chains, and the choice of their settings on held-out chains."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from kernelfields import FreeScores, KernelScores, Parts
from kernelfields.arrays import Array
from kernelfields.decoders import BayesRule
from kernelfields.estimators import KernelCRF
from kernelfields.kernels import RBF

from .folds import pick
from .scored import ScoredSequences

VERTICES, EDGES, MARGINAL = "vertices", "vertices and edges", "vertices, label by label"


class Chains(NamedTuple):
    """Sequences with labels."""

    X: list[Array]
    y: list[Any]

    def take(self, ids: Array) -> Chains:
        """Return some of the chains."""
        return Chains(pick(self.X, ids), pick(self.y, ids))


TuningSets = Sequence[tuple[Chains, Chains]]
"""Training sets, each with chains to judge on."""


class FieldSettings(NamedTuple):
    """Settings of a kernel CRF."""

    gamma: float
    """Of the RBF kernel."""
    penalty: float
    """Of the function of vertices."""
    edge_penalty: float
    """Of label pairs without input."""
    edge_kernel_penalty: float | None = None
    """Of the function of edges, where there is one."""

    def field(self, name: str, tol: float) -> KernelCRF:
        """Return the model that has this name."""
        return KernelCRF(
            RBF(self.gamma),
            penalty=self.penalty,
            parts=Parts(
                edges=FreeScores(penalty=self.edge_penalty),
                edge_kernel=KernelScores(penalty=self.edge_kernel_penalty) if name == EDGES else None,
                bias=None,
            ),
            loss="marginal-log" if name == MARGINAL else "log",
            tol=tol,
            decoder="posterior",
        )


class FieldGrid(NamedTuple):
    """The values that settings are chosen from."""

    gammas: list[float]
    penalties: list[float]
    edge_penalties: list[float]
    edge_kernel_penalties: list[float]
    edge_weights: list[float]
    """Of a boundary missed, where a wrong label weighs 1."""
    least_q3: float
    """Points of Q3 that the edge cost may take while its weight is chosen."""

    def settings(self, name: str) -> list[FieldSettings]:
        """Return all settings of one model."""
        of_edges = self.edge_kernel_penalties if name == EDGES else [None]
        return [
            FieldSettings(*one) for one in product(self.gammas, self.penalties, self.edge_penalties, of_edges)
        ]


class FewChoices(NamedTuple):
    """What was chosen for one model."""

    settings: FieldSettings
    edge_weight: float
    """Finds most boundaries among those that cost little Q3."""
    boundary_weight: float
    """Finds most boundaries."""


def choose_field(name: str, grid: FieldGrid, tuning: TuningSets, tol: float) -> FewChoices:
    """Choose penalties and γ by held-out likelihood, then the weight of boundaries by transition accuracy."""

    def scored(settings: FieldSettings) -> list[ScoredSequences]:
        return [ScoredSequences.of(settings.field(name, tol).fit(*train), *test) for train, test in tuning]

    def likelihood(settings: FieldSettings) -> float:
        return sum(one.log_likelihood() for one in scored(settings))

    best = max(grid.settings(name), key=likelihood)
    return FewChoices(best, *_weights(scored(best), grid))


def _weights(scored: list[ScoredSequences], grid: FieldGrid) -> tuple[float, float]:
    """Return the weight that finds most boundaries, among those that cost little Q3 and among all."""
    found = {}
    for weight in (0.0, *grid.edge_weights):
        judged = [one.judged(boundary_rule(len(one.classes), weight)) for one in scored]
        found[weight] = [float(np.mean([one[name] for one in judged])) for name in ("Q3 %", "transitions %")]
    least = found[0.0][0] - grid.least_q3
    cheap = [weight for weight in found if found[weight][0] >= least]
    return max(cheap, key=lambda w: found[w][1]), max(found, key=lambda w: found[w][1])


def boundary_rule(n_labels: int, weight: float) -> BayesRule:
    """Return the rule of a cost: 1 per wrong label, ``weight`` per true boundary not labelled right."""
    vertex = 1.0 - np.eye(n_labels)
    pairs = 1.0 - np.eye(n_labels**2).reshape((n_labels,) * 4)
    boundary = vertex[:, :, None, None]  # a ≠ b of the true pair
    return BayesRule(vertex, weight * boundary * pairs)
