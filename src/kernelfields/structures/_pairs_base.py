"""Structures whose outputs are sets of pairs, each of a row and a column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array, offsets_of
from ..checks import require_unmasked, require_weights
from ..errors import InputError
from ._base import Cliques, Scores, StructureBatch
from ._labelled_base import score_array
from .words import PAIRS, Words

MOST_WORDS = 2**15
"""Pairs of more rows and columns would not be numbers of 32 bits."""


class PairBatch(StructureBatch):
    """Items with m rows and n columns each; an output says for each of the m·n pairs whether it is there,

        score(y) = Σ_ij pair[i, j] y_ij.

    The pair of row i and column j of an item is row i·n + j of its m·n rows. An output is 0 or 1 for every
    pair, so that it is its own indicator.
    """

    answer: ClassVar[str] = "pair"
    words: Words = PAIRS
    item_shapes: Array
    """(S, 2): rows and columns of every item."""

    def _set_shapes(self, shapes: npt.ArrayLike) -> None:
        """Take over what a constructor was given."""
        self.item_shapes = require_shapes(shapes)
        self._offsets = offsets_of(self.item_shapes.prod(axis=1))

    @property
    def offsets(self) -> Array:
        """Where the pairs of each item start: rows of X are pairs."""
        return self._offsets

    @property
    def output_offsets(self) -> Array:
        """Where the pairs of each item start."""
        return self._offsets

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Pairs."""
        return {"pair": Cliques(self._offsets, lambda: np.arange(self._offsets[-1])[:, None], ())}

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of the pairs that are there."""
        weights = require_weights(weights, self.n_instances)
        into["pair"][...] -= outputs if weights is None else outputs * self.per_output(weights)

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every item."""
        there = np.flatnonzero(outputs)
        chosen = score_array(scores, "pair", self.shapes["pair"], np.float64)[there]
        items = np.searchsorted(self._offsets, there, side="right") - 1
        return np.bincount(items, chosen, self.n_instances).astype(
            np.float64
        )  # of nothing it is whole numbers

    def hamming(self, outputs: Array) -> dict[str, Array]:
        """Return 1 for pairs that are not there, −1 for those that are.

        Counted from the cost of what was observed, as losses do, that is the number of pairs that are
        missing or superfluous.
        """
        return {"pair": 1.0 - 2.0 * np.asarray(outputs)}

    def places_of(self, what: str, pairs: Sequence[Any]) -> Array:
        """Return where pairs are among all of the batch, one list of them per item; ``what`` names them."""
        if len(pairs) != self.n_instances:
            raise InputError(f"{what} has pairs of {len(pairs)} items, expected {self.n_instances}.")
        result = [np.zeros(0, np.int64)]
        for s, (given, (m, n)) in enumerate(zip(pairs, self.item_shapes.tolist(), strict=True)):
            found = pairs_of(f"Item {s} of {what}", given, (m, n))
            result.append(self._offsets[s] + found[:, 0] * n + found[:, 1])
        return np.concatenate(result)

    def _native(self, scores: Scores) -> tuple[Array, Array, Array]:
        return score_array(scores, "pair", self.shapes["pair"], None), self._offsets, self.item_shapes


def require_shapes(given: Any) -> Array:
    """Return numbers of rows and columns as int64."""
    require_unmasked(given, "The list of shapes")
    shapes = np.asarray(given)
    if shapes.ndim == 1 and shapes.size == 0:
        shapes = np.zeros((0, 2), dtype=np.int64)
    whole = shapes.dtype.kind in "iu" and shapes.ndim == 2 and shapes.shape[1] == 2
    if not whole or not ((shapes >= 0) & (shapes <= MOST_WORDS)).all():
        raise InputError(
            f"shapes must have a row (rows, columns) for every item, whole numbers from 0 to {MOST_WORDS}."
        )
    return np.ascontiguousarray(shapes, dtype=np.int64)


def pairs_of(name: str, given: Any, shape: tuple[int, int]) -> Array:
    """Return pairs of whole numbers within a shape, (K, 2)."""
    require_unmasked(given, name, "leave out pairs that there are not")
    try:
        pairs = np.asarray(sorted(given) if isinstance(given, set | frozenset) else given)
    except (TypeError, ValueError):
        pairs = np.zeros(1)
    if pairs.shape in ((0,), (0, 2)):
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(f"{name} is not a list of pairs (i, j), which are whole numbers.")
    wrong = np.flatnonzero(((pairs < 0) | (pairs >= np.array(shape))).any(axis=1))
    if wrong.size:
        m, n = shape
        raise InputError(
            f"{name} has the pair {tuple(pairs[wrong[0]].tolist())}, expected rows 0 to {m - 1} and columns "
            f"0 to {n - 1}."
        )
    return pairs.astype(np.int64)
