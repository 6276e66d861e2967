"""Numbers of tokens, such as embeddings, from a file of arrays beside the file of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..features import ArrayTokens
from ..io.npz import read_npz
from ..io.opening import is_pipe, opened_file
from .items import Item


def with_arrays(items: Iterator[Item], source: Any, given: str, limit: int) -> Iterator[Item]:
    """Give every token its row of numbers.

    Parameters
    ----------
    items : iterator of Item
        Sequences of tokens.
    source : path or stream
        Where they are from.
    given : str
        An ending such as ".npy": of the file beside that of the tokens. Or the name of a file.
    limit : int
        Bytes that arrays of an .npz may take.
    """
    path = dense_path(source, given)
    rows, lengths = _rows(path, limit)
    begin = s = 0
    for s, item in enumerate(items, 1):
        if isinstance(item.x, np.ndarray):
            raise InputError("--dense is for tokens; these data have numbers already.")
        end = begin + len(item.x)
        if end > len(rows):
            hint = "; an ending such as .npy takes the file beside each" if not given.startswith(".") else ""
            raise InputError(
                f"{path} has {len(rows)} rows, too few for the tokens of sequence {s - 1}{hint}."
            )
        if lengths is not None and (s > len(lengths) or lengths[s - 1] != len(item.x)):
            raise InputError(f"{path}: sequence {s - 1} has other lengths there than {len(item.x)} tokens.")
        numbers = np.array(rows[begin:end])
        if not np.isfinite(numbers).all():
            bad = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])
            raise InputError(f"{path}: row {begin + bad} holds NaN or infinity.")
        yield replace(item, x=ArrayTokens(item.x, numbers))
        begin = end
    if begin != len(rows):
        raise InputError(f"{path} has {len(rows)} rows, but the {s} sequences have {begin} tokens.")


def dense_path(source: Any, given: str) -> Path:
    """Return the file of numbers that belongs to a file of tokens."""
    if not given.startswith("."):
        return Path(given)
    if not isinstance(source, Path):
        raise InputError(f"--dense {given} needs a file to be beside; give the name of the file of numbers.")
    return source.with_suffix(given)


def _rows(path: Path, limit: int) -> tuple[Array, Array | None]:
    """Return (N, D) numbers, of .npy as they are needed; lengths of sequences, if the file has them."""
    piped = is_pipe(path)
    if not path.is_file() and not piped:
        raise InputError(f"{path}: there is no such file of numbers (--dense).")
    if path.suffix == ".npz":
        arrays = read_npz(path, limit=limit)
        return arrays.X, arrays.lengths
    try:
        if piped:
            with opened_file(path) as file:
                rows = np.load(file, allow_pickle=False)
        else:
            rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError, SyntaxError) as error:
        raise InputError(f"{path} holds no array of numbers in NumPy's format, or is damaged.") from error
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "fiu":
        raise InputError(f"{path} holds no (N, D) array of numbers.")
    return rows, None
