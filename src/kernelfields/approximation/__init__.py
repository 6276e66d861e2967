"""Approximations of the space of a kernel by finite-dimensional subspaces and random features."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import Approximation, FactoredKernel, Landmarks, ObservationMap
    from .fourier import FourierMap, RandomFourier
    from .incomplete_cholesky import IncompleteCholesky
    from .landmarks import KMeans, LeverageScores, Uniform
    from .maps import KernelMap
    from .nystroem import Nystroem
    from .storage import Storage
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "Approximation FactoredKernel Landmarks ObservationMap",
            "fourier": "FourierMap RandomFourier",
            "incomplete_cholesky": "IncompleteCholesky",
            "landmarks": "KMeans LeverageScores Uniform",
            "maps": "KernelMap",
            "nystroem": "Nystroem",
            "storage": "Storage",
        },
    )

__all__ = [
    "Approximation",
    "FactoredKernel",
    "FourierMap",
    "IncompleteCholesky",
    "KMeans",
    "KernelMap",
    "Landmarks",
    "LeverageScores",
    "Nystroem",
    "ObservationMap",
    "RandomFourier",
    "Storage",
    "Uniform",
]
