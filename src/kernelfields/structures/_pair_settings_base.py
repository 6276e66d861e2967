"""What structures over pairs share: how items of X and pairs of y are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import as_list, is_list, require_unmasked
from ..errors import InputError
from ._pairs_base import pairs_of, require_shapes
from .settings import Structure
from .words import PAIRS, Words


@dataclass(frozen=True)
class PairStructure(Structure):
    """Sets of pairs of a row and a column, such as words of a sentence and of its translation.

    An item of X is an (m, n, D) array with the features of all pairs, or a pair (rows, (m, n)): features of
    the m·n pairs, those of the first row first, in any form that positions of a sequence may have, and their
    shape; or two lists of m and n tokens, for templates of pairs. An item of y is a list of pairs (i, j),
    counted from 0, in any order; predictions are such lists, sorted. `predict_marginals`
    has an (m, n) array per item.
    """

    labelling: ClassVar[bool] = False
    in_sequences: ClassVar[bool] = False
    linked: ClassVar[bool] = True
    alphabet: ClassVar[tuple[Any, ...]] = ("pair",)
    cliques: ClassVar[str] = "pairs"
    words: ClassVar[Words] = PAIRS

    @abstractmethod
    def _fault(self, table: Array) -> str:
        """Say why an (m, n) table of pairs is no output; nothing if it is one."""

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return the features of the pairs of every item, row by row, and its shape."""
        if lengths is not None:
            raise InputError("lengths= is for sequences; an item of X is an (m, n, D) array.")
        X = as_list(X)
        if isinstance(X, str | bytes) or not isinstance(X, Sequence | np.ndarray):
            raise InputError("X must be a list of (m, n, D) arrays, or of pairs (rows, (m, n)).")
        items = [_item(s, item) for s, item in enumerate(X)]
        return [features for features, _ in items], [shape for _, shape in items]

    def links(self, parts: Any, offsets: Array) -> Array:
        """Return the shapes of all items, which are those of their features."""
        shapes = require_shapes(parts)
        given, wanted = np.diff(offsets), shapes.prod(axis=1)
        wrong = np.flatnonzero(given != wanted)
        if wrong.size:
            s = int(wrong[0])
            m, n = shapes[s]
            raise InputError(
                f"Item {s} of X has {given[s]} rows, expected {m} × {n} for the shape ({m}, {n})."
            )
        return shapes

    def encode(self, y: Any, offsets: Array, links: Any) -> Array:
        """Return 1 for every pair that is there, 0 for others."""
        if not is_list(y):
            raise InputError("y must be a list with the pairs of every item.")
        items = y.to_numpy() if hasattr(y, "to_numpy") else y
        if len(items) != len(links):
            raise InputError(f"X has {len(links)} items, but y has {len(items)}.")
        tables = [
            self._table(s, item, *shape)
            for s, (item, shape) in enumerate(zip(items, links.tolist(), strict=True))
        ]
        return np.concatenate([np.zeros(0, np.int32), *(table.ravel() for table in tables)])

    def decode(self, outputs: Array, batch: Any) -> list[Any]:
        """Return the pairs of every item."""
        ends = pairwise(batch.output_offsets.tolist())
        each = zip(ends, batch.item_shapes[:, 1].tolist(), strict=True)
        return [[divmod(k, n) for k in np.flatnonzero(outputs[a:b]).tolist()] for (a, b), n in each]

    def shaped_marginals(self, marginals: Sequence[Array], links: Any) -> list[Array]:
        """Return a row for every row, a column for every column."""
        return [p.reshape(shape) for p, shape in zip(marginals, links.tolist(), strict=True)]

    def _table(self, s: int, given: Any, m: int, n: int) -> Array:
        """Return the pairs of one item as an (m, n) table, which is an output."""
        pairs = pairs_of(f"Item {s} of y", given, (m, n))
        table = np.zeros((m, n), dtype=np.int32)
        np.add.at(table, (pairs[:, 0], pairs[:, 1]), 1)
        if (table > 1).any():
            i, j = np.argwhere(table > 1)[0].tolist()
            raise InputError(f"Item {s} of y has the pair {(i, j)} twice.")
        fault = self._fault(table)
        if fault:
            raise InputError(f"Item {s} of y{fault}.")
        return table


def _item(s: int, item: Any) -> tuple[Any, tuple[int, int]]:
    """Return features of pairs, row by row, and the shape."""
    if isinstance(item, tuple | list) and len(item) == 2 and _is_shape(item[1]):
        return item[0], (int(item[1][0]), int(item[1][1]))
    if isinstance(item, tuple | list) and len(item) == 2 and all(map(_is_tokens, item)):
        return item, (len(item[0]), len(item[1]))
    require_unmasked(item, f"Item {s} of X")
    try:
        array = np.asarray(item)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 3 or array.dtype.kind not in "biuf":
        raise InputError(
            f"Item {s} of X is neither an array of numbers of shape (m, n, D), nor a pair (rows, (m, n)), "
            "nor two lists of tokens."
        )
    m, n, width = array.shape
    return array.reshape(m * n, width), (m, n)


def _is_tokens(given: Any) -> bool:
    """Whether something is a sentence: a list of words, or of their columns."""
    if not isinstance(given, tuple | list):
        return False
    columns = (isinstance(token, tuple | list) and all(isinstance(c, str) for c in token) for token in given)
    return all(isinstance(token, str) for token in given) or all(columns)


def _is_shape(given: Any) -> bool:
    """Whether something is two whole numbers."""
    whole_number = (int, np.integer)
    return (
        isinstance(given, tuple | list | np.ndarray)
        and len(given) == 2
        and all(isinstance(k, whole_number) and not isinstance(k, bool) and k >= 0 for k in given)
    )
