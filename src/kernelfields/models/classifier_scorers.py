"""Classifiers of positions as scorers of chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .model import Scorer


class LocalClassifier(NamedTuple):
    """Probabilities of labels, from a classifier and a little from nothing."""

    classifier: Any
    """With `predict_proba`, its labels indices; None for the same probabilities everywhere."""
    trust: float
    """How much of the probability the classifier gives out; the rest goes to all labels alike."""
    constant: Array
    """(L,) probabilities, if there is no classifier."""

    def probabilities(self, rows: Any) -> Array:
        """Return p(y|x) of some rows, (N, L)."""
        count, L = rows.shape[0], len(self.constant)
        if self.classifier is None:
            return np.broadcast_to(self.constant, (count, L))
        result = np.full((count, L), (1.0 - self.trust) / L)
        if count:  # classifiers refuse to predict nothing
            labels = np.asarray(self.classifier.classes_, dtype=np.int64)
            result[:, labels] += self.trust * _given_out(self.classifier, rows, len(labels))
        return result


@dataclass(frozen=True, slots=True)
class RatioScorer(Scorer):
    """log p(y_t|x_t) / p(y_t), and steps: p(x, y) of a hidden Markov model, up to p(x_t)."""

    local: LocalClassifier
    shares: Array
    """(L,), p(y)."""
    start: Array
    transitions: Array

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Take logarithms, −inf where a probability is zero."""
        with np.errstate(divide="ignore"):
            # A share of zero is that of a label that no position has: nothing can be said against it here.
            node = np.log(self.local.probabilities(features)) - np.log(np.where(self.shares, self.shares, 1))
            node[batch.first_positions] += np.log(self.start)
            into.update(node=node, edge=np.log(self.transitions))


@dataclass(frozen=True, slots=True)
class ProjectionScorer(Scorer):
    """log p(y_t|y_{t−1}, x_t), each label before with a classifier of its own."""

    first: LocalClassifier
    """Of first positions."""
    after: Sequence[LocalClassifier]
    """One for each label before."""
    own: ClassVar[frozenset[str]] = frozenset({"edge"})

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Ask all classifiers about all positions that follow another one."""
        heads, L = features[batch.edge_heads], batch.n_labels
        node, edge = np.zeros((batch.n_vertices, L)), np.empty((batch.n_edges, L, L))
        with np.errstate(divide="ignore"):
            node[batch.first_positions] = np.log(self.first.probabilities(features[batch.first_positions]))
            for label, local in enumerate(self.after):
                edge[:, label] = np.log(local.probabilities(heads))
        into.update(node=node, edge=edge)


def _given_out(classifier: Any, rows: Any, width: int) -> Array:
    """Return what a classifier says, if it is a distribution over its labels in every row."""
    found = np.asarray(classifier.predict_proba(rows), dtype=np.float64)
    expected = (rows.shape[0], width)
    if found.shape != expected or not (found >= 0).all() or not np.allclose(found.sum(axis=1), 1, atol=1e-3):
        name = type(classifier).__name__
        raise InputError(f"{name}.predict_proba gives no probabilities of {width} labels in every row.")
    return found
