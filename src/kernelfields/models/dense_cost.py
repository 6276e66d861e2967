"""Estimates of the time and memory of a fit with expansions over all observations, and a warning."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import LargeFitWarning, warn_user
from ..gram.packed import PackedGram, memory_budget
from ..kernels import Kernel
from ..observations import count, take
from .parts import BoundKernel

LARGE = 20_000
"""Number of distinct observations above which the estimate becomes a warning."""
NOTABLE = 5_000
"""Number of distinct observations above which ``verbose`` shows it."""
PROBE = 512
"""Observations whose kernel values are timed."""
PRODUCTS = 50
"""Products with a Gram matrix that a search takes, or so."""


class DenseCost(NamedTuple):
    """An estimate."""

    observations: int
    gigabytes: float
    """Size of all Gram matrices together."""
    stored: bool
    """Whether they fit into the memory that they may take; if not, every product recomputes them."""
    seconds: float

    def __str__(self) -> str:
        """Return a sentence."""
        where = "" if self.stored else ", more than it may take, so that every product computes it anew"
        minutes = self.seconds / 60
        length = f"{minutes:.0f} min" if minutes >= 2 else f"{max(self.seconds, 1.0):.0f} s"
        return (
            f"The Gram matrix of {self.observations:,} observations has {self.gigabytes:.2g} GB{where}; "
            f"the fit will take about {length}."
        )


def announce(model: Any, bound: Iterable[BoundKernel], dtype: np.dtype[Any], n_labels: int) -> None:
    """Announce the time and memory of a fit with expansions over all observations.

    A warning if it is large, and a line with ``verbose``.
    """
    dense = {id(one.kernel): one for one in bound if type(one) is BoundKernel and one.factored is None}
    size = max((count(one.observations) for one in dense.values()), default=0)
    if not dense or (size <= LARGE and not model.verbose):
        return
    cost = estimate(list(dense.values()), dtype, n_labels, model.run.memory_limit)
    if model.verbose:
        print(cost, file=sys.stderr, flush=True)
    if size > LARGE:
        advice = "basis='nystroem' takes time and memory in proportion to their number."
        warn_user(f"{cost} {advice}", LargeFitWarning)


def estimate(
    dense: Sequence[BoundKernel], dtype: np.dtype[Any], n_labels: int, memory_limit: int | None
) -> DenseCost:
    """Estimate memory, and time from that of a small block and of a product with it.

    With n observations, s seconds for a kernel value and m for a multiply-add, a search takes about
    n²(s + 50 L m), or n²(50 s + 50 L m) where the matrix is not stored, and its certificate, in double, n² s.
    """
    observations = dense[0].observations
    size = count(observations)
    needed = len(dense) * PackedGram.bytes_for(size, dtype)
    stored = needed <= memory_budget(memory_limit)
    value, product = _rates([one.kernel for one in dense], observations, n_labels)
    computed = 2 if stored else 1 + PRODUCTS
    seconds = float(size) ** 2 * (computed * value / 2 + PRODUCTS * product * len(dense))
    return DenseCost(size, needed / 2**30, stored, seconds)


def _rates(kernels: list[Kernel], observations: Any, labels: int) -> tuple[float, float]:
    """Return seconds for a value of every kernel, and for its share in a product with a column per label."""
    sample = take(observations, np.arange(min(PROBE, count(observations))))
    start = time.perf_counter()
    blocks = [kernel.block(sample, sample) for kernel in kernels]
    middle = time.perf_counter()
    blocks[0] @ np.ones((len(blocks[0]), labels), dtype=blocks[0].dtype)
    end = time.perf_counter()
    return (middle - start) / blocks[0].size, (end - middle) / blocks[0].size
