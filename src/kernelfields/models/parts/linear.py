"""Linear functions of what cliques see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ...checks import Check
from ...spaces import LinearFeatures, Pooled, SparseFeatures, WeightPairs
from ..scorers import WeightScorer
from ..terms import answer_features
from ..views import FIRST, RUN, count_rows, require_view, view_of
from ._base import BoundPart, Part
from .data import PartData


@dataclass(frozen=True, kw_only=True, repr=False)
class LinearScores(Part):
    """⟨w_{y_c}, x_c⟩ for every clique of a type.

    Parameters
    ----------
    on : str, optional
        The clique type; the answers if not given.
    penalty, norm : float, Norm, optional
        λ of (λ/2)‖W‖², and a further penalty.
    view : "first", "own", "all", "difference", "mean" or "run", optional
        What x_c is: the observation of the first member; the features that the structure has for the clique
        itself; those of all members side by side; the last minus the first; their mean; or the mean over all
        positions from the first member to the last. If not given, the clique's own features where there are
        some, else "run" for segments and "first" for others.
    """

    view: str | None = None
    _checks: ClassVar[Mapping[str, Check]] = {**Part._checks, "view": require_view}

    def bind(self, data: PartData) -> BoundLinear:
        """Return the functions on a training set."""
        on = data.batch.answer if self.on is None else self.on
        view = view_of(data.batch, on, self.view)
        answers = on == data.batch.answer and view == FIRST
        pairs = data.pairs.features if data.pairs is not None and answers else None
        return BoundLinear(on, self.view, pairs)


@dataclass(frozen=True)
class BoundLinear(BoundPart):
    """Weights of the features that the cliques of a type see."""

    on: str
    view: str | None
    pairs: WeightPairs | None = None
    """The pairs of feature and label that have a weight; all if not given."""
    dtype: Any = None
    """What predictions bring features to; None leaves them as they are."""

    def space(self, data: PartData, dtype: Any) -> LinearFeatures | SparseFeatures | Pooled:
        """Return the space of weights; sparse features are prepared for many products."""
        batch, view = data.batch, view_of(data.batch, self.on, self.view)
        if self.on == batch.answer and view == FIRST:
            return answer_features(batch, data.features, self.pairs, data.fast)
        if view == RUN:
            return Pooled(answer_features(batch, data.features, fast=True), self.on)
        seen, rows = data.seen(self.on, view)
        return LinearFeatures(batch, self.on, seen, count_rows(seen) if rows is None else rows)

    def scorer(self, space: Any, element: Array) -> WeightScorer:
        """Return the weights, sparse where only some pairs of feature and label have one."""
        batch = space.structure
        if isinstance(space, SparseFeatures) and len(element) < space.matrix.shape[1] * space.width:
            return WeightScorer(None, space.compact_table(element).T, self.view, self.dtype)
        coef = np.array(space.table(element), order="C").T
        if self.on == batch.answer:
            return WeightScorer(None, coef, self.view, self.dtype)
        values = batch.cliques[self.on].values
        return WeightScorer(self.on, coef.reshape(*values, -1), self.view, self.dtype)

    def element(self, space: Any, scorer: WeightScorer) -> Array:
        """Return the weights in the order of the space."""
        coef = scorer.coef if scorer.on is None else scorer.coef.reshape(-1, scorer.coef.shape[-1])
        return np.asarray(space.element(coef.T))
