"""Work on pieces of a block, on all cores, by functions that release Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from .. import native
from ._base import Array

PIECE = 2**16
"""Numbers of a piece: it stays in the cache over several passes."""


def for_each_piece(block: Array, work: Callable[[slice], None]) -> None:
    """Call ``work`` with slices of columns that cover the block, several at a time."""
    rows, columns = block.shape
    width = max(16, PIECE // max(1, rows))
    pieces = [slice(start, min(start + width, columns)) for start in range(0, columns, width)]
    threads = min(native.threads(), len(pieces))
    if threads < 2:
        for piece in pieces:
            work(piece)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, pieces):  # raises what the first of them raised
            pass
