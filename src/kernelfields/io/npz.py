"""Arrays in one .npz file: X, lengths, and perhaps y."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InputError, quoted

Array = npt.NDArray[Any]


DAMAGED = (
    *(ValueError, TypeError, KeyError, AttributeError, OSError, EOFError, OverflowError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, SyntaxError),
)
"""What NumPy and zipfile raise, according to where a file is damaged."""


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
    with open(path, "rb") as stream:
        try:
            with np.load(stream, allow_pickle=False) as file:
                found = {key: file[key] for key in ("X", "lengths", "y") if key in file}
        except DAMAGED as error:
            reason = quoted(str(error) or type(error).__name__)[1:-1]
            raise InputError(f"{name} is no file of arrays: {reason}.") from error
    missing = [key for key in ("X", "lengths") if key not in found]
    if missing:
        raise InputError(f"{name} has no array {missing[0]!r}.")
    X, lengths, y = found["X"], found["lengths"], found.get("y")
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"{name}: X must be a matrix of numbers, not {X.dtype} of shape {X.shape}.")
    if (
        lengths.ndim != 1
        or lengths.dtype.kind not in "iu"
        or (lengths < 0).any()
        or sum(lengths.tolist()) != len(X)
    ):
        raise InputError(f"{name}: lengths must be whole numbers that add up to the {len(X)} rows of X.")
    if y is not None and y.shape != (len(X),):
        raise InputError(f"{name}: y has shape {y.shape}, expected ({len(X)},): one label per row of X.")
    return Arrays(X, lengths, y)
