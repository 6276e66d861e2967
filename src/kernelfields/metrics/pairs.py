"""True and predicted label sequences, paired in flat arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..errors import InputError
from .sequences import read_sequences

NO_LABEL = -1


class Pairs(NamedTuple):
    """All positions, sequence by sequence."""

    true: Array
    """(N,) index into ``labels``; −1 where the label was not observed."""
    predicted: Array
    """(N,) index into ``labels``; −1 where the prediction is None, which is always wrong."""
    offsets: Array
    """(S + 1,) where each sequence begins."""
    labels: list[Hashable]
    """Labels that occur on either side where the true one was observed, sorted if possible."""

    @property
    def observed(self) -> Array:
        """Whether the true label of each position is known, (N,)."""
        return self.true != NO_LABEL

    @property
    def right(self) -> Array:
        """Whether each position is observed and predicted right, (N,)."""
        return self.observed & (self.true == self.predicted)

    def place(self, n: int) -> tuple[int, int]:
        """Return the sequence and the position within it of the n-th position of all."""
        s = int(np.searchsorted(self.offsets, n, side="right")) - 1
        return s, n - int(self.offsets[s])


def read_pairs(y_true: Any, y_pred: Any) -> Pairs:
    """Read two lists of label sequences of the same lengths."""
    true, predicted = read_sequences(y_true, "y_true"), read_sequences(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise InputError(f"y_true has {len(true)} sequences, but y_pred has {len(predicted)}.")
    for s, (a, b) in enumerate(zip(true, predicted, strict=True)):
        if len(a) != len(b):
            raise InputError(f"Sequence {s} has {len(a)} labels in y_true, but {len(b)} in y_pred.")
    require_observed(true)
    labels = _labels_in_use(true, predicted)
    index = {label: k for k, label in enumerate(labels)}
    return Pairs(encode(true, index), encode(predicted, index), offsets_of([len(a) for a in true]), labels)


def read_runs(y_true: Any, y_pred: Any) -> Pairs:
    """Read two lists of label sequences and split them at labels that were not observed.

    Each run of observed labels becomes a separate sequence.
    """
    pairs = read_pairs(y_true, y_pred)
    return pairs if pairs.observed.all() else runs_of(pairs)


def runs_of(pairs: Pairs) -> Pairs:
    """Return each run of observed labels as a separate sequence."""
    kept = np.flatnonzero(pairs.observed)
    begins = np.zeros(len(pairs.true) + 1, dtype=bool)
    begins[pairs.offsets] = True
    begins[1:] |= ~pairs.observed
    offsets = np.append(np.flatnonzero(begins[kept]), len(kept))
    return Pairs(pairs.true[kept], pairs.predicted[kept], offsets, pairs.labels)


def _labels_in_use(true: list[list[Hashable]], predicted: list[list[Hashable]]) -> list[Hashable]:
    """Return the labels that occur where the true one was observed, sorted if possible."""
    seen: dict[Hashable, None] = {}
    for a, b in zip(true, predicted, strict=True):
        seen.update(dict.fromkeys(a))
        seen.update(dict.fromkeys(b if None not in a else _beside(a, b)))
    seen.pop(None, None)
    try:
        return sorted(seen)  # type: ignore[type-var]
    except TypeError:
        return list(seen)


def _beside(true: list[Hashable], predicted: list[Hashable]) -> Iterable[Hashable]:
    return (guess for label, guess in zip(true, predicted, strict=True) if label is not None)


def encode(y: list[list[Hashable]], index: dict[Hashable, int]) -> Array:
    """Return the labels of all sequences as numbers, −1 where there is no label."""
    return np.array([index.get(label, NO_LABEL) for label in chain.from_iterable(y)], dtype=np.int64)


def observed_counts(y: list[list[Hashable]]) -> list[int]:
    """Return the number of observed labels of every sequence."""
    return [len(labels) - labels.count(None) for labels in y]


def require_observed(y: list[list[Hashable]]) -> None:
    """Refuse true labels of which none was observed, unless there are no positions."""
    positions = sum(map(len, y))
    if positions > 0 and not any(observed_counts(y)):
        raise InputError(
            f"There is nothing to score: none of the {positions} labels of y_true is observed, "
            "all are None or NaN."
        )


def require_positions(count: int) -> None:
    """Refuse to take a mean over nothing."""
    if count == 0:
        raise InputError("There is nothing to score: y_true has no positions.")


def ratio(part: Array, whole: Array) -> Array:
    """Return part / whole elementwise, and 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) != 0)
