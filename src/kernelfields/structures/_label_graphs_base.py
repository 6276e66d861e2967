"""Structures whose vertices are the columns of y: every row of X has several labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array, offsets_of
from ..checks import is_list, require_unmasked, shown
from ..errors import InputError
from ..missing import is_missing
from .graph import GraphBatch
from .graph_links import GraphLinks, engine_of, graph_batch
from .settings import Structure
from .words import ROWS, Words

Pairs = tuple[tuple[int, int], ...]
Rows = list[list[int | None]]
"""0 or 1 for every label of every row; None where it was not observed."""


@dataclass(frozen=True)
class LabelGraph(Structure):
    """Rows with K labels each, every label a vertex that is 0 or 1 and has weights of its own."""

    inference: Any = field(default="exact", kw_only=True)
    names: tuple[Hashable, ...] | None = field(default=None, repr=False, kw_only=True)
    pairs: Pairs | None = field(default=None, repr=False, kw_only=True)

    linked: ClassVar[bool] = True
    in_sequences: ClassVar[bool] = False
    words: ClassVar[Words] = ROWS

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        super().__post_init__()
        engine_of(self.inference)

    @abstractmethod
    def _pairs(self, names: tuple[Hashable, ...], rows: Rows) -> Pairs:
        """Return which labels depend on each other, by number, given those of a training set."""

    @property
    def alphabet(self) -> tuple[Any, ...]:  # type: ignore[override]
        """(name, 0) and (name, 1) for every label."""
        return tuple((name, value) for name in self.names or () for value in (0, 1))

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return every row by itself."""
        require_unmasked(X, "X")
        X = np.asarray(X) if isinstance(X, list | tuple) and len(X) else X
        shape = getattr(X, "shape", None)
        if isinstance(X, list | tuple):
            return [], ()
        if lengths is not None or shape is None or len(shape) != 2:
            raise InputError("X must be one (n, D) array or matrix, a row for every row of y.")
        rows = X.iloc if hasattr(X, "iloc") else X.tocsr() if hasattr(X, "tocsr") else X
        return [rows[s : s + 1] for s in range(shape[0])], ()

    def links(self, parts: Any, offsets: Array) -> Any:
        """Return nothing: there are no vertices before the labels are known."""
        return None

    def settled(self, y: Any) -> Self:
        """Return the same with the labels of y, and which of them depend on each other."""
        if self.names is not None:
            return self
        names, rows = indicators(y)
        return replace(self, names=names, pairs=self._pairs(names, rows))

    def spread(self, inputs: Any) -> Any:
        """Return a vertex for every label of every row, each with the features of the row."""
        if self.names is None or inputs.links is not None:
            return inputs
        count, K = len(inputs.offsets) - 1, len(self.names)
        pairs = np.array(self.pairs, dtype=np.int64).reshape(-1, 2)
        edges = (K * np.arange(count)[:, None, None] + pairs).reshape(-1, 2)
        return inputs._replace(
            features=inputs.features[np.repeat(np.arange(count), K)],
            offsets=offsets_of(np.full(count, K)),
            links=GraphLinks(edges, types=np.tile(np.arange(K), count)),
        )

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> GraphBatch:
        """Return graphs of labels, of which each can be one of two."""
        masks = np.repeat(np.eye(n_labels // 2, dtype=bool), 2, axis=1)
        return graph_batch(self.inference, offsets, links, n_labels, words=self.words, own=own, masks=masks)

    def flattened(self, y: Any, links: Any, what: str) -> Any:
        """Return for every row the names of its labels with their values."""
        if is_list(y) and len(y) == 0:
            return []
        names, rows = indicators(y, what, self.names)
        return [
            [None if value is None else (name, value) for name, value in zip(names, row, strict=True)]
            for row in rows
        ]

    def shaped(self, outputs: Sequence[Any], links: Any) -> Array:
        """Return the values of labels, (n, K); None where one was left open."""
        rows = [[None if one is None else one[1] for one in row] for row in outputs]
        result = np.array(rows, dtype=object).reshape(len(rows), len(self.names or ()))
        return result if any(None in row for row in rows) else result.astype(np.int64)

    def shaped_marginals(self, marginals: Sequence[Array], links: Any) -> Array:
        """Return the probability that each label applies, (n, K)."""
        K = len(self.names or ())
        every = np.array(marginals).reshape(len(marginals), K, 2 * K)
        return every[:, np.arange(K), 2 * np.arange(K) + 1]


def number_of(label: Any, names: tuple[Hashable, ...]) -> int | None:
    """Return the number of a label, given by name or by number; None if there is none."""
    if label in names:
        return names.index(label)
    whole = isinstance(label, int | np.integer) and not isinstance(label, bool)
    return int(label) if whole and 0 <= label < len(names) else None


def indicators(
    y: Any, what: str = "y", known: tuple[Hashable, ...] | None = None
) -> tuple[tuple[Hashable, ...], Rows]:
    """Return the names of the columns of y, which must be those that are ``known``, and its rows."""
    names = tuple(y.columns) if hasattr(y, "columns") else None
    y = y.toarray() if hasattr(y, "toarray") else y
    try:
        array = np.asarray(y, dtype=object)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{what} has shape {array.shape}, expected (n, K): 0 or 1 for each of K labels.")
    K = array.shape[1]
    names = names or (known if known is not None and len(known) == K else tuple(range(K)))
    if known is not None and names != known:
        found = f"{K} columns, expected {len(known)}" if len(known) != K else "columns of other names"
        raise InputError(f"{what} has {found}.")
    rows = [[_value(cell, s, k, what) for k, cell in enumerate(row)] for s, row in enumerate(array.tolist())]
    return names, rows


def _value(cell: Any, s: int, k: int, what: str) -> int | None:
    if is_missing(cell):
        return None
    if cell not in (0, 1):
        raise InputError(f"Row {s} of {what} has {shown(cell)} in column {k}, expected 0, 1 or None.")
    return int(cell)
