"""Arrays in one .npz file: X, lengths, and perhaps y."""

from __future__ import annotations

import os
import zipfile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InputError

Array = npt.NDArray[Any]


class Arrays(NamedTuple):
    """Sequences, one behind the other."""

    X: Array
    """(N, D) numbers."""
    lengths: Array
    """(S,) numbers of positions, N in all."""
    y: Array | None
    """(N,) labels."""


def read_npz(path: str | os.PathLike[str]) -> Arrays:
    """Read arrays named ``X``, ``lengths`` and, if there are labels, ``y``; nothing is unpickled.

    Parameters
    ----------
    path : path
        As ``numpy.savez`` writes it.
    """
    name = os.fspath(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {key: file[key] for key in ("X", "lengths", "y") if key in file}
    except (ValueError, EOFError, zipfile.BadZipFile, TypeError, KeyError) as error:
        raise InputError(f"{name} is no file of arrays: {error}.") from error
    missing = [key for key in ("X", "lengths") if key not in found]
    if missing:
        raise InputError(f"{name} has no array {missing[0]!r}.")
    X, lengths, y = found["X"], found["lengths"], found.get("y")
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"{name}: X must be a matrix of numbers, not {X.dtype} of shape {X.shape}.")
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or (lengths < 0).any() or lengths.sum() != len(X):
        raise InputError(f"{name}: lengths must be whole numbers that add up to the {len(X)} rows of X.")
    if y is not None and y.shape != (len(X),):
        raise InputError(f"{name}: y has shape {y.shape}, expected ({len(X)},): one label per row of X.")
    return Arrays(X, lengths, y)
