"""True and predicted label sequences, side by side in flat arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..structures._base import Array, offsets_of

NO_LABEL = -1


class Pairs(NamedTuple):
    """All positions of all sequences, one sequence after the other."""

    true: Array
    """(N,) index into ``labels``."""
    predicted: Array
    """(N,) index into ``labels``; −1 where the prediction is None, which is right nowhere."""
    offsets: Array
    """(S + 1,) where each sequence begins."""
    labels: list[Hashable]
    """Labels that occur on either side, sorted if they can be."""

    @property
    def right(self) -> Array:
        """Whether each position is predicted right, (N,)."""
        return self.true == self.predicted


def read_pairs(y_true: Any, y_pred: Any) -> Pairs:
    """Read two lists of label sequences of the same lengths; only predictions may be None."""
    true, predicted = read_sequences(y_true, "y_true"), read_sequences(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise InputError(f"y_true has {len(true)} sequences, but y_pred has {len(predicted)}.")
    for s, (a, b) in enumerate(zip(true, predicted, strict=True)):
        if len(a) != len(b):
            raise InputError(f"Sequence {s} has {len(a)} labels in y_true, but {len(b)} in y_pred.")
    require_observed(true)
    labels = distinct(chain(true, predicted))
    index = {label: k for k, label in enumerate(labels)}
    index[None] = NO_LABEL
    return Pairs(encode(true, index), encode(predicted, index), offsets_of([len(a) for a in true]), labels)


def read_sequences(y: Any, name: str) -> list[list[Hashable]]:
    """Read a list of label sequences."""
    if isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
        raise InputError(f"{name} must be a list of label sequences.")
    result = []
    for s, labels in enumerate(y):
        # A string would be taken for a sequence of characters: most likely y is flat.
        if isinstance(labels, (str, bytes)) or not hasattr(labels, "__len__"):
            raise InputError(f"Sequence {s} of {name} is {labels!r}, not a list of labels.")
        result.append(labels.tolist() if isinstance(labels, np.ndarray) else list(labels))
    return result


def require_observed(y: list[list[Hashable]]) -> None:
    """Refuse truths with unobserved labels: nothing can be compared with them."""
    for s, labels in enumerate(y):
        if None in labels:
            raise InputError(f"Sequence {s} of y_true has no label at position {labels.index(None)}.")


def distinct(y: Iterable[list[Hashable]]) -> list[Hashable]:
    """Labels that occur, but None; sorted if they can be."""
    seen: dict[Hashable, None] = {}
    for labels in y:
        try:
            seen.update(dict.fromkeys(labels))
        except TypeError as error:
            raise InputError(f"{labels!r} holds a label that is not hashable: {error}.") from error
    seen.pop(None, None)
    try:
        return sorted(seen)  # type: ignore[type-var]
    except TypeError:
        return list(seen)


def encode(y: list[list[Hashable]], index: dict[Hashable, int]) -> Array:
    """All labels of all sequences as numbers; −1 for those that have none."""
    return np.array([index.get(label, NO_LABEL) for labels in y for label in labels], dtype=np.int64)


def require_positions(count: int) -> None:
    """Refuse to take a mean over nothing."""
    if count == 0:
        raise InputError("There is nothing to score: y_true has no positions.")


def ratio(part: Array, whole: Array) -> Array:
    """Elementwise part / whole, and 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) != 0)
