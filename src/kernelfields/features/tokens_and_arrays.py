"""Features of tokens beside numbers of tokens, such as embeddings."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array, Matrix
from ..checks import require_number, require_unmasked, shown
from ..errors import InputError
from ..parameters import Parameterised
from .dicts import DictFeatures
from .extractor import TemplateFeatures, templates_of
from .stacking import stack_rows
from .templates import CliqueKind, Templates


class ArrayTokens(list[Any]):
    """Tokens of a sequence, with a row of numbers for each."""

    def __init__(self, tokens: Iterable[Any], numbers: Any) -> None:
        list.__init__(self, tokens)
        self.numbers = numbers


class TokensAndArrays(Parameterised):
    r"""Two blocks of features: numbers of every token, and sparse features of tokens.

    Estimators take it as ``features=``. A sequence of X is then a pair of tokens and a (T, D) array, or an
    `ArrayTokens`. Columns 0 to D − 1 are the numbers, so that a kernel can look at one block:
    ``Columns(RBF(), slice(0, D)) + Columns(Linear(), slice(D, None))``. Both are learnt in every fit, and
    saved in the model's file.

    Parameters
    ----------
    tokens : str, Templates, TemplateFeatures, DictFeatures or None
        What to look at in tokens, as for ``features=`` of `CRF`; None reads dictionaries.
    arrays : transformer, optional
        Of a list of arrays, such as ``each(StandardScaler())``: fitted to the numbers.
    weight : float
        Factor of the numbers. One penalty is for both blocks: the larger the factor, the less numbers are
        penalised.

    Attributes
    ----------
    tokens_, arrays_ : extractor, transformer or None
        Fitted.
    n_numbers_ : int
        D, the number of columns that the first block has.

    Examples
    --------
    >>> from kernelfields import CRF
    >>> from kernelfields.features import TokensAndArrays
    >>> X = [(["the", "dog"], [[0.1, 0.2], [0.9, 0.3]]), (["cats"], [[0.8, 0.4]])]
    >>> features = TokensAndArrays("columns: w\nw[0]")
    >>> model = CRF(features=features).fit(X, [["D", "N"], ["N"]])
    >>> model.n_features_in_, model.features_.names()
    (5, ['x0', 'x1', 'w[0]=the', 'w[0]=dog', 'w[0]=cats'])
    """

    tokens_: TemplateFeatures | DictFeatures
    arrays_: Any
    n_numbers_: int

    def __init__(self, tokens: Any = None, *, arrays: Any = None, weight: float = 1.0) -> None:
        self.tokens = tokens
        self.arrays = arrays
        self.weight = weight

    @property
    def fitted(self) -> bool:
        """Whether columns are known."""
        return "tokens_" in vars(self)

    @property
    def n_features(self) -> int:
        """Number of columns of both blocks."""
        return self.n_numbers_ + self.tokens_.n_features

    def fit_transform(self, X: Any) -> Matrix:
        """Learn both blocks; return a CSR matrix with a row for every token, and lengths."""
        require_number("weight", self.weight)
        tokens, numbers = _parted(X)
        extractor = _extractor(self.tokens)
        matrix, lengths = extractor.fit_transform(tokens)
        given = stack_rows(numbers, "TokensAndArrays")
        transformer = None
        if self.arrays is not None and given.rows.shape[0]:
            from sklearn.base import clone

            transformer = clone(self.arrays).fit(numbers)
            given = stack_rows(transformer.transform(numbers), "TokensAndArrays")
        self.tokens_, self.arrays_, self.n_numbers_ = extractor, transformer, int(given.rows.shape[1])
        return Matrix(self._beside(given.rows, matrix), lengths)

    def transform(self, X: Any) -> Matrix:
        """Return a CSR matrix with a row for every token, and lengths."""
        if not self.fitted:
            raise InputError("This TokensAndArrays is not fitted yet; call fit_transform first.")
        tokens, numbers = _parted(X)
        matrix, lengths = self.tokens_.transform(tokens)
        if self.arrays_ is not None:
            numbers = self.arrays_.transform(numbers)
        rows = stack_rows(numbers, "TokensAndArrays").rows
        if rows.shape[0] and rows.shape[1] != self.n_numbers_:
            raise InputError(f"Tokens have {rows.shape[1]} numbers each, expected {self.n_numbers_}.")
        return Matrix(self._beside(rows.reshape(len(rows), self.n_numbers_), matrix), lengths)

    def names(self) -> list[str]:
        """Return the names of all columns: x0, x1, … for numbers."""
        return [*(f"x{d}" for d in range(self.n_numbers_)), *self.tokens_.names()]

    def _beside(self, rows: Array, matrix: Any) -> Any:
        numbers = sparse.csr_matrix(rows * self.weight, dtype=matrix.dtype)
        return sparse.hstack([numbers, matrix], format="csr")


def _extractor(tokens: Any) -> TemplateFeatures | DictFeatures:
    """Return what reads tokens: a new one, unfitted."""
    if tokens is None:
        return DictFeatures(dtype=np.float32)
    if isinstance(tokens, str | Templates):
        named = templates_of(tokens) if isinstance(tokens, str) else tokens
        result = TemplateFeatures(named, dtype=np.float32)
    elif isinstance(tokens, TemplateFeatures | DictFeatures):
        result = copy.copy(tokens)  # type: ignore[assignment]
    else:
        raise InputError(f"tokens is {shown(tokens)}; it must be templates or an extractor of tokens.")
    if isinstance(result, TemplateFeatures) and result.templates.cliques is not CliqueKind.TOKENS:
        raise InputError("TokensAndArrays takes templates of tokens, not of other cliques.")
    return result


def _parted(X: Any) -> tuple[list[Any], list[Any]]:
    """Return the tokens and the numbers of every sequence, as many of each."""
    tokens: list[Any] = []
    numbers: list[Any] = []
    for s, item in enumerate(X):
        if isinstance(item, ArrayTokens):
            words, numbers_of = list(item), item.numbers
        elif isinstance(item, tuple) and len(item) == 2:
            words, numbers_of = item
        else:
            raise InputError(f"Sequence {s} of X is not a pair of tokens and an array of numbers.")
        require_unmasked(numbers_of, f"Sequence {s} of X")
        rows = np.asarray(numbers_of)
        if rows.ndim == 1 and not len(rows):
            rows = np.zeros((0, 0))
        if rows.ndim != 2 or rows.dtype.kind not in "biuf":
            raise InputError(f"Sequence {s} of X has numbers of shape {rows.shape}, expected (T, D).")
        if len(rows) != _length(words):
            raise InputError(
                f"Sequence {s} of X has {_length(words)} tokens, but {len(rows)} rows of numbers."
            )
        if not np.isfinite(rows).all():
            raise InputError(f"Sequence {s} of X holds NaN or infinity at position {_first_bad(rows)}.")
        tokens.append(words)
        numbers.append(rows if len(rows) else [])
    return tokens, numbers


def _length(words: Sequence[Any]) -> int:
    return len(next(iter(words.values()), [])) if isinstance(words, dict) else len(words)


def _first_bad(rows: Array) -> int:
    return int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
