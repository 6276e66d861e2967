"""The weights of a linear model: as arrays over labels, and as elements of its spaces."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from ..arrays import Array
from ..objective import Problem, Term
from ..spaces import SparseFeatures
from .model import dense
from .terms import free_elements, free_weights


@dataclass(frozen=True)
class LinearWeights:
    """All weights of a linear chain model with L labels and D features.

    A model has them as attributes, with an underscore behind their names.
    """

    coef: Any
    """(L, D), features at a vertex; sparse where only some pairs have a weight."""
    intercept: Array
    """(L,), bias."""
    start: Array
    """(L,), first label."""
    end: Array
    """(L,), last label."""
    transitions: Array
    """(L, L), label pairs."""
    edge_coef: Array | None = None
    """(L, L, D), features at the first of two neighbours."""
    second_order: Array | None = None
    """(L, L, L), label triples."""

    @classmethod
    def of(cls, problem: Problem, element: Array, n_labels: int) -> Self:
        """Read them off an element of the problem; zeros for what the model does not have."""
        L = n_labels
        space: Any = problem.terms[0].space
        place = problem.slices
        edge_features = element[place["edge_features"]].copy() if "edge_features" in place else None
        return cls(
            coef=_coefficients(space, element[place["features"]]),
            edge_coef=None if edge_features is None else edge_features.reshape(-1, L, L).transpose(1, 2, 0),
            **free_weights(element, place, L),
        )

    @classmethod
    def from_model(cls, model: Any) -> Self:
        """Read them off a fitted model."""
        values: dict[str, Any] = {field.name: getattr(model, f"{field.name}_", None) for field in fields(cls)}
        return cls(**values)

    def put(self, model: Any) -> None:
        """Make them attributes of a model."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                setattr(model, f"{field.name}_", value)

    def elements(self, terms: list[Term]) -> list[Array]:
        """Return them as elements of these spaces."""
        features: Any = terms[0].space
        return [features.element(self.coef.T), *self._other_elements(terms[1:])]

    def _other_elements(self, terms: list[Term]) -> list[Array]:
        named = free_elements(self)
        if self.edge_coef is not None:
            named["edge_features"] = self.edge_coef.transpose(2, 0, 1).ravel()
        found = [(term.space, named.get(term.name)) for term in terms]
        return [np.zeros(space.size) if element is None else element for space, element in found]

    def widened(self, n_labels: int) -> LinearWeights:
        """Give labels that are new, behind the others, weights of zero."""
        more = (0, n_labels - len(self.intercept))
        edge = self.edge_coef
        return LinearWeights(
            coef=np.pad(dense(self.coef).T, ((0, 0), more)).T,
            intercept=np.pad(self.intercept, more),
            start=np.pad(self.start, more),
            end=np.pad(self.end, more),
            transitions=np.pad(self.transitions, more),
            edge_coef=None if edge is None else np.pad(edge, (more, more, (0, 0))),
            second_order=None if self.second_order is None else np.pad(self.second_order, more),
        )

    def plus(self, other: LinearWeights) -> LinearWeights:
        """Add two models."""
        total: dict[str, Any] = {}
        for field in fields(self):
            mine = getattr(self, field.name)
            theirs = getattr(other, field.name)
            total[field.name] = None if mine is None else dense(mine) + dense(theirs)
        return LinearWeights(**total)


def _coefficients(space: Any, element: Array) -> Any:
    """(L, D): a sparse matrix where only some pairs have a weight."""
    if isinstance(space, SparseFeatures) and len(element) < space.matrix.shape[1] * space.width:
        return space.compact_table(element).T
    return np.array(space.table(element), order="C").T
