"""Arrays in one .npz file: X, lengths, and optionally y."""

from __future__ import annotations

import math
import os
import struct
import zipfile
import zlib
from typing import IO, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError, quoted
from .opening import opened_file

NAMES = ("X", "lengths", "y")
LIMIT = 2**31
"""Bytes that arrays may take; a compressed file may unpack to a thousand times its size."""

DAMAGED = (
    *(ValueError, TypeError, KeyError, AttributeError, OSError, EOFError, OverflowError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, SyntaxError),
)
"""What NumPy and zipfile raise, depending on where a file is damaged."""


class Arrays(NamedTuple):
    """Concatenated sequences."""

    X: Array
    """(N, D) numbers."""
    lengths: Array
    """(S,) numbers of positions, N in all."""
    y: Array | None
    """(N,) labels: numbers, NaN if unobserved, or texts, empty if unobserved."""


def read_npz(path: str | os.PathLike[str], *, limit: int = LIMIT) -> Arrays:
    """Read arrays named ``X``, ``lengths`` and, if there are labels, ``y``; nothing is unpickled.

    Parameters
    ----------
    path : path
        A file as ``numpy.savez`` writes it.
    limit : int
        Bytes that these arrays may take in memory, checked before any of them is read.
    """
    name = os.fspath(path)
    with opened_file(path) as stream:
        try:
            size = _declared(stream)
            found = _read(stream) if size <= limit else {}
        except DAMAGED as error:
            reason = quoted(str(error) or type(error).__name__)[1:-1]
            raise InputError(f"{name} is not a file of arrays: {reason}.") from error
    if size > limit:
        more = "limit= in Python, --max-size of kf"
        raise InputError(
            f"{name}: the arrays would take {size:,} bytes, more than the limit of {limit:,} ({more})."
        )
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
    if y is not None:
        _require_labels(name, y, len(X))
    return Arrays(X, lengths, y)


def _declared(stream: IO[bytes]) -> int:
    """Return the bytes that the arrays take according to their headers, without reading them."""
    total = 0
    with zipfile.ZipFile(stream) as archive:
        for member in {f"{name}.npy" for name in NAMES} & set(archive.namelist()):
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0
                shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
            total += max(math.prod(shape) * dtype.itemsize, archive.getinfo(member).file_size)
    stream.seek(0)
    return total


def _read(stream: IO[bytes]) -> dict[str, Array]:
    with np.load(stream, allow_pickle=False) as file:
        there = set(file.zip.namelist())
        return {key: file[key] for key in NAMES if f"{key}.npy" in there}


def _require_labels(name: str, y: Array, rows: int) -> None:
    if y.shape != (rows,):
        raise InputError(f"{name}: y has shape {y.shape}, expected ({rows},): one label per row of X.")
    if y.dtype.kind not in "biufU":
        raise InputError(f"{name}: y has the type {y.dtype}, but must be numbers or texts.")
    if y.dtype.kind == "f" and np.isinf(y).any():
        row = int(np.isinf(y).argmax())
        raise InputError(f"{name}: y has infinity in row {row}; labels must be finite, or NaN if unobserved.")
