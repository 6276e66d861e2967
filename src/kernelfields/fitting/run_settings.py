"""How a fit is run, apart from what is fitted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from ..checks import (
    Check,
    Checked,
    optional,
    precision,
    require_function,
    require_not_negative,
    require_whole,
    whole,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..solvers import Progress

UNSAVED = {"saved": False}
"""Metadata of fields that model files leave out."""


@dataclass(frozen=True, repr=False)
class Run(Checked):
    """How a fit is run: its precision and memory, who watches it, what is kept of it on the way.

    No estimator heeds all of these settings; one that is not heeded is refused by `fit`.

    Parameters
    ----------
    dtype : "float32" or "float64", optional
        Precision of observations and, where that can certify ``tol``, of Gram matrix and search; double if
        labels are missing, the loss is not convex, or kernels compare objects. The certificate is in double,
        kernel values computed anew. If not given, "float32", but "float64" in `KernelLogisticRegression`.
    memory_limit : int, optional
        Bytes that a Gram matrix may take, half of what is available if not given; a larger one is
        computed anew for every product. With an approximation, bytes beyond which its columns go to a file.
    patience : int
        With held-out data: iterations (epochs, rounds) without improvement there after which to stop.
    callback : callable, optional
        Called with a `Progress` record after every iteration. Not saved in model files.
    checkpoint : path, optional
        File in which the state of the search is kept while `fit` runs, at most ``checkpoint_seconds``
        old. If it is there at the start, and was written for the same data and settings, the search
        goes on from it; it is removed when the search has converged. Not saved in model files.
    checkpoint_seconds : float
        Least time between two writes of that file.
    quick_start : int, optional
        Passes of averaged stochastic gradient descent from which the search starts, where features are
        sparse and the structure is "chain"; if not given, some for training sets of many sequences, none
        for small ones. They do not change the optimum, only the way to it; their order is always the same.

    Examples
    --------
    >>> from kernelfields import CRF, Run
    >>> CRF(run=Run(patience=3)).set_params(run__checkpoint="state.ckpt").run
    Run(patience=3, checkpoint='state.ckpt')
    """

    dtype: npt.DTypeLike | None = None
    memory_limit: int | None = None
    patience: int = 5
    callback: Callable[[Progress], None] | None = field(default=None, metadata=UNSAVED)
    checkpoint: str | os.PathLike[str] | None = field(default=None, metadata=UNSAVED)
    checkpoint_seconds: float = 30.0
    quick_start: int | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        "dtype": optional(precision),
        "memory_limit": optional(lambda name, value: require_whole(name, value, 0)),
        "patience": whole(),
        "callback": optional(require_function),
        "checkpoint_seconds": require_not_negative,
        "quick_start": optional(whole(0)),
    }

    def __repr__(self) -> str:
        """Write the constructor call, leaving out what has its default."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.dtype is not None:
            given["dtype"] = np.dtype(self.dtype).name
        changed = (
            f"{one.name}={given[one.name]!r}" for one in fields(self) if given[one.name] != one.default
        )
        return f"Run({', '.join(changed)})"

    def __sklearn_clone__(self) -> Self:
        """Return this one: clones of an estimator are watched by the same callback."""
        return self
