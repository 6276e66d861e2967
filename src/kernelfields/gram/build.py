"""The Gram matrix of some observations, stored if memory allows."""

from __future__ import annotations

import numpy.typing as npt

from ..checks import require_whole
from ..kernels import Kernel
from ..kernels.observations import Observations, count, precision_of
from ..memory import SMALL, available_memory
from ._base import Gram
from .collapsed import CollapsedGram
from .packed import PackedGram
from .tiled import TiledGram
from .unique import unique_observations

SHARE = 0.5
"""Share of the available memory that a Gram matrix may take if no limit is given."""


def gram_of(
    kernel: Kernel,
    X: Observations,
    dtype: npt.DTypeLike | None = None,
    memory_limit: int | None = None,
) -> Gram:
    """Return the Gram matrix K_ij = k(x_i, x_j), stored if it fits in memory, else recomputed at each use.

    Half of a symmetric matrix is stored, and observations that repeat are stored once.

    Parameters
    ----------
    kernel : Kernel
        k.
    X : (n, D) array, scipy-sparse matrix, or a sequence of what the kernel compares
        x_i.
    dtype : float32 or float64, optional
        Of the entries of K; that of X if not given.
    memory_limit : int, optional
        Bytes that K may take; if not given, half of what is available now.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields.kernels import RBF
    >>> gram = gram_of(RBF(gamma=0.5), np.array([[0.0], [2.0], [0.0]]))
    >>> gram.size, gram.times(np.eye(3)[:, :1]).round(3).ravel().tolist()
    (3, [1.0, 0.135, 1.0])
    """
    precision = precision_of(X, dtype)
    unique = unique_observations(X)
    needed = PackedGram.bytes_for(count(unique.observations), precision)
    small = memory_limit is None and needed <= SMALL
    kind = PackedGram.of if small or needed <= memory_budget(memory_limit) else TiledGram
    gram: Gram = kind(kernel, unique.observations, precision)
    return gram if gram.size == len(unique.inverse) else CollapsedGram(gram, unique.inverse)


def memory_budget(limit: int | None) -> int:
    """Return the bytes that may be used: ``limit``, or ``SHARE`` of what is available."""
    return int(SHARE * available_memory()) if limit is None else require_whole("memory_limit", limit, 0)
