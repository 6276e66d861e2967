"""Gram matrices: how they are computed, stored and multiplied."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ..observations import UniqueObservations, find_observations, origins, unique_observations
    from ._base import Gram
    from .blocks import KernelBlocks, block_times
    from .collapsed import CollapsedGram
    from .cross import blocks_times, kernel_times
    from .packed import PackedGram, gram_of, memory_budget
    from .stored import StoredGram
    from .tiled import TiledGram
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            ".observations": "UniqueObservations find_observations origins unique_observations",
            "_base": "Gram",
            "blocks": "KernelBlocks block_times",
            "collapsed": "CollapsedGram",
            "cross": "blocks_times kernel_times",
            "packed": "PackedGram gram_of memory_budget",
            "stored": "StoredGram",
            "tiled": "TiledGram",
        },
    )

__all__ = [
    "CollapsedGram",
    "Gram",
    "KernelBlocks",
    "PackedGram",
    "StoredGram",
    "TiledGram",
    "UniqueObservations",
    "block_times",
    "blocks_times",
    "find_observations",
    "gram_of",
    "kernel_times",
    "memory_budget",
    "origins",
    "unique_observations",
]
