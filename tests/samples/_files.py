"""Files as data sets have them, with their folders."""

import gzip
from pathlib import Path

import numpy as np


def write_text(path: Path, text: str) -> None:
    """Write a compressed text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1, newline="\n") as file:
        file.write(text)


def write_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write named arrays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


def offsets_of(lengths: list[int]) -> np.ndarray:
    """Where sequences of these lengths begin and end, one after the other."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
