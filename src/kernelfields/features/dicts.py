"""Sparse features from dictionaries and lists of attributes, as users of CRFsuite write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, FeatureRows, Matrix
from ..checks import require_whole
from ..errors import InputError
from ..native import AttributePool
from ._settings import unusual


class DictFeatures:
    """Sparse real features from dictionaries: x_tj is the value of attribute j at token t.

    A token is a dictionary or a collection of strings, read as python-crfsuite reads it:

    ============================  ================================  =========
    given                         attribute                         value
    ============================  ================================  =========
    ``{"w": "dog"}``              ``w:dog``                         1
    ``{"len": 3.5}``              ``len``                           3.5
    ``{"title": True}``           ``title``                         1
    ``{"title": False}``          none
    ``{"w": ["a", "b"]}``, sets   ``w:a`` and ``w:b``               1
    ``{"w": {"next": "cat"}}``    ``w:next:cat``                    1
    ``["a", "b"]``                ``a`` and ``b``                   1
    ============================  ================================  =========

    Values are used as they are: **nothing is scaled**. All attributes share one penalty, so a value in the
    thousands is hardly penalised and one of thousandths is hardly usable: scale real values to the size of
    the others first, 0 to 1. Zeros are not stored; if a token has an attribute twice (``{"w": "a"}`` and
    ``{"w:a": True}``), its values are added.

    Parameters
    ----------
    min_count : int
        Number of tokens that must have an attribute, with a value other than 0, for it to get a column.
    by_frequency : bool
        Order columns by frequency (better for caches) instead of by first appearance.
    dtype : float64 or float32
        Type of the matrix.

    Examples
    --------
    >>> features = DictFeatures()
    >>> X, lengths = features.fit_transform([[{"w": "a", "len": 1.0}, {"w": "b", "len": 0.5}], [["w:a"]]])
    >>> features.names()
    ['w:a', 'len', 'w:b']
    >>> X.toarray().tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.0]]
    """

    def __init__(
        self, min_count: int = 1, *, by_frequency: bool = True, dtype: npt.DTypeLike = np.float64
    ) -> None:
        self.min_count = require_whole("min_count", min_count)
        self.by_frequency = by_frequency
        self.dtype = np.dtype(dtype)
        self._pool: AttributePool | None = None

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.pool)

    def fit(self, sentences: Iterable[Any]) -> DictFeatures:
        """Learn the attributes of sentences, which are lists of tokens."""
        self.fit_transform(sentences)
        return self

    def fit_transform(self, sentences: Iterable[Any]) -> Matrix:
        """Fit, and transform the same sentences, which are read only once."""
        pool = AttributePool()
        try:
            arrays = pool.fit(sentences, self.min_count, self.by_frequency)
        except ValueError as error:
            raise InputError(str(error)) from None
        self._pool = pool
        return self._rows(*arrays).with_lengths()

    def transform(self, sentences: Iterable[Any]) -> Matrix:
        """Return a CSR matrix with a row for every token; attributes without a column are dropped."""
        return self.rows(sentences).with_lengths()

    def rows(self, sentences: Iterable[Any]) -> FeatureRows:
        """Return the result of `transform` as plain arrays."""
        try:
            return self._rows(*self.pool.read(sentences))
        except ValueError as error:
            raise InputError(str(error)) from None

    def names(self) -> list[str]:
        """Return the attribute of every column."""
        return self.pool.names()

    def restore(self, names: list[str]) -> DictFeatures:
        """Use the attributes that ``names`` returned, instead of calling ``fit``."""
        try:
            self._pool = AttributePool(names)
        except ValueError as error:
            raise InputError(str(error)) from None
        return self

    def __repr__(self) -> str:
        """Return the settings that differ from their defaults."""
        return f"DictFeatures({', '.join(unusual(self, {'min_count': 1, 'by_frequency': True}))})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None if self._pool is None else self.names()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _pool=None)
        if state["_pool"] is not None:
            self.restore(state["_pool"])

    @property
    def pool(self) -> AttributePool:
        """The attributes, for the core."""
        if self._pool is None:
            raise InputError("Call fit first.")
        return self._pool

    def _rows(self, indptr: Array, indices: Array, values: Array, offsets: Array) -> FeatureRows:
        shape = (len(indptr) - 1, self.n_features)
        return FeatureRows(indptr, indices, values, offsets, shape, self.dtype)
