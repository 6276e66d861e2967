"""What users hand over, as types: X, y and what goes with them, before anything is read or checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..arrays import Array


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and columns."""

    @property
    def nnz(self) -> int:
        """Number of entries that are stored."""

    def tocsr(self) -> SparseMatrix:
        """Return the same, stored by rows."""


class DataFrame(Protocol):
    """A frame of pandas or polars."""

    @property
    def columns(self) -> Iterable[Hashable]:
        """Names of the columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    def to_numpy(self) -> Array:
        """Return the entries as an array."""


class Series(Protocol):
    """A column of pandas or polars."""

    def __len__(self) -> int: ...

    def to_numpy(self) -> Array:
        """Return the entries as an array."""


class NetworkxGraph(Protocol):
    """A graph of networkx, whose vertices have their features as an attribute."""

    @property
    def nodes(self) -> Iterable[Hashable]:
        """The vertices."""

    @property
    def edges(self) -> Iterable[Hashable]:
        """The edges."""

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""


class TensorGraph(Protocol):
    """A graph of PyTorch Geometric: tensors, or arrays of these names."""

    @property
    def x(self) -> object:
        """Features of vertices, one row each."""

    @property
    def edge_index(self) -> object:
        """(2, E): the vertices of every edge."""


class Learner(Protocol):
    """An estimator of which a copy can be fitted: of this library, of scikit-learn, or alike."""

    @property
    def fit(self) -> Callable[..., object]:
        """Takes X and y, and options that depend on the estimator."""

    def get_params(self, deep: bool = True) -> Mapping[str, Any]:
        """Return all settings by name."""


class Transformer(Protocol):
    """What turns sequences into others, as scikit-learn's transformers do with rows."""

    @property
    def fit(self) -> Callable[..., object]:
        """Takes sequences and, perhaps, labels."""

    @property
    def transform(self) -> Callable[..., Any]:
        """Takes sequences."""

    @property
    def set_params(self) -> Callable[..., object]:
        """Takes settings by name."""


class FittedModel(Protocol):
    """A model that has learnt which labels there are, and labels sequences or rows."""

    classes_: Array

    @property
    def predict(self) -> Callable[..., Any]:
        """Takes X, and options that depend on the model."""


MatrixLike = Array | SparseMatrix | DataFrame
"""Rows of features, or, in an array, a symbol in the place of each."""

ItemLike = Sequence[object] | MatrixLike | Mapping[str, object] | NetworkxGraph | TensorGraph
"""One item of X: a matrix with a row of features for every position, or a list of rows, tokens, symbols, or
other objects that a kernel compares; of trees and graphs features and links, in a tuple or by name."""

Items = Sequence[ItemLike] | MatrixLike | Series
"""X: a list of items, or one matrix with all rows; with ``lengths`` where these are of several sequences."""

OutputLike = Sequence[Hashable] | Sequence[Sequence[Hashable]] | Array | Series | float | None
"""What y has for one item: a label sequence, or heads, a tree, pairs, rows of labels, as the structure says.
None or −1 stands for no labels. Where X is rows, or y one list for all positions, it is the label itself."""

Outputs = Sequence[OutputLike] | Sequence[Hashable] | MatrixLike | Series
"""y: a list with an output for every item, or one list or array with the labels of all positions or rows."""

Lengths = Sequence[int] | Array | Series | None
"""Numbers of positions of the sequences whose rows are all in one matrix; None where X is a list."""

Weights = Sequence[float] | Array | Series | None
"""How many times each item or each row counts; None for once."""

Groups = Sequence[Hashable] | Array | Series | None
"""The group of every sequence: a group is in one fold as a whole; None where each sequence is a group."""

Allowed = Sequence[Sequence[Hashable | Collection[Hashable] | Array] | Array | None] | Array | None
"""For every sequence None or, for every position, None, a label, several labels, or a mask of labels."""

Seed = int | np.integer[Any] | np.random.RandomState | None
"""Where random numbers come from, as in scikit-learn: a seed, or a generator; None is that of NumPy."""
