"""How to learn from labels that were not observed where sums over labellings are out of reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, optional, proper_share, require_not_negative, require_positive, whole
from ..structures import Scores, StructureBatch
from ._search_base import End, Minimiser
from ._settings_base import ClassWeighted
from .class_weights import vertex_weights
from .pseudo import PseudoLikelihoodLoss


@dataclass(frozen=True)
class VariationalEM(ClassWeighted):
    """Pseudo-likelihood variational EM, for few labels in a large graph: a setting ``loss`` of estimators.

    Scores of label pairs cannot be learnt from observed labels alone if hardly two of them are neighbours. So
    labels that were not observed have *beliefs* q, distributions that are learnt in turn with the scores:

    - E: mean field, q_v ∝ exp(E_q[score with k at v] / T) at vertices without a label, sweep after sweep;
    - M: the penalised pseudo-likelihood with beliefs in place of labels, a convex problem.

    It begins with what is learnt from observed labels alone. The whole is not convex, and more rounds are
    not always better: choose them, like penalties, on labels that are held out. ``certificate_`` is that
    of the last M-step. To label the other vertices of the graph that a model was fitted to, give ``predict``
    the known ones as ``allowed``.

    Parameters
    ----------
    rounds : int
        E and M steps at most.
    weight : float
        How many times a vertex without a label counts in an M-step; one with a label counts once.
    temperature : float
        T. Below 1 beliefs are surer than the scores say: large penalties make them too cautious.
    sweeps : int
        Mean-field sweeps of an E-step at most, all vertices at once.
    step : float
        Share of new beliefs that a sweep takes over, above 0 and at most 1: less than all of them where
        sweeps go back and forth.
    tol : float
        Largest change of a belief at which a step ends.
    seed : int, optional
        For restarts: labels drawn from the first beliefs take their place. If not given, nothing is drawn.
    class_weight : dict or "balanced", optional
        Factor of the loss of each position, by its label; "balanced" means inverse frequencies.
    """

    rounds: int = 2
    weight: float = 0.1
    temperature: float = 1.0
    sweeps: int = 20
    step: float = 1.0
    tol: float = 1e-3
    seed: int | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        **ClassWeighted._checks,
        "rounds": whole(0),
        "weight": require_not_negative,
        "temperature": require_positive,
        "sweeps": whole(0),
        "step": proper_share,
        "tol": require_not_negative,
        "seed": optional(whole(0)),
    }

    learns_without_labels = True
    unruled = "beliefs know no forbidden pairs"

    def bind(
        self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None
    ) -> PseudoLikelihoodLoss:
        """Return the loss of a training set."""
        kappa = vertex_weights(self.class_weight, outputs, classes)
        return PseudoLikelihoodLoss(batch, outputs, weights, kappa, self)

    def alternate(self, observed: PseudoLikelihoodLoss, minimiser: Minimiser[End], start: Array) -> End:
        """Learn from observed labels first, then in turn from beliefs about all others."""
        found = minimiser.minimise(observed, start)
        done, beliefs = 0, self.first(observed, minimiser.scores(found.element))
        for _ in range(self.rounds):
            done, before = done + found.iterations, beliefs
            found = minimiser.minimise(self.expected(observed, beliefs), found.element)
            beliefs = self.beliefs(observed, minimiser.scores(found.element), before)
            if np.abs(beliefs - before).max(initial=0.0) <= self.tol:
                break
        return found.add_rounds(done)

    def first(self, observed: PseudoLikelihoodLoss, scores: Scores) -> Array:
        """Return beliefs to begin with, (N, L): what every vertex says by itself, or labels drawn from it.

        Parameters
        ----------
        observed : PseudoLikelihoodLoss
            The labels that were observed.
        scores : scores
            θ of the batch, learnt from them.
        """
        structure = observed.structure
        apart = {name: np.zeros(shape) for name, shape in structure.shapes.items()}
        apart["node"] = np.asarray(scores["node"], dtype=np.float64)
        even = np.full((structure.n_vertices, structure.n_labels), 1.0 / structure.n_labels)
        q = PseudoLikelihoodLoss(structure, even).conditionals(self._cooled(apart))
        if self.seed is not None:
            drawn = np.random.default_rng(self.seed).random((len(q), 1)) * q.sum(axis=1, keepdims=True)
            label = (np.cumsum(q, axis=1) <= drawn).sum(axis=1)
            q = (np.minimum(label, q.shape[1] - 1)[:, None] == np.arange(q.shape[1])).astype(np.float64)
        return self._with_known(observed, q)

    def beliefs(self, observed: PseudoLikelihoodLoss, scores: Scores, start: Array) -> Array:
        """E-step: return beliefs about every vertex's label, (N, L), certain where it was observed.

        Parameters
        ----------
        observed, scores
            As for `first`.
        start : (N, L) array
            The beliefs before.
        """
        theta, q = self._cooled(scores), self._with_known(observed, start)
        for _ in range(self.sweeps):
            fresh = PseudoLikelihoodLoss(observed.structure, q).conditionals(theta)
            new = self._with_known(observed, (1 - self.step) * q + self.step * fresh)
            change, q = float(np.abs(new - q).max(initial=0.0)), new
            if change <= self.tol:
                break
        return q

    def expected(self, observed: PseudoLikelihoodLoss, beliefs: Array) -> PseudoLikelihoodLoss:
        """M-step: return the loss with beliefs in place of labels that were not observed."""
        known = 1.0 if observed.vertex_weights is None else observed.vertex_weights
        kappa = np.where(observed.labels >= 0, known, self.weight)
        return PseudoLikelihoodLoss(observed.structure, beliefs, observed.weights, kappa)

    def _cooled(self, scores: Scores) -> dict[str, Array]:
        return {name: np.asarray(values, np.float64) / self.temperature for name, values in scores.items()}

    def _with_known(self, observed: PseudoLikelihoodLoss, beliefs: Array) -> Array:
        labels = observed.labels[:, None]
        return np.where(labels >= 0, labels == np.arange(beliefs.shape[1]), beliefs)
