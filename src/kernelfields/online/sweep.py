"""A linear model on its way through a training set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..objective import LinearChainData, Offsets, Problem, Term, slices_of
from ..objective.linear_chain import BIAS, BOUNDARIES, EDGES, FEATURES, kind_of
from ..spaces import BoundSpace
from ..structures import ChainBatch, StructureBatch
from ._base import OnlineRule
from .examples import Examples

NEGLIGIBLE = 1e-7
"""Probabilities that are wrong by less are passed over by descent."""


class Sweep:
    """The weights of a linear chain, changed by a rule after every sequence.

        score(x, y) = Σ_t ⟨w_{y_t}, x_t⟩ + b_{y_t} + Σ_t V_{y_t, y_{t+1}} + start_{y_1} + end_{y_T}

    One native pass, sequential by nature. It gives and takes the elements of the spaces, as
    `LinearChainData` does.

    Parameters
    ----------
    chain : ChainBatch
        The batch, edges sharing their scores.
    terms : sequence of Term
        Sparse features, free edges, and bias and boundaries if the model has them.
    labels : (N,) integers
        The right labels.
    weights : (S,) array, optional
        How many times each sequence counts.
    fixed : Offsets, optional
        Fixed scores, −inf for what is forbidden.
    dtype : dtype, optional
        Precision of weights and scores: that of the features unless given.
    """

    def __init__(
        self,
        chain: StructureBatch,
        terms: Sequence[Term],
        labels: Array,
        weights: Array | None = None,
        fixed: Offsets | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        self.terms = tuple(terms)
        self.examples = Examples.of(chain, terms, labels, weights, fixed, dtype)
        self.core = self.examples.core()
        self.steps = 0
        """How many sequences have been learnt from."""
        self.sequences = self.examples.n_instances
        """S, over which a penalty is shared: more than are here, if others came before."""
        self.uncertain = False
        """Whether weights have variances."""

    @classmethod
    def of(cls, problem: Problem) -> Sweep:
        """Return the weights of a problem."""
        data = problem.data
        if not isinstance(data, LinearChainData):
            raise TypeError(f"Descent needs the data of a linear chain, not {type(data).__name__}.")
        if not problem.smooth:
            raise TypeError("Descent knows squared penalties, and no other norms.")
        loss = data.loss
        return cls(loss.structure, problem.terms, loss.outputs, loss.weights, data.offsets, data.dtype)

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Whether descent can minimise a problem: a linear chain whose penalties are squared, above 0, and
        one for all but edges.
        """
        edges = [term.penalty for term in problem.terms if kind_of(term.space) == EDGES]
        others = {term.penalty for term in problem.terms if kind_of(term.space) != EDGES}
        return (
            isinstance(problem.data, LinearChainData)
            and problem.smooth
            and len(others) == 1
            and len(edges) == 1
            and min(*others, *edges) > 0
        )

    @staticmethod
    def knows(chain: StructureBatch, terms: Sequence[Term]) -> bool:
        """Whether these are weights of a linear chain, with one penalty for all but edges."""
        kinds = [kind_of(term.space) for term in terms]
        others = {term.penalty for term, kind in zip(terms, kinds, strict=True) if kind != EDGES}
        return (
            isinstance(chain, ChainBatch)
            and chain.shared_edges
            and {FEATURES, EDGES} <= {*kinds} <= {FEATURES, EDGES, BIAS, BOUNDARIES}
            and len(kinds) == len({*kinds})
            and len(others) == 1
        )

    @property
    def n_instances(self) -> int:
        """S of this training set."""
        return self.examples.n_instances

    def trial(self, ids: Array) -> Callable[[float], float]:
        """Return the objective of some sequences after one pass of descent through them, by its step."""
        examples, decays = self.examples.take(ids), self.decays

        def value_after(step: float) -> float:
            if not 1e-12 < step < 1e6:
                return np.inf
            core, order = examples.core(), np.arange(examples.n_instances)
            core.descend(order, step, *decays, 0, NEGLIGIBLE)
            weights, free = core.weights()
            node, edge = (0.5 * len(order) * decay for decay in decays)
            squares = node * (np.square(weights).sum() + np.square(free[:3]).sum())
            penalty = squares + edge * np.square(free[3:]).sum()
            value = core.descend(order, 0.0, *decays, 0, NEGLIGIBLE) + penalty
            return float(value) if np.isfinite(value) else np.inf

        return value_after

    @property
    def decays(self) -> tuple[float, float]:
        """λ/S of the features, bias and boundaries, and of the edges."""
        penalty = {kind_of(term.space): term.penalty for term in self.terms}
        edge = penalty.pop(EDGES)
        if len(set(penalty.values())) > 1:
            raise TypeError("Descent needs one penalty for features, bias and boundaries.")
        count = max(self.sequences, 1)
        return penalty[FEATURES] / count, edge / count

    def learn(self, rule: OnlineRule, order: Array) -> float:
        """Go through some sequences, in this order; return the sum of their losses before each change.

        NaN if a sequence has no allowed labelling, or scores that are not finite: it ends there.
        """
        order = np.ascontiguousarray(order, dtype=np.int64)
        loss = rule.learn(self, order)
        self.steps += len(order)
        return loss

    def begin_average(self) -> None:
        """Average the weights from here on, those of now included."""
        self.core.begin_average()

    def element(self) -> Array:
        """Return the present weights."""
        return self._join(*self.core.weights())

    def average(self) -> Array:
        """Return the mean of the weights over all steps since `begin_average`; else the present ones."""
        return self._join(*self.core.average())

    def load(self, element: Array) -> None:
        """Go on from these weights; an average begun before is dropped."""
        self.core.load(*self._split(element))

    def variance(self) -> Array | None:
        """Return the variances of the weights, for rules that know them; else None."""
        return self._join(*self.core.variance()) if self.uncertain else None

    def load_variance(self, element: Array) -> None:
        """Go on with these variances."""
        self.core.load_variance(*self._split(element))
        self.uncertain = True

    def set_variance(self, value: float) -> None:
        """Make all weights equally uncertain."""
        self.core.set_variance(value)
        self.uncertain = True

    def _split(self, element: Array) -> tuple[Array, Array]:
        """Return the weights of features and the free rows of an element, as `_join` takes them."""
        L = len(self.examples.edge_offset)
        free, weights = np.zeros((3 + L, L)), np.zeros(0)
        for term, place in zip(self.terms, slices_of(self.terms).values(), strict=True):
            if kind_of(term.space) == FEATURES:
                weights = np.ascontiguousarray(element[place], dtype=np.float64)
            else:
                free[_rows(term.space)] = element[place].reshape(-1, L)
        return weights, free

    def _join(self, weights: Array, free: Array) -> Array:
        """Return the element of features and free rows: bias, start, end, then one row per label."""
        pieces = [
            weights if kind_of(term.space) == FEATURES else free[_rows(term.space)].ravel()
            for term in self.terms
        ]
        return np.concatenate(pieces)


def _rows(space: BoundSpace) -> slice:
    places = {BIAS: slice(0, 1), BOUNDARIES: slice(1, 3), EDGES: slice(3, None)}
    kind = kind_of(space)
    assert kind is not None
    return places[kind]
