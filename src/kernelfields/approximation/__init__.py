"""Subspaces of fixed dimension, and random features, that stand for the space of a kernel."""

from ._base import Approximated, Approximation, Landmarks, ObservationMap
from .fourier import FourierMap, RandomFourier
from .incomplete_cholesky import IncompleteCholesky
from .landmarks import KMeans, LeverageScores, Uniform
from .maps import KernelMap
from .nystroem import Nystroem
from .storage import Storage

__all__ = [
    "Approximated",
    "Approximation",
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
