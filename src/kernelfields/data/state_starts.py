"""Hidden states: those that classes own, and guesses to begin with that break the tie between them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..arrays import Array
from ..emissions.vocabulary import distinct_integers
from ..errors import InputError
from .labels import Encoded, encode, read_labels
from .types import Outputs


def random_states(labels: Array, first: Array, counts: Array, random: np.random.RandomState) -> Array:
    """Return a state of every label at random, (N,); −1 where there is no label.

    Parameters
    ----------
    labels : (N,) integers
        Labels, −1 where there is none.
    first : (L,) integers
        The first state of every label.
    counts : (L,) integers
        How many states every label has.
    random : RandomState
        Where to draw from.
    """
    drawn = np.floor(random.random_sample(len(labels)) * counts[labels]).astype(np.int64)
    return _states(labels, first, drawn)


def run_states(labels: Array, offsets: Array, first: Array, counts: Array) -> Array:
    """Return states by the place in a run of equal labels: its first part, …, its last part."""
    place = np.zeros(len(labels), dtype=np.int64)
    begins = np.ones(len(labels), dtype=bool)
    begins[1:] = labels[1:] != labels[:-1]
    begins[offsets[:-1][offsets[:-1] < len(labels)]] = True
    starts = np.flatnonzero(begins)
    lengths = np.diff([*starts.tolist(), len(labels)])
    within = np.arange(len(labels)) - np.repeat(starts, lengths)
    place[:] = within * counts[labels] // np.maximum(np.repeat(lengths, lengths), 1)
    return _states(labels, first, place)


def clustered_states(
    labels: Array, features: Any, first: Array, counts: Array, random: np.random.RandomState
) -> Array:
    """Return states by k-means of the observations of every label."""
    if features.dtype == object or features.ndim != 2:
        raise InputError("start='kmeans' needs observations that are rows of numbers; use start='random'.")
    place = np.zeros(len(labels), dtype=np.int64)
    for label, count in enumerate(counts):
        mine = np.flatnonzero(labels == label)
        place[mine] = k_means(features[mine], int(count), random)
    return _states(labels, first, place)


def k_means(points: Any, count: int, random: np.random.RandomState) -> Array:
    """Return the cluster of every row, by scikit-learn's k-means from one start."""
    if count < 2 or points.shape[0] <= count:
        return np.arange(points.shape[0]) % count
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    found = KMeans(count, n_init=1, random_state=random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct observations than clusters
        numbers = found.fit_predict(points.astype(np.float64))
    return np.asarray(numbers, dtype=np.int64)


def _states(labels: Array, first: Array, place: Array) -> Array:
    return np.where(labels >= 0, first[labels] + place, -1)


def encode_states(y: Outputs, sizes: Array) -> Encoded:
    """Return classes, and labels as indices into them; −1 where one is None."""
    flat = _integers(y, sizes)
    if flat is None:
        return encode(read_labels(y, sizes))
    classes, labels = distinct_integers(flat)
    if len(classes) < 2:
        raise InputError(f"Training needs at least two labels; y has {len(classes)}.")
    return Encoded(labels, classes)


def _integers(y: Outputs, sizes: Array) -> Array | None:
    """All labels in one array if they come as arrays of whole numbers of the right lengths."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and np.issubdtype(y.dtype, np.integer):
        return y if len(y) == sizes.sum() else None
    if not isinstance(y, list) or len(y) != len(sizes) or not y:
        return None
    if not all(isinstance(labels, np.ndarray) and np.issubdtype(labels.dtype, np.integer) for labels in y):
        return None
    if any(labels.shape != (size,) for labels, size in zip(y, sizes, strict=True)):
        return None
    return np.concatenate(y)
