"""Scorers of learnt functions, one for each kind of function and none for a clique type.

What a clique sees is a view (`views`): the features that a structure brings along for its type, or a
function of the observations of its members.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..errors import InputError
from ..features import FeatureRows
from ..spaces import Products, as_floats, coefficient_scores, run_mean
from ..structures import StructureBatch
from .model import LabelScorer, Scorer, add, add_table, dense, matrix_of
from .views import RUN, observations_of, view_of


class LearntScorer(Scorer):
    """The scorer of a part that a fit has learnt: its numbers are one array.

    Attributes
    ----------
    on : str or None
        The clique type; None stands for the answers of the batch.
    """

    on: str | None

    @property
    @abstractmethod
    def numbers(self) -> Any:
        """The weights, scores or coefficients; posterior draws have one array for each function."""

    @abstractmethod
    def with_numbers(self, numbers: Any) -> Self:
        """Return the same with other numbers."""

    @abstractmethod
    def widened(self, values: tuple[int, ...]) -> Self:
        """Return the same for cliques that can have more ``values``: new labels have weights of zero."""

    def pruned(self) -> Self:
        """Return the same without what has no effect."""
        return self


@dataclass(frozen=True, slots=True)
class TableScorer(LearntScorer):
    """V_{y_c} for every clique, whatever the input."""

    on: str | None
    table: Array
    """In the shape of the scores of one clique."""

    @property
    def numbers(self) -> Array:
        """V."""
        return self.table

    def with_numbers(self, numbers: Array) -> TableScorer:
        """Return the same with another table."""
        return replace(self, table=numbers)

    def widened(self, values: tuple[int, ...]) -> TableScorer:
        """Return the same with zeros for new labels."""
        return replace(self, table=padded(self.table, values))

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Add V to the scores of every clique."""
        on = batch.answer if self.on is None else self.on
        if on in batch.cliques:
            dtype = into[batch.answer].dtype if batch.answer in into else np.float64
            add_table(batch, on, self.table.astype(dtype).reshape(batch.cliques[on].values), into)


@dataclass(frozen=True, slots=True)
class EndScorer(LearntScorer):
    """Scores of the labels where edges start and where they end."""

    table: Array
    """(2, L), start then end."""
    on: None = None

    @property
    def numbers(self) -> Array:
        """Start and end."""
        return self.table

    def with_numbers(self, numbers: Array) -> EndScorer:
        """Return the same with other scores."""
        return replace(self, table=numbers)

    def widened(self, values: tuple[int, ...]) -> EndScorer:
        """Return the same with zeros for new labels."""
        return replace(self, table=padded(self.table, (2, *values)))

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Add them to sources and sinks."""
        node = into.setdefault(batch.answer, np.zeros(batch.shapes[batch.answer]))
        first, last = self.table.astype(node.dtype, copy=False)
        node[batch.sources] += first
        node[batch.sinks] += last


@dataclass(frozen=True, slots=True)
class WeightScorer(LearntScorer):
    """⟨w_{y_c}, x_c⟩ for every clique, x_c being what a view of the input shows it."""

    on: str | None
    coef: Any
    """(…, D), the first axes those of the scores of one clique; of answers (L, D), dense or sparse."""
    view: str | None = None
    dtype: Any = None
    """Precision that features are brought to; None leaves them as they are."""

    @property
    def own(self) -> frozenset[str]:  # type: ignore[override]  # it depends on the clique type
        """Every clique has observations, hence scores."""
        return frozenset() if self.on is None else frozenset([self.on])

    @property
    def numbers(self) -> Any:
        """W."""
        return self.coef

    def with_numbers(self, numbers: Any) -> WeightScorer:
        """Return the same with other weights."""
        return replace(self, coef=numbers)

    def widened(self, values: tuple[int, ...]) -> WeightScorer:
        """Return the same with zeros for new labels."""
        shape = (np.prod(values, dtype=int),) if self.on is None else values
        return replace(self, coef=padded(dense(self.coef), (*shape, self.coef.shape[-1])))

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Multiply features with weights; means of runs are taken of the products."""
        if self.dtype is not None:
            features = features.astype(self.dtype, copy=False)
        on = batch.answer if self.on is None else self.on
        if on == "node" and self.on is None and self.view is None:  # vertices see the rows of X
            add(into, on, self._products(features, dense_rows=False))
            return
        view = view_of(batch, on, self.view)
        if on == batch.answer and view == "first":
            add(into, on, self._products(features, dense_rows=False).reshape(-1, *batch.cliques[on].values))
            return
        if not batch.cliques[on].count:
            return  # a batch without such cliques may lack their features, too
        if view == RUN:
            values = run_mean(self._products(matrix_of(features)), batch.cliques[on].members)
        else:
            matrix, rows = observations_of(batch, on, view, matrix_of(features))
            if matrix.shape[1] != self.coef.shape[-1]:
                raise InputError(
                    f"X has {matrix.shape[1]} features of {on!r}, the model {self.coef.shape[-1]}."
                )
            values = self._products(as_floats(matrix if rows is None else matrix[rows]))
        add(into, on, values.reshape(-1, *batch.cliques[on].values))

    def _products(self, features: Any, *, dense_rows: bool = True) -> Array:
        """Return one row of products for every row of features."""
        if not dense_rows and (isinstance(features, FeatureRows) or sparse.issparse(features)):
            return np.asarray(coefficient_scores(features, self.coef))
        flat = dense(self.coef).reshape(-1, self.coef.shape[-1]).T
        return np.asarray(Products(features).times(flat if self.on is None else flat.astype(features.dtype)))


def padded(array: Array, shape: tuple[int, ...]) -> Array:
    """Return an array with zeros behind each axis, up to a shape."""
    return np.pad(array, [(0, after - before) for before, after in zip(array.shape, shape, strict=True)])


def add_scorers(
    left: Mapping[str, LearntScorer], right: Mapping[str, LearntScorer]
) -> dict[str, LearntScorer]:
    """Return the sum of two models of the same parts; parts that only the first has stay."""
    return {
        name: scorer.with_numbers(dense(scorer.numbers) + dense(right[name].numbers))
        if name in right
        else scorer
        for name, scorer in left.items()
    }


def fuse_scorers(scorers: Mapping[str, Scorer], n_labels: int) -> tuple[Scorer, ...]:
    """Return scorers with all free tables of answers, ends and other clique types in one, which is faster.

    Adding tables one by one takes three times as long for a short sequence.
    """
    free = {name: one for name, one in scorers.items() if isinstance(one, TableScorer | EndScorer)}
    rest: Iterable[Scorer] = [one for name, one in scorers.items() if name not in free]
    every, ends, tables = np.zeros(n_labels), np.zeros((2, n_labels)), {}
    for one in free.values():
        if isinstance(one, EndScorer):
            ends = one.table
        elif one.on is None:
            every = one.table
        else:
            tables[one.on] = one.table
    return (*rest, LabelScorer(every, ends[0], ends[1], tables))
