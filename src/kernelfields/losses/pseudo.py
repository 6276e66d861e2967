"""The pseudo-likelihood: every label given those around it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..errors import InputError
from ..structures import BlockProduct, Scores, StructureBatch, require_feasible
from ._base import LossValue
from ._conditionals import ConditionalBlocks, Conditionals, Softmax
from ._local_base import LocalLoss, label_sets_of, log_sum, refusal, require_labelled, rounded, softmax_of
from ._search_base import End, Minimiser
from ._settings_base import ClassWeighted
from .class_weights import vertex_weights

if TYPE_CHECKING:
    from .variational_em import VariationalEM


@dataclass(frozen=True)
class PseudoLikelihood(ClassWeighted):
    """``loss="pseudo"``: Σ_t −log p(y_t | labels around it, x).

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Factor of the loss of each position, by its label; "balanced" means inverse frequencies.
    """

    def bind(
        self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None
    ) -> PseudoLikelihoodLoss:
        """Return the loss of a training set."""
        kappa = vertex_weights(self.class_weight, outputs, classes)
        return PseudoLikelihoodLoss(batch, outputs, weights, kappa)


class PseudoLikelihoodLoss(LocalLoss):
    """The negative log of every label's probability given all others [besag1975],

        −Σ_v κ_v log p(y_v | y of its neighbours, x),     gradient  Aᵀ κ(p − y),

    with (Aθ)[v, k] = Σ_c θ_c(y with k at v) over the cliques of v, and p_v the softmax of its row. No sum
    over labellings: any graph, cliques of any size, in time proportional to their number. Convex, and
    consistent: with data enough it finds the same scores as the likelihood. Without edges it is the log loss.

    Vertices of which nothing was observed are left out, and with them all cliques they belong to: the
    loss is that of the graph between observed vertices. With *distributions* in place of labels it is the
    M-step of variational EM: scores are expected over the labels around, and the cross entropy takes the
    place of the logarithm.

    Parameters
    ----------
    structure : LabelledBatch
        The batch; it need not be able to sum.
    labels : (N,) integers or (N, L) array
        The label of every vertex, −1 where none was observed; or the distribution of every vertex's
        label, all zeros where nothing is known.
    weights : (S,) array, optional
        How many times each instance counts.
    vertex_weights : (N,) array, optional
        κ, how many times each vertex counts; 1 if not given.
    unobserved : VariationalEM, optional
        How a fit learns from vertices without a label; they are left out if it is not given.
    """

    def __init__(
        self,
        structure: StructureBatch,
        labels: Array,
        weights: Array | None = None,
        vertex_weights: Array | None = None,
        unobserved: VariationalEM | None = None,
    ) -> None:
        self.structure = require_labelled(structure, "pseudo-likelihood")
        self.labels = _read(labels, self.structure.n_vertices, self.structure.n_labels)
        self.weights = weights
        self.vertex_weights = vertex_weights
        self.unobserved = unobserved
        self.shareable = unobserved is None
        self._conditionals = Conditionals(self.structure, self.labels)

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient."""
        lines, softmax = self._at(scores)
        target = self._target
        observed = (target * np.where(target > 0, lines, 0.0)).sum(axis=1)
        forbidden = np.flatnonzero(observed == -np.inf)
        if len(forbidden):
            raise refusal(self.structure, int(forbidden[0]))
        losses = np.where(self._conditionals.seen, self._kappa * (log_sum(lines) - observed), 0.0)
        values, total = self._summed(losses, self.structure.offsets)
        require_feasible(values, self.structure.words)
        gradient = self._conditionals.adjoint(softmax.counted[:, None] * (softmax.probabilities - target))
        return LossValue(values, total, rounded(gradient, scores))

    def search(self, minimiser: Minimiser[End], start: Array) -> End:
        """Minimise; where labels were not observed, in turn with beliefs about them."""
        if self.unobserved is None:
            return minimiser.minimise(self, start)
        return self.unobserved.alternate(self, minimiser, start)

    def judge(self, structure: StructureBatch, outputs: Array) -> PseudoLikelihoodLoss:
        """Return the same loss of held-out outputs: there may be no sums over them."""
        return PseudoLikelihoodLoss(structure, outputs)

    def conditionals(self, scores: Scores) -> Array:
        """Return p(y_v | the others) of every vertex, (N, L); with beliefs, a sweep of mean field."""
        return self._at(scores)[1].probabilities

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Aᵀ κ (diag(p) − p pᵀ) A d."""
        softmax = self._at(scores)[1]
        along = softmax.times(self._conditionals.scores(direction))
        return rounded(self._conditionals.adjoint(along), scores)

    def blocks(self, scores: Scores) -> dict[str, BlockProduct]:
        """Return the same without what one clique has to do with another."""
        softmax = self._at(scores)[1]
        return {name: ConditionalBlocks(sides, softmax) for name, sides in self._conditionals.sides.items()}

    def expected(self, scores: Scores) -> dict[str, Array]:
        """Aᵀ κ p."""
        softmax = self._at(scores)[1]
        return self._conditionals.adjoint(softmax.counted[:, None] * softmax.probabilities)

    def take(self, ids: npt.ArrayLike) -> PseudoLikelihoodLoss:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        rows = rows_of(self.structure.offsets, ids)
        weights = None if self.weights is None else self.weights[ids]
        kappa = None if self.vertex_weights is None else self.vertex_weights[rows]
        return PseudoLikelihoodLoss(
            self.structure.take(ids), self.labels[rows], weights, kappa, self.unobserved
        )

    def _at(self, scores: Scores) -> tuple[Array, Softmax]:
        """Aθ, −inf for labels that vertices cannot have, and its softmax."""
        lines = self._conditionals.scores(scores)
        sets = label_sets_of(self.structure)
        if sets is not None:
            lines[~sets] = -np.inf
        return lines, Softmax(softmax_of(lines), self._counted)

    @cached_property
    def _target(self) -> Array:
        """(N, L), what p is compared with; zeros where nothing is known."""
        if self.labels.ndim == 2:
            return self.labels
        return np.asarray(self.labels[:, None] == np.arange(self.structure.n_labels), dtype=np.float64)

    @cached_property
    def _kappa(self) -> Array:
        """How many times each vertex counts, the weight of its instance aside."""
        if self.vertex_weights is None:
            return np.ones(self.structure.n_vertices)
        return np.asarray(self.vertex_weights, dtype=np.float64)

    @cached_property
    def _counted(self) -> Array:
        kappa = np.where(self._conditionals.seen, self._kappa, 0.0)
        return kappa if self.weights is None else kappa * self.structure.per_output(self.weights)


def _read(given: Array, vertices: int, labels: int) -> Array:
    """Return labels as integers, or distributions as numbers."""
    known = np.asarray(given)
    if known.ndim == 2:
        if known.shape != (vertices, labels):
            raise InputError(f"Distributions have shape {known.shape}, expected ({vertices}, {labels}).")
        return np.ascontiguousarray(known, dtype=np.float64)
    return np.ascontiguousarray(known, dtype=np.int32)
