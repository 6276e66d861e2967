"""The log loss of labelled instances, and the entropy of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import Check, Checked, require_not_negative
from ..errors import UnsupportedError
from ..missing import UNOBSERVED
from ..structures import CovarianceOracle, Scores, StructureBatch
from ._base import Loss, LossValue
from ._differences import derivative_along
from ._search_base import End, Minimiser
from ._settings_base import LossSettings
from .log import LogLoss
from .log_settings import observed_log
from .partial_log import PartialLog


@dataclass(frozen=True)
class EntropyRegularised(Checked, LossSettings):
    """Entropy regularisation, for few labelled and many other sequences: a setting ``loss`` of estimators.

    What is minimised is the log loss of the labelled sequences plus γ times the entropy of the labellings
    of those without any label [jiao2006, eq. 3],

        Σ_labelled −log p(y|x) + γ Σ_unlabelled H(p(·|x)).

    The model is to be sure of itself also where nobody told it the labels, so that labels change where there
    are few observations. That helps where classes keep apart, and makes errors surer where they do not:
    choose γ on labels that are held out. It is **not convex**: the search begins with what is learnt from
    the labels alone, ends in a local minimum near it, and has no certificate. It needs exact sums over
    labellings. Without unlabelled sequences it is the log loss.

    Parameters
    ----------
    weight : float
        γ.
    """

    weight: float = 0.1
    _checks: ClassVar[Mapping[str, Check]] = {"weight": require_not_negative}
    learns_without_labels = True
    labelling_only = True

    def bind(self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None) -> Loss:
        """Return the log loss with the entropies of instances that have vertices and no label."""
        observed = observed_log(batch, outputs, weights)
        counts = np.diff(np.concatenate([[0], np.cumsum(outputs != UNOBSERVED)])[batch.offsets])
        unlabelled = (counts == 0) & (np.diff(batch.offsets) > 0)
        return LogWithEntropy(observed, float(self.weight) * unlabelled) if unlabelled.any() else observed


class LogWithEntropy(Loss):
    """The log loss of what was observed, plus the weighted entropies of some instances,

        Σ_i weight_i (observed_i(θ) + u_i H_i(θ)),     H = g(θ) − ⟨θ, μ(θ)⟩,     gradient of H  −Cov(θ)·θ.

    One covariance product serves all instances. Forbidden parts have probability 0, and no share in it.

    Parameters
    ----------
    observed : LogLoss or PartialLog
        The loss of what was observed, on a structure that differentiates its marginals.
    entropy_weights : (S,) array
        u, how many times the entropy of each instance counts beside its log loss.
    """

    convex = False
    shareable = False

    def __init__(self, observed: LogLoss | PartialLog, entropy_weights: Array) -> None:
        if not isinstance(observed.structure, CovarianceOracle):
            raise UnsupportedError(
                "Entropy regularisation needs exact sums over outputs and their derivatives, which "
                f"{type(observed.structure).__name__} does not give."
            )
        self.observed = observed
        self.structure: CovarianceOracle = observed.structure
        self.entropy_weights = np.asarray(entropy_weights, dtype=np.float64)

    def search(self, minimiser: Minimiser[End], start: Array) -> End:
        """Minimise the loss of what was observed first, then, from there, that with entropies.

        At zero all labellings are equally likely, and the entropy is as flat as a maximum is: from there a
        search could go to any labels.
        """
        first = minimiser.minimise(self.observed, start)
        return minimiser.minimise(self, first.element).add_rounds(first.iterations)

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by the sweeps of the observed loss, entropies, and a covariance product."""
        known, slope = self.observed.at(scores), self._slope(scores)
        entropy = self.entropy_weights * self.structure.entropy(scores)
        weights = self.observed.weights
        total = entropy.sum() if weights is None else np.dot(entropy, weights)
        return known._replace(
            values=known.values + entropy,
            value=known.value + float(total),
            gradient={clique: parts + slope[clique] for clique, parts in known.gradient.items()},
        )

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Return the derivative of the gradient along a direction, for entropies by a central difference."""
        known = self.observed.curvature(scores, direction)
        slope = derivative_along(self._slope, scores, direction)
        return {clique: parts + slope[clique] for clique, parts in known.items()}

    def take(self, ids: npt.ArrayLike) -> LogWithEntropy:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        return LogWithEntropy(self.observed.take(ids), self.entropy_weights[ids])

    def _slope(self, scores: Scores) -> dict[str, Array]:
        """−Σ_i weight_i u_i Cov_i(θ)·θ, in double precision whatever that of the scores."""
        theta = {clique: values.astype(np.float64, copy=False) for clique, values in scores.items()}
        along = {clique: np.where(np.isfinite(values), values, 0.0) for clique, values in theta.items()}
        weights = self.observed.weights
        counted = self.entropy_weights if weights is None else self.entropy_weights * weights
        slope = self.structure.covariance(theta, along, counted)
        return {clique: (-parts).astype(scores[clique].dtype, copy=False) for clique, parts in slope.items()}
