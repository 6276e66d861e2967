"""Many-to-many links: rows and columns in several pairs, each further one at a price."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of
from ..checks import is_list, require_ids, require_not_negative, shown
from ..errors import InputError, ScoreError
from ._base import Cliques, Scores, require_feasible
from ._labelled_base import score_array
from ._oracles import Labelling, MaxOracle
from ._pairs_base import PairBatch


class LinkBatch(PairBatch, MaxOracle):
    """A batch of items whose rows and columns are in up to F pairs each,

        score(y) = Σ_ij pair[i, j] y_ij + Σ_v fertility[v, number of pairs of v].

    The rows of an item have their fertilities first, then its columns. As functions of the number of pairs
    they must be concave: then the best set of pairs is a flow of least cost, found by shortest paths, exactly
    [lacoste2006word]; others are refused.

    Parameters
    ----------
    shapes : (S, 2) integers
        Rows and columns of each item; 0 is allowed.
    prices : sequence of float
        What the second, third, … pair of a row or column costs, never less than the one before: the scores
        of fertilities where nobody says otherwise. F is their number plus one.

    Examples
    --------
    >>> import numpy as np
    >>> scores = {"pair": np.array([3.0, 2.0]), "fertility": np.array([[0.0, 0.0, -1.0]] * 3)}
    >>> LinkBatch([[1, 2]]).argmax(scores).labels.tolist()
    [1, 1]
    >>> LinkBatch([[1, 2]]).argmax({**scores, "pair": np.array([3.0, 0.5])}).labels.tolist()
    [1, 0]
    """

    no_sums: ClassVar[str] = "over many-to-many links that is a permanent and more"

    def __init__(self, shapes: npt.ArrayLike, prices: Sequence[float] = (1.0,)) -> None:
        self._set_shapes(shapes)
        self.prices = require_prices("prices", prices)
        self.fertility = 1 + len(self.prices)
        self._words = offsets_of(self.item_shapes.sum(axis=1))

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Pairs, and the fertilities of rows and columns."""
        none = np.full((int(self._words[-1]), 1), -1)
        return {**super().cliques, "fertility": Cliques(self._words, none, (self.fertility + 1,))}

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some items only."""
        return type(self)(self.item_shapes[require_ids(ids, self.n_instances)], self.prices)

    def known_scores(self) -> dict[str, Array]:
        """Return what numbers of pairs cost, less than nothing."""
        table = np.array([0.0, 0.0, *-np.cumsum(self.prices)])
        return {"fertility": np.tile(table, (int(self._words[-1]), 1))}

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of pairs and of their numbers."""
        super().subtract_parts(into, outputs, weights)
        words = np.arange(self._words[-1])
        each = 1.0 if weights is None else np.repeat(weights, np.diff(self._words))
        into["fertility"][words, self.degrees(outputs)] -= each

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every item."""
        of_pairs = super().score(scores, outputs)
        table = score_array(scores, "fertility", self.shapes["fertility"], np.float64)
        chosen = table[np.arange(len(table)), self.degrees(outputs)]
        items = np.repeat(np.arange(self.n_instances), np.diff(self._words))
        return of_pairs + np.bincount(items, chosen, self.n_instances)

    def argmax(self, scores: Scores) -> Labelling:
        """Flows of least cost."""
        pair, offsets, shapes = self._native(scores)
        fertility = score_array(scores, "fertility", self.shapes["fertility"], pair.dtype)
        _require_concave(fertility)
        outputs, value = native.links_argmax(pair, offsets, shapes, fertility)
        require_feasible(value, self.words)
        return Labelling(outputs, value)

    def degrees(self, outputs: Array) -> Array:
        """Return in how many pairs each row and column is, item by item, rows first."""
        rows, columns = self._ends
        there = np.flatnonzero(outputs)
        count = int(self._words[-1])
        return np.bincount(rows[there], minlength=count) + np.bincount(columns[there], minlength=count)

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """The number of the row and of the column of every pair, among those of the batch."""
        sizes = np.diff(self._offsets)
        place = np.arange(self._offsets[-1]) - np.repeat(self._offsets[:-1], sizes)
        m, n = (np.repeat(side, sizes) for side in self.item_shapes.T)
        first = np.repeat(self._words[:-1], sizes)
        row, column = np.divmod(place, np.maximum(n, 1))
        return first + row, first + m + column


def require_prices(name: str, given: Any) -> tuple[float, ...]:
    """Return prices of further pairs: finite, not negative, none below the one before."""
    if not is_list(given):
        raise InputError(f"{name} is {shown(given)}; it must be a list of prices, one per further pair.")
    prices = tuple(require_not_negative(f"{name}[{k}]", price) for k, price in enumerate(given))
    if list(prices) != sorted(prices):
        raise InputError(f"{name} is {shown(given)}; no price may be below the one before.")
    return prices


def _require_concave(fertility: Array) -> None:
    """Refuse scores that rise faster with more pairs; −inf may only be beyond a number of them."""
    with np.errstate(invalid="ignore"):
        steps = np.diff(fertility, axis=1)
        bad = ~np.isfinite(fertility[:, 0]) | (np.diff(np.where(np.isnan(steps), -np.inf, steps)) > 1e-9).any(
            1
        )
    if bad.any():
        v = int(np.flatnonzero(bad)[0])
        raise ScoreError(
            f"The fertility scores of row or column {v} of the batch are {fertility[v].tolist()}; "
            "they must be concave in the number of pairs, and finite for none."
        )
