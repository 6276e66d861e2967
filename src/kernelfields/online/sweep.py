"""A linear model on its way through a training set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..losses import Log
from ..objective import Problem, Term, slices_of
from ..spaces import Bias, Boundary, FreeEdges, LinearNodes, SparseNodes
from ..structures import Scores, Structure
from ..structures._base import Array
from ._base import Rule
from .examples import Examples, sparse_nodes


class Sweep:
    """The weights of a linear chain, changed by a rule after every sequence.

        score(x, y) = Σ_t ⟨w_{y_t}, x_t⟩ + b_{y_t} + Σ_t V_{y_t, y_{t+1}} + start_{y_1} + end_{y_T}

    One native pass, sequential by nature, in the precision of the features. It gives and takes the
    elements of the spaces, as `Problem` does.

    Parameters
    ----------
    chain : Chain
        The batch, edges sharing their scores.
    terms : sequence of Term
        Features, and of bias, boundaries and free edges those that the model has.
    labels : (N,) integers
        The right labels.
    weights : (S,) array, optional
        How many times each sequence counts.
    offset : scores, optional
        Fixed scores, −inf for what is forbidden.
    """

    def __init__(
        self,
        chain: Structure,
        terms: Sequence[Term],
        labels: Array,
        weights: Array | None = None,
        offset: Scores | None = None,
    ) -> None:
        self.terms = tuple(terms)
        self.examples = Examples.of(chain, terms, labels, weights, offset)
        self.core = self.examples.core()
        self.steps = 0
        """How many sequences have been learnt from."""

    @classmethod
    def of(cls, problem: Problem) -> Sweep:
        """Give the weights of a problem with the log loss."""
        loss = problem.loss
        if not isinstance(loss, Log) or loss.cost is not None or problem.thresholds is not None:
            raise TypeError("Descent is for the log loss without costs and without an ℓ1 penalty.")
        return cls(problem.structure, problem.terms, loss.labels, loss.weights, problem.offset)

    @property
    def decays(self) -> tuple[float, float]:
        """λ/S of the features, bias and boundaries, and of the edges."""
        penalty = {type(term.space): term.penalty for term in self.terms}
        edge = penalty.pop(FreeEdges)
        if len(set(penalty.values())) > 1:
            raise TypeError("Descent needs one penalty for features, bias and boundaries.")
        count = max(self.examples.n_instances, 1)
        return next(iter(penalty.values())) / count, edge / count

    def learn(self, rule: Rule, order: Array) -> float:
        """Go through some sequences, in this order; give the sum of their losses before each change."""
        order = np.ascontiguousarray(order, dtype=np.int64)
        loss = rule.learn(self, order)
        self.steps += len(order)
        return loss

    def begin_average(self) -> None:
        """Average the weights from here on, those of now included."""
        self.core.begin_average()

    def element(self) -> Array:
        """Give the present weights."""
        return self._join(*self.core.weights())

    def average(self) -> Array:
        """Give the mean of the weights over all steps since `begin_average`; else the present ones."""
        return self._join(*self.core.average())

    def load(self, element: Array) -> None:
        """Go on from these weights; an average begun before is dropped."""
        L = self.examples.edge_offset.shape[0]
        free = np.zeros((3 + L, L))
        weights = np.zeros(0)
        for name, place in slices_of(self.terms).items():
            space = next(term.space for term in self.terms if term.name == name)
            if isinstance(space, LinearNodes):
                weights = _sparse(space).element(space.table(element[place]))
            elif isinstance(space, SparseNodes):
                weights = element[place]
            else:
                free[_rows(space, L)] = element[place].reshape(-1, L)
        self.core.load(np.ascontiguousarray(weights, dtype=np.float64), free)

    def _join(self, weights: Array, free: Array) -> Array:
        """Give the element of features and free rows: bias, start, end, then one row per label."""
        pieces = []
        for term in self.terms:
            space = term.space
            if isinstance(space, LinearNodes):
                pieces.append(_sparse(space).table(weights).ravel())
            elif isinstance(space, SparseNodes):
                pieces.append(weights)
            else:
                pieces.append(free[_rows(space, free.shape[1])].ravel())
        return np.concatenate(pieces)


def _rows(space: Any, n_labels: int) -> slice:
    places = {Bias: slice(0, 1), Boundary: slice(1, 3), FreeEdges: slice(3, 3 + n_labels)}
    return places[type(space)]


def _sparse(space: LinearNodes) -> SparseNodes:
    result = sparse_nodes(space)
    assert result is not None
    return result
