"""The piecewise likelihood: every clique a model of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..structures import BlockProduct, Blocks, Cliques, Scores, StructureBatch, require_feasible
from ._base import LossValue
from ._local_base import LocalLoss, label_sets_of, log_sum, refusal, require_labelled, rounded, softmax_of
from ._settings_base import ClassWeighted
from .class_weights import vertex_weights


@dataclass(frozen=True)
class Piecewise(ClassWeighted):
    """``loss="piecewise"``: the log loss of every clique by itself.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Factor of the loss of each position, by its label; "balanced" means inverse frequencies.
    """

    def bind(
        self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None
    ) -> PiecewiseLoss:
        """Return the loss of a training set."""
        kappa = vertex_weights(self.class_weight, outputs, classes)
        return PiecewiseLoss(batch, outputs, weights, kappa)


class PiecewiseLoss(LocalLoss):
    """The negative log-likelihood with every clique a small model of its own [sutton2005],

        Σ_c w_c (log Σ_z exp θ_c(z) − θ_c(y_c)),     z over the labellings of clique c alone.

    At least the log loss, since labellings of the cliques need not agree; equal to it without edges. In time
    proportional to the number of cliques, on any graph. Convex. Scores of label pairs are learnt from pairs
    alone, so that label frequencies count once per clique: prefer `PseudoLikelihoodLoss` unless cliques have
    inputs of their own.

    Cliques with a vertex of which nothing was observed are left out.

    Parameters
    ----------
    structure : LabelledBatch
        The batch; it need not be able to sum.
    labels : (N,) integers
        The label of every vertex, −1 where none was observed.
    weights : (S,) array, optional
        How many times each instance counts.
    vertex_weights : (N,) array, optional
        κ, how many times each vertex counts; 1 if not given. A clique counts w_c times, the mean of κ over
        its vertices.
    """

    def __init__(
        self,
        structure: StructureBatch,
        labels: Array,
        weights: Array | None = None,
        vertex_weights: Array | None = None,
    ) -> None:
        self.structure = require_labelled(structure, "piecewise likelihood")
        self.labels = np.ascontiguousarray(labels, dtype=np.int32)
        self.weights = weights
        self.vertex_weights = vertex_weights

    def judge(self, structure: StructureBatch, outputs: Array) -> PiecewiseLoss:
        """Return the same loss of held-out outputs: there may be no sums over them."""
        return PiecewiseLoss(structure, outputs)

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient."""
        values, total, gradient = np.zeros(self.structure.n_instances), 0.0, {}
        for name, pieces in self._pieces.items():
            table = np.asarray(scores[name], dtype=np.float64)
            losses = pieces.losses(table)
            forbidden = np.flatnonzero(losses == np.inf)
            if len(forbidden):
                raise refusal(self.structure, int(pieces.cliques.members[forbidden[0], 0]))
            each, sum_of_type = self._summed(losses, pieces.cliques.offsets)
            values += each
            total += sum_of_type
            gradient[name] = pieces.expected(table) - pieces.observed
        require_feasible(values, self.structure.words)
        return LossValue(values, total, rounded(gradient, scores))

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Return the product with the blocks, which are all there is."""
        blocks = self.blocks(scores)
        product = {
            name: block.times(np.asarray(direction[name], np.float64)) for name, block in blocks.items()
        }
        return rounded(product, scores)

    def blocks(self, scores: Scores) -> dict[str, BlockProduct]:
        """w_c (diag(p_c) − p_c p_cᵀ)."""
        return {
            name: pieces.blocks(np.asarray(scores[name], np.float64)) for name, pieces in self._pieces.items()
        }

    def expected(self, scores: Scores) -> dict[str, Array]:
        """w_c p_c, added up where cliques share scores."""
        return {
            name: pieces.expected(np.asarray(scores[name], np.float64))
            for name, pieces in self._pieces.items()
        }

    def take(self, ids: npt.ArrayLike) -> PiecewiseLoss:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        rows = rows_of(self.structure.offsets, ids)
        weights = None if self.weights is None else self.weights[ids]
        kappa = None if self.vertex_weights is None else self.vertex_weights[rows]
        return PiecewiseLoss(self.structure.take(ids), self.labels[rows], weights, kappa)

    @cached_property
    def _pieces(self) -> dict[str, Pieces]:
        return {name: self._pieces_of(cliques) for name, cliques in self.structure.cliques.items()}

    def _pieces_of(self, cliques: Cliques) -> Pieces:
        members = cliques.members
        kappa: Array = np.asarray((self.labels >= 0)[members].all(axis=1), dtype=np.float64)
        if self.vertex_weights is not None:
            kappa *= np.asarray(self.vertex_weights, dtype=np.float64)[members].mean(axis=1)
        counted = kappa if self.weights is None else kappa * np.repeat(self.weights, np.diff(cliques.offsets))
        chosen = tuple(np.maximum(self.labels[column], 0) for column in members.T)
        places = np.ravel_multi_index(chosen, cliques.values)
        return Pieces(cliques, kappa, counted, places, _allowed(label_sets_of(self.structure), members))


class Pieces(NamedTuple):
    """All cliques of one type, as many models: a row each, or one for all where they are alike."""

    cliques: Cliques
    kappa: Array
    """How many times each counts, the weight of its instance aside; 0 where a label is unknown."""
    counted: Array
    """w_c, the weight of the instance included."""
    places: Array
    """Where each finds its observed labelling among all of its own."""
    allowed: Array | None
    """(C, L^a), the labellings each can have; None for all."""

    @property
    def alike(self) -> bool:
        """Whether one row stands for all."""
        return self.cliques.shared and self.allowed is None

    def rows(self, table: Array) -> Array:
        """Return scores, a row for every clique or one for all, −inf for what cannot be."""
        count = 1 if self.cliques.shared else len(table)
        rows = table.reshape(count, int(np.prod(self.cliques.values)))
        return rows if self.allowed is None else np.where(self.allowed, rows, -np.inf)

    def losses(self, table: Array) -> Array:
        """κ_c (log Σ_z exp θ_c(z) − θ_c(y_c))."""
        rows = self.rows(table)
        observed = rows[0, self.places] if self.alike else rows[np.arange(len(self.places)), self.places]
        used = self.kappa > 0
        difference = np.where(used, log_sum(rows), 0.0) - np.where(used, observed, 0.0)
        return np.where(used, self.kappa * difference, 0.0)

    def blocks(self, table: Array) -> Blocks:
        """Return the distribution of every clique by itself."""
        weights = np.array([self.counted.sum()]) if self.alike else self.counted
        return Blocks(softmax_of(self.rows(table)), weights, self.cliques.shared)

    def expected(self, table: Array) -> Array:
        """w_c p_c, added up where cliques share scores."""
        block = self.blocks(table)
        assert block.weights is not None
        if self.cliques.shared:
            return np.asarray(block.weights @ block.marginals).reshape(table.shape)
        return np.asarray(block.weights[:, None] * block.marginals).reshape(table.shape)

    @property
    def observed(self) -> Array:
        """w_c parts(y_c)."""
        shape = self.cliques.shape
        if self.cliques.shared:
            return np.bincount(self.places, self.counted, int(np.prod(shape))).reshape(shape)
        result = np.zeros((len(self.places), int(np.prod(self.cliques.values))))
        result[np.arange(len(result)), self.places] = self.counted
        return result.reshape(shape)


def _allowed(sets: Array | None, members: Array) -> Array | None:
    """(C, L^a): which labellings the sets of its vertices leave to each clique."""
    if sets is None:
        return None
    result = np.ones((len(members), 1), dtype=bool)
    for column in members.T:
        pairs = result[:, :, None] & sets[column][:, None, :]
        result = pairs.reshape(len(members), pairs.shape[1] * pairs.shape[2])
    return result
