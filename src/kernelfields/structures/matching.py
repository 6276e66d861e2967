"""Matchings: every row and every column is in at most one pair."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy.typing as npt

from .. import native
from ..checks import require_flag, require_ids
from ._base import Scores, require_feasible
from ._labelled_base import require_best
from ._oracles import KBestOracle, Labelling, Labellings, MaxOracle
from ._pairs_base import PairBatch


class MatchingBatch(PairBatch, MaxOracle, KBestOracle):
    """A batch of items with all their matchings; see `PairBatch` for scores and outputs.

    The best matching by shortest augmenting paths, after bids have placed most rows, in time m²n at most
    [jonker1987shortest]; the k best by ever smaller sets of matchings [murty1968algorithm]. The whole ragged
    batch is one native call on all cores. Scores of −inf forbid a pair. The sum over all matchings is a
    permanent, which takes exponential time: there is none here, and `BetheMatchingBatch` approximates it.

    Parameters
    ----------
    shapes : (S, 2) integers
        Rows and columns of each item; 0 is allowed.
    complete : bool
        Whether every row is in a pair, or every column where there are fewer of these; else pairs are left
        out unless they add to the score.

    Examples
    --------
    >>> import numpy as np
    >>> scores = {"pair": np.array([3.0, 2.0, 2.0, -1.0])}
    >>> MatchingBatch([[2, 2]]).argmax(scores).labels.tolist()
    [0, 1, 1, 0]
    >>> MatchingBatch([[2, 2]]).kbest(scores, 2).value.tolist()
    [[4.0, 3.0]]
    """

    no_sums: ClassVar[str] = "that sum is a permanent; Matching(inference=Bethe()) approximates it"

    def __init__(self, shapes: npt.ArrayLike, complete: bool = False) -> None:
        self._set_shapes(shapes)
        self.complete = require_flag("complete", complete)

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some items only."""
        return type(self)(self.item_shapes[require_ids(ids, self.n_instances)], self.complete)

    def argmax(self, scores: Scores) -> Labelling:
        """Bids, then shortest augmenting paths."""
        outputs, value = native.matching_argmax(*self._native(scores), self.complete)
        require_feasible(value, self.words)
        return Labelling(outputs, value)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Murty's partition of what is left after each of the best."""
        rows = int(self.item_shapes.max(initial=0))
        k = require_best(k, int(self._offsets[-1]), self.n_instances, rows * rows)
        arrays = self._native(scores)
        require_feasible(native.matching_argmax(*arrays, self.complete)[1], self.words)
        return Labellings(*native.matching_kbest(*arrays, self.complete, k))
