"""Vocabularies: hashable symbols as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array, offsets_of
from ..checks import require_unmasked
from ..errors import InputError
from .unknown import ANY, UnknownWords, WordClass

MISSING = -1
PLAIN = {int, str}
"""Types of most symbols."""
UNKNOWN_SYMBOLS = "write None in the place of symbols that are missing"


class Vocabulary:
    """The symbols of a training set.

    Parameters
    ----------
    symbols : list
        Distinct symbols, by number; some may be classes of words.
    unknown : UnknownWords, optional
        How other symbols are classified; if not given, they are refused.
    """

    def __init__(self, symbols: Sequence[Hashable], unknown: UnknownWords | None = None) -> None:
        self.symbols = list(symbols)
        self.unknown = unknown
        self.numbers = {symbol: v for v, symbol in enumerate(self.symbols)}
        self._classes = {symbol: 1 for symbol in self.symbols if isinstance(symbol, WordClass)}
        whole = all(type(symbol) is int for symbol in self.symbols)
        self._plain = whole and self.symbols == list(range(len(self.symbols)))

    def __len__(self) -> int:
        return len(self.symbols)

    def encode(self, symbols: Array | list[Hashable]) -> Array:
        """Return symbols as numbers, −1 where one is missing (None or NaN)."""
        if isinstance(symbols, np.ndarray):
            if self._plain and self.unknown is None:
                if symbols.size and not (symbols.min() >= 0 and symbols.max() < len(self)):
                    bad = symbols[(symbols < 0) | (symbols >= len(self))][0]
                    raise InputError(f"X has the unknown symbol {bad}; give Categorical an unknown=.")
                return symbols.astype(np.int32)
            distinct, which = distinct_integers(symbols)
            return self.encode(distinct.tolist())[which]
        known: dict[Hashable, int] = {}
        for symbol in dict.fromkeys(symbols):
            known[symbol] = self._number(symbol)
        return np.fromiter((known[symbol] for symbol in symbols), np.int32, len(symbols))

    def _number(self, symbol: Hashable) -> int:
        if symbol is None or symbol != symbol:
            return MISSING
        number = self.numbers.get(symbol)
        if number is not None:
            return number
        if self.unknown is None:
            raise InputError(f"X has the unknown symbol {symbol!r}; give Categorical an unknown=.")
        return self.numbers[self.unknown.choose(symbol, self._classes)]


def build(symbols: Array | list[Hashable], unknown: UnknownWords | None) -> Vocabulary:
    """Return the vocabulary of a training set, in which rare symbols stand for their classes."""
    if isinstance(symbols, np.ndarray):
        values, which = distinct_integers(symbols)
        sizes = np.bincount(which, minlength=len(values))
        counts: dict[Hashable, int] = dict(zip(values.tolist(), sizes.tolist(), strict=True))
    else:
        counts = Counter(s for s in symbols if s is not None and s == s)
    if unknown is None:
        return Vocabulary(_ordered(counts))
    classes = unknown.replacements(counts)
    kept = [symbol for symbol in counts if symbol not in classes]
    return Vocabulary([*_ordered(kept), *sorted({*classes.values(), ANY})], unknown)  # type: ignore[type-var]


def distinct_integers(values: Array) -> tuple[Array, Array]:
    """Return the distinct whole numbers in order, and the index of every entry among them (int32)."""
    low = int(values.min(initial=0))
    span = int(values.max(initial=0)) - low + 1
    if span > 4 * len(values) + 1000:  # a table would be larger than the data
        distinct, which = np.unique(values, return_inverse=True)
        return distinct, which.ravel().astype(np.int32)
    shifted = values - low if low else values
    there = np.bincount(shifted, minlength=span) > 0
    if there.all():
        return np.arange(low, low + span), shifted.astype(np.int32, copy=False)
    table = np.cumsum(there, dtype=np.int32) - 1
    return np.flatnonzero(there) + low, table[shifted]


def _ordered(symbols: Any) -> list[Hashable]:
    try:
        return sorted(symbols)
    except TypeError:
        return list(symbols)


def flatten(X: Any, lengths: Any) -> tuple[Array | list[Hashable], Array]:
    """Return all symbols concatenated, and offsets: an array if symbols are whole numbers, else a list."""
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise InputError("X must be a list of sequences of symbols, or one flat sequence with lengths=.")
    if lengths is not None:
        require_unmasked(lengths, "The list of lengths", "give the lengths that there are")
        sizes = np.asarray(lengths)
        flat = _sequence(X, "X")
        if sizes.ndim != 1 or (sizes < 0).any() or sizes.sum() != len(flat):
            raise InputError(f"lengths must add up to the number of symbols in X, {len(flat)}.")
        return flat, offsets_of(sizes)
    sequences = [_sequence(x, f"Sequence {s} of X") for s, x in enumerate(X)]
    offsets = offsets_of([len(x) for x in sequences])
    arrays = [x for x in sequences if isinstance(x, np.ndarray)]
    if sequences and len(arrays) == len(sequences):
        return np.concatenate(arrays), offsets
    return [symbol for x in sequences for symbol in (x.tolist() if isinstance(x, np.ndarray) else x)], offsets


def require_hashable(symbols: Array | list[Hashable], offsets: Array) -> None:
    """Refuse symbols that cannot be looked up, by sequence and position."""
    for t, symbol in enumerate([] if isinstance(symbols, np.ndarray) else symbols):
        try:
            hash(symbol)
        except TypeError as error:
            s = int(np.searchsorted(offsets, t, side="right")) - 1
            raise InputError(
                f"Sequence {s} of X has a {type(symbol).__name__} at position {t - int(offsets[s])}, "
                "which cannot be a symbol: it is not hashable."
            ) from error


def _sequence(x: Any, what: str) -> Array | list[Hashable]:
    if sparse.issparse(x):
        raise InputError(f"{what} is sparse, but symbols must be in a list or a dense array.")
    if hasattr(x, "to_numpy"):  # frames would give the names of their columns
        x = x.to_numpy()
    if isinstance(x, np.ndarray):
        require_unmasked(x, what, UNKNOWN_SYMBOLS)
        if x.ndim == 2 and x.shape[1] == 1:
            x = x[:, 0]
        if x.ndim != 1:
            raise InputError(f"{what} has {x.ndim} dimensions, expected one symbol per position.")
        return x if np.issubdtype(x.dtype, np.integer) else x.tolist()
    if isinstance(x, str):
        return list(x)
    if isinstance(x, Mapping | Set) or not hasattr(x, "__len__"):  # a dictionary would give its keys
        raise InputError(f"{what} is not a sequence of symbols, but a {type(x).__name__}.")
    if set(map(type, x)) <= PLAIN:
        return list(x)
    require_unmasked(x, what, UNKNOWN_SYMBOLS)
    return [s[0] if isinstance(s, (list, np.ndarray)) and len(s) == 1 else s for s in x]
