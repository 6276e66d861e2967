"""Labels of hidden Markov models: large arrays of whole numbers without a detour over objects."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..emissions.vocabulary import distinct_integers
from ..errors import InputError
from .labels import Encoded, encode, read_labels
from .types import Outputs


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
