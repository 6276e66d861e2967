"""How much labels say about observations: what clustering maximises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import Check, Checked, require_flag, require_not_negative, whole
from ..errors import InputError
from ..structures import CovarianceOracle, EdgeBatch, Scores, StructureBatch
from ._base import Loss, LossValue
from ._differences import derivative_along
from ._search_base import End, Minimiser
from ._settings_base import LossSettings
from .partial_log import PartialLog


@dataclass(frozen=True)
class InformationMaximisation(Checked, LossSettings):
    """Regularised information maximisation: a setting ``loss`` of estimators that learn without labels.

    What is maximised is how much labels say about observations [gomes2010, eq. 1-3],

        c N H(p̄) − Σ_s H(p(·|x_s)),       p̄ = the mean of p(y_v|x) over all N vertices,

    less the penalty. The model is to be sure of every labelling, and to use all labels. Entropies of
    labellings are those of the whole structure, so that the labels of neighbours make each other sure. The
    labels in y are where the search begins; they count for nothing after that. `FieldClustering` sets this
    up. Scores of label pairs must not be learnt with it: a cycle of labels that looks at no observation has
    a small entropy and uses all labels.

    Parameters
    ----------
    balance : float
        c. Above 1 clusters become more alike in size.
    first : int
        Iterations with the labels in y.
    by_instance : bool
        Whether p̄ is the mean over instances, at their sources, and N their number: where an instance has one
        label for all its vertices.
    """

    balance: float = 1.0
    first: int = 20
    by_instance: bool = False
    _checks: ClassVar[Mapping[str, Check]] = {
        "balance": require_not_negative,
        "first": whole(0),
        "by_instance": require_flag,
    }

    def bind(
        self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None
    ) -> Information:
        """Return the loss of a training set, whose outputs are the labels to begin with."""
        return Information(batch, self, outputs, weights)


class Information(Loss):
    """Σ_s weight_s H_s(θ) − c N H(p̄), N the sum of weights over all vertices that count, and its gradient

        Cov(θ)·d,      d = −θ everywhere,  + c log p̄ at vertices that count,

    by one covariance product: that of an entropy is −Cov(θ)·θ, and p̄ depends on θ by the marginals, whose
    derivative is the covariance. Forbidden parts have probability 0, and no share in it.

    Parameters
    ----------
    structure : CovarianceOracle
        The batch.
    settings : InformationMaximisation
        c, and how to begin.
    labels : (N,) integers
        Labels to begin with; −1 for none.
    weights : (S,) array, optional
        How many times each instance counts.
    """

    convex = False
    shareable = False

    def __init__(
        self,
        structure: StructureBatch,
        settings: InformationMaximisation,
        labels: Array,
        weights: Array | None = None,
    ) -> None:
        if not isinstance(structure, CovarianceOracle) or not isinstance(structure, EdgeBatch):
            raise InputError(
                "Information maximisation needs exact sums over labellings and their derivatives, which "
                f"{type(structure).__name__} does not give."
            )
        self.structure: CovarianceOracle = structure
        self.settings, self.labels, self.weights = settings, labels, weights
        n_labels = structure.n_labels
        known = (labels[:, None] < 0) | (labels[:, None] == np.arange(n_labels))
        self.begin = PartialLog(structure, known, weights)
        """The log loss of the labels to begin with."""
        self._counted = np.ones(structure.n_vertices)
        if settings.by_instance:
            self._counted = np.isin(np.arange(structure.n_vertices), structure.sources).astype(np.float64)
        owner = np.repeat(np.arange(structure.n_instances), np.diff(structure.offsets))
        self._sizes = np.bincount(owner, self._counted, structure.n_instances)

    def search(self, minimiser: Minimiser[End], start: Array) -> End:
        """Fit to the labels to begin with, then, from there, maximise information."""
        element, done = minimiser.advance(self.begin, start, self.settings.first)
        return minimiser.minimise(self, element).add_rounds(done)

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient; instances share in the entropy of p̄ by the vertices of theirs that count."""
        theta = {clique: values.astype(np.float64, copy=False) for clique, values in scores.items()}
        entropies, shares = self.structure.entropy(theta), self.shares(theta)
        c = self.settings.balance
        values = entropies - c * self._sizes * _entropy(shares)
        total = values.sum() if self.weights is None else np.dot(values, self.weights)
        slope = self._slope(theta)
        gradient = {clique: parts.astype(scores[clique].dtype, copy=False) for clique, parts in slope.items()}
        return LossValue(values, float(total), gradient)

    def shares(self, scores: Scores) -> Array:
        """p̄, the mean probability of every label, (L,)."""
        node = self._counted @ self.structure.marginals(scores, self.weights).parts["node"]
        total = float(node.sum())
        return node / total if total else np.full(len(node), 1.0 / len(node))

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Return the derivative of the gradient along a direction, by a central difference."""
        return derivative_along(self._slope, scores, direction)

    def take(self, ids: npt.ArrayLike) -> Information:
        """Return the loss of some instances, whose p̄ is the mean over these only."""
        ids = np.asarray(ids, dtype=np.int64)
        weights = None if self.weights is None else self.weights[ids]
        labels = self.structure.cut_outputs(self.labels, ids)
        return Information(self.structure.take(ids), self.settings, labels, weights)

    def _slope(self, theta: Scores) -> dict[str, Array]:
        """Cov(θ)·(−θ + c log p̄)."""
        along = {clique: np.where(np.isfinite(values), -values, 0.0) for clique, values in theta.items()}
        towards = self.settings.balance * _log(self.shares(theta))
        along["node"] = along["node"] + self._counted[:, None] * towards
        return self.structure.covariance(theta, along, self.weights)


def _entropy(shares: Array) -> float:
    return -float(np.dot(shares, _log(shares)))


def _log(shares: Array) -> Array:
    """Logarithms, 0 for what has no probability and hence no derivative."""
    return np.log(np.where(shares > 0, shares, 1.0))
