"""Labels of any hashable kind, to integers and back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..structures._base import Array

UNOBSERVED = -1


class Encoded(NamedTuple):
    """Observed labels of a training set."""

    labels: Array
    """Index into the classes for every position; −1 where unobserved."""
    classes: Array


def read_labels(y: Any, lengths: Array) -> list[list[Hashable]]:
    """Read y, a list of label sequences as long as those of X, or one flat one."""
    if isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
        raise InputError("y must be a list of label sequences.")
    if _flat(y, lengths):
        ends = np.cumsum(lengths)
        y = [y[a:b] for a, b in zip(ends - lengths, ends, strict=True)]
    if len(y) != len(lengths):
        raise InputError(f"X has {len(lengths)} sequences, but y has {len(y)}.")
    for s, (labels, length) in enumerate(zip(y, lengths, strict=True)):
        if not hasattr(labels, "__len__"):
            raise InputError(f"Sequence {s} of y is not a sequence of labels.")
        if len(labels) != length:
            raise InputError(f"Sequence {s} has {length} positions in X, but {len(labels)} labels in y.")
    shared: dict[Hashable, Hashable] = {}  # arrays make a new object for every entry
    return [
        [shared.setdefault(label, label) for label in labels.tolist()]
        if isinstance(labels, np.ndarray) and labels.dtype != object
        else list(labels)
        for labels in y
    ]


def _flat(y: Any, lengths: Array) -> bool:
    """Whether y is one array over all positions."""
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype != object and len(y) == lengths.sum()


def encode(y: list[list[Hashable]], known: list[Hashable] | None = None) -> Encoded:
    """Give the classes of a training set, and its labels as indices into them.

    Classes known before come first; others that occur follow.
    """
    distinct = _distinct(y)
    if known is not None:
        distinct = list(dict.fromkeys([*known, *distinct]))
    if len(distinct) < 2:
        raise InputError(f"Training needs at least two labels; y has {len(distinct)}.")
    index = {label: k for k, label in enumerate(distinct)}
    index[None] = UNOBSERVED
    labels = np.fromiter(map(index.__getitem__, chain.from_iterable(y)), np.int32, sum(map(len, y)))
    return Encoded(labels, as_array(distinct))


def _distinct(y: list[list[Hashable]]) -> list[Hashable]:
    """Labels that occur, sorted if they can be."""
    seen: dict[Hashable, None] = {}
    for s, labels in enumerate(y):
        try:
            seen.update(dict.fromkeys(labels))
        except TypeError as error:
            raise InputError(f"Sequence {s} of y holds a label that is not hashable: {error}.") from error
    seen.pop(None, None)
    try:
        return sorted(seen)  # type: ignore[type-var]
    except TypeError:
        return list(seen)


def as_array(labels: Iterable[Hashable]) -> Array:
    """Labels as an array, of objects unless all are strings or all are numbers."""
    labels = list(labels)
    for kind in (str, bool, int, float):
        if all(type(label) is kind for label in labels):
            return np.array(labels)
    result = np.empty(len(labels), dtype=object)
    result[:] = labels
    return result


def index_of(classes: Array) -> dict[Hashable, int]:
    """Index of every class."""
    return {label: k for k, label in enumerate(classes.tolist())}


def lookup(y: list[list[Hashable]], classes: Array, what: str = "y") -> Array:
    """Labels as indices into known classes; unknown ones are refused by sequence and position."""
    index = index_of(classes)
    result = []
    for s, labels in enumerate(y):
        for t, label in enumerate(labels):
            if label not in index:
                raise InputError(f"Sequence {s} of {what} has the unknown label {label!r} at position {t}.")
            result.append(index[label])
    return np.asarray(result, dtype=np.int32)


def read_allowed(allowed: Any, classes: Array, lengths: Array) -> Array:
    """Read which labels each position may take, as an (N, L) mask.

    One entry per sequence: None (all), or one entry per position: None (all), a label, or a list or
    set of labels; or a (T, L) array of booleans.
    """
    if len(allowed) != len(lengths):
        raise InputError(f"X has {len(lengths)} sequences, but allowed has {len(allowed)}.")
    index = index_of(classes)
    mask = np.ones((int(lengths.sum()), len(classes)), dtype=bool)
    start = 0
    for s, (entry, length) in enumerate(zip(allowed, lengths, strict=True)):
        if entry is not None:
            if len(entry) != length:
                raise InputError(f"Sequence {s} has {length} positions in X, but {len(entry)} in allowed.")
            for t, choice in enumerate(entry):
                mask[start + t] = _choice(choice, index, s, t)
        start += length
    return mask


def _choice(choice: Any, index: dict[Hashable, int], s: int, t: int) -> Array:
    """One position's mask."""
    if choice is None:
        return np.ones(len(index), dtype=bool)
    if isinstance(choice, np.ndarray) and choice.dtype == bool:
        return choice
    labels = choice if isinstance(choice, (list, set, frozenset)) else [choice]
    mask = np.zeros(len(index), dtype=bool)
    for label in labels:
        if label not in index:
            raise InputError(f"Sequence {s} of allowed has the unknown label {label!r} at position {t}.")
        mask[index[label]] = True
    if not mask.any():
        raise InputError(f"Sequence {s} of allowed has no label at position {t}.")
    return mask
