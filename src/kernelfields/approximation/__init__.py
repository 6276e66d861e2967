"""Approximations of the space of a kernel by finite-dimensional subspaces and random features."""

from ._base import Approximation, FactoredKernel, Landmarks, ObservationMap
from .fourier import FourierMap, RandomFourier
from .incomplete_cholesky import IncompleteCholesky
from .landmarks import KMeans, LeverageScores, Uniform
from .maps import KernelMap
from .nystroem import Nystroem
from .storage import Storage

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
