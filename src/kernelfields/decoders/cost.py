"""The Bayes rule for other costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import require_unmasked, require_whole, shown
from ..errors import InputError
from ..structures import (
    ApproximateSample,
    EdgeBatch,
    KBestOracle,
    LabelledBatch,
    SampleOracle,
    Scores,
    StructureBatch,
    drawn_outputs,
)
from ._base import Decoder, best_allowed, marginals_of, require


@dataclass(frozen=True)
class BayesRule(Decoder):
    """argmin_y Σ_y' p(y'|x) Δ(y', y) for a cost that adds up over vertices and edges [altun2006, 1.1].

    Expected clique costs come from the marginals; the labelling with the lowest total is found by
    max-product. Forbidden labels and pairs stay forbidden.

    Parameters
    ----------
    vertex_cost : (L, L) array, optional
        Cost of predicting the column where the row is true.
    edge_cost : (L, L, L, L) array, optional
        Cost of predicting the pair of the last two indices where that of the first two is true.
    """

    vertex_cost: Array | None = None
    edge_cost: Array | None = None
    chooses_allowed: ClassVar[bool] = True

    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return the labels with the lowest expected cost."""
        L = require(structure, LabelledBatch, "The Bayes rule").n_labels
        vertex_cost = _cost("vertex_cost", self.vertex_cost, (L,) * 2)
        edge_cost = _cost("edge_cost", self.edge_cost, (L,) * 4)
        if edge_cost is not None:
            require(structure, EdgeBatch, "A cost of edges")
            structure = structure.untied(["edge"])
            scores = structure.spread(scores)
        marginals = marginals_of(structure, scores, "The Bayes rule")
        gains: dict[str, Array] = {}
        if vertex_cost is not None:
            gains["node"] = -(marginals["node"] @ vertex_cost)
        if edge_cost is not None:
            gains["edge"] = -np.einsum("eab,abcd->ecd", marginals["edge"], edge_cost, optimize=True)
        return best_allowed(structure, scores, gains)


def _cost(name: str, given: Any, shape: tuple[int, ...]) -> Array | None:
    """Return a table of costs as numbers."""
    if given is None:
        return None
    require_unmasked(given, name, "write 0 for what costs nothing")
    table = np.asarray(given)
    if table.dtype.kind not in "biuf" or table.shape != shape or not np.isfinite(table).all():
        raise InputError(
            f"{name} is {table.dtype} of shape {table.shape}; it must have finite numbers and shape {shape}."
        )
    return table.astype(np.float64)


class Candidates(ABC):
    """Outputs to choose among, with weights that stand for their probabilities."""

    @abstractmethod
    def of(self, structure: StructureBatch, scores: Scores) -> tuple[Array, Array]:
        """Outputs (one row each) and their weights (one row per instance)."""


@dataclass(frozen=True)
class Best(Candidates):
    """The k best labellings, weighted by their probability among themselves."""

    k: int = 50

    def __post_init__(self) -> None:
        """Refuse a number that is none."""
        require_whole("k", self.k)

    def of(self, structure: StructureBatch, scores: Scores) -> tuple[Array, Array]:
        """By list Viterbi."""
        labels, value = require(structure, KBestOracle, "Choosing among the k best").kbest(scores, self.k)
        weights = np.exp(value - value[:, :1])
        return labels, weights / weights.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Draws(Candidates):
    """Samples, exact where the structure can draw them, all of the same weight."""

    count: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        require_whole("count", self.count)
        require_whole("seed", self.seed, 0)

    def of(self, structure: StructureBatch, scores: Scores) -> tuple[Array, Array]:
        """By forward filtering, backward sampling."""
        if isinstance(structure, ApproximateSample):
            draw = structure.approximate_sample
        else:
            draw = require(structure, SampleOracle, "Choosing among samples").sample
        labels = drawn_outputs(draw, scores, self.count, self.seed)
        return labels, np.full((structure.n_instances, self.count), 1.0 / self.count)


@dataclass(frozen=True)
class MinimumRisk(Decoder):
    """The Bayes rule for any cost, such as 1 − F1, over a set of candidates.

    argmin_{y ∈ C} Σ_{y' ∈ C} p(y'|x) Δ(y', y), for every instance.

    Parameters
    ----------
    cost : callable
        ``cost(true, predicted)`` of two integer arrays, outputs of one instance such as its labels.
    candidates : Candidates
        Where C comes from.
    """

    cost: Callable[[Array, Array], float]
    candidates: Candidates = Best()

    def __post_init__(self) -> None:
        """Refuse what is no cost, and what makes no candidates."""
        if not callable(self.cost):
            raise InputError(f"cost is {shown(self.cost)}; it must be a function of two arrays.")
        if not isinstance(self.candidates, Candidates):
            raise InputError(
                f"candidates is {shown(self.candidates)}; it must be Best(k) or Draws(count), say."
            )

    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return the labels of the candidate with the lowest expected cost."""
        labels, weights = self.candidates.of(structure, scores)
        result = labels[0].copy()
        for s, (a, b) in enumerate(pairwise(structure.output_offsets)):
            rows = np.flatnonzero(weights[s] > 0)
            unique, which = np.unique(labels[rows, a:b], axis=0, return_inverse=True)
            mass = np.bincount(which.ravel(), weights[s, rows], minlength=len(unique))
            risk = [
                sum(p * self.cost(true, guess) for p, true in zip(mass, unique, strict=True))
                for guess in unique
            ]
            result[a:b] = unique[int(np.argmin(risk))]
        return result
