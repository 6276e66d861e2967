"""The exponential loss over label sequences, and the distribution that boosting draws its attention from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..structures import ChainBatch, Scores


class WrongLabellings(NamedTuple):
    """D(i, y) over pairs of a sequence and a wrong labelling, in proportion to their part of the loss."""

    log_loss: float
    """log Σ_i w_i Σ_{y≠y_i} exp(F(x_i, y) − F(x_i, y_i)); −inf if there is no wrong labelling."""
    shares: Array
    """(S,), D(i) = Σ_y D(i, y)."""
    node: Array
    """(T, L), Σ_y D(i, y) (parts of y − parts of y_i) at every position."""
    edge: Array
    """(E, L, L), the same at every pair of neighbours."""


class ExponentialLoss:
    """The sum over all wrong labellings of all sequences [altun2003discriminative, Section 3],

        R(F) = Σ_i w_i Σ_{y≠y_i} exp(F(x_i, y) − F(x_i, y_i)) = Σ_i w_i (1/p(y_i|x_i) − 1),

    p(y|x) ∝ exp F(x, y). Every labelling that scores at least as much as the right one adds w_i or more: R is
    an upper bound of their number, and of the number of sequences that are labelled wrong. The loss and
    D(i, y) follow from one pass of forward-backward, because Σ_y D(i, y) (f(y) − f(y_i)) is, up to R, the
    derivative w_i (E[f|x_i] − f(y_i)) / p(y_i|x_i). There are L^T labellings, so that it is all logarithms.

    Parameters
    ----------
    chain : ChainBatch
        Of the training set, with scores for every edge of its own.
    labels : (T,) array
        The right ones.
    weights : (S,) array, optional
        w_i; 1 if not given.
    fixed : scores, optional
        −inf for what is forbidden.
    """

    def __init__(
        self,
        chain: ChainBatch,
        labels: Array,
        weights: Array | None = None,
        fixed: Mapping[str, Array] | None = None,
    ) -> None:
        self.chain, self.labels, self.fixed = chain, labels, fixed
        with np.errstate(divide="ignore"):
            self.log_weights = np.zeros(chain.n_instances) if weights is None else np.log(weights)

    def balance(self) -> None:
        """Divide w_i by the number of wrong labellings that sequence i has."""
        zero = {clique: np.zeros(shape) for clique, shape in self.chain.shapes.items()}
        _, log_odds, _ = self._gaps(zero)
        self.log_weights = self.log_weights - np.where(np.isfinite(log_odds), log_odds, 0.0)

    def at(self, scores: Scores) -> WrongLabellings:
        """Return loss and distribution for the scores of a function F."""
        gaps, log_odds, parts = self._gaps(scores)
        levels = self.log_weights + log_odds
        highest = levels.max(initial=-np.inf)
        if highest == -np.inf:
            return WrongLabellings(-np.inf, np.zeros(len(gaps)), *(0 * parts[name] for name in parts))
        log_loss = float(highest + np.log(np.exp(levels - highest).sum()))
        inverse = np.exp(self.log_weights + gaps - log_loss)  # w_i / p_i, divided by the loss
        node, edge = parts["node"], parts["edge"]
        chain, labels = self.chain, self.labels
        node[np.arange(len(labels)), labels] -= 1.0
        edge[np.arange(chain.n_edges), labels[chain.edge_tails], labels[chain.edge_heads]] -= 1.0
        node *= np.repeat(inverse, np.diff(chain.offsets))[:, None]
        edge *= np.repeat(inverse, np.diff(chain.edge_offsets))[:, None, None]
        return WrongLabellings(log_loss, np.exp(levels - log_loss), node, edge)

    def _gaps(self, scores: Scores) -> tuple[Array, Array, dict[str, Array]]:
        """Return −log p(y_i|x_i), the logarithm of 1/p(y_i|x_i) − 1, and the marginals."""
        if self.fixed is not None:
            scores = {clique: values + self.fixed[clique] for clique, values in scores.items()}
        value, parts = self.chain.marginals(scores)
        gaps = np.maximum(value - self.chain.score(scores, self.labels), 0.0)
        with np.errstate(divide="ignore"):
            return gaps, gaps + np.log(-np.expm1(-gaps)), dict(parts)
