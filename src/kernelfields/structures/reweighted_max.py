"""The best labelling of graphs by tree-reweighted message passing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import native
from ..checks import Check, require_not_negative, whole
from ._base import Scores
from ._oracles import ROUNDING, BoundedLabelling
from ._search_base import MaxSearch, bounded
from .merged_cliques import MergedCliques


@dataclass(frozen=True)
class TreeReweightedMax(MaxSearch):
    """Sequential tree-reweighted message passing, TRW-S [kolmogorov2006].

    Scores move between vertices and cliques, which changes the score of no labelling, so that the sum of
    all their maxima falls: it never rises from one sweep to the next, and bounds the best score. That is the
    dual of the linear program over the local polytope. Its fixed points need not be optimal there, but are
    with two labels, and are near otherwise. Cliques of three and more vertices follow the same
    rule [kolmogorov2015]. In each sweep vertices take labels one after another, sometimes followed by better
    ones until there are none (ICM); the best labelling of all is kept.

    On forests the bound is exact. Time per sweep is that of a pass over all tables; instances are
    spread over all cores.

    Parameters
    ----------
    max_iter : int
        Most sweeps there and back.
    tol : float
        Stop once ten iterations lower the bound by less than this share of it. It stops before that where
        the bound meets the score of a labelling, which is then the best one.
    """

    max_iter: int = 200
    tol: float = 1e-7
    _checks: ClassVar[Mapping[str, Check]] = {"max_iter": whole(), "tol": require_not_negative}

    def find(self, cliques: MergedCliques, scores: Scores) -> BoundedLabelling:
        """Sweep until the bound meets the best labelling, or hardly moves."""
        labels, _, bound, _, converged = native.factor_graph_reweighted(
            *cliques.tables(scores), self.max_iter, float(self.tol), ROUNDING
        )
        return bounded(cliques, scores, labels, np.asarray(bound), np.asarray(converged))
