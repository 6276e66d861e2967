"""Which functions a space keeps: subspaces that stand for the space of a kernel, and spaces that grow."""

from ._base import Approximated, Approximation, Landmarks, ObservationMap
from ._growing_base import Selection
from .atoms import Atoms
from .criteria import Criterion, ExactGain, FunctionalGradient, GainBound, GapShare
from .fourier import FourierMap, RandomFourier
from .greedy_cliques import GreedyCliques
from .grown import Grown, Pool
from .growth import Ending, Growth, Step
from .incomplete_cholesky import IncompleteCholesky
from .landmarks import KMeans, LeverageScores, Uniform
from .maps import KernelMap
from .nystroem import Nystroem
from .orders import AtRandom, InTurn, LargestGradient, Order
from .refit import Refit, RefitAll, RefitNew
from .sgps import SGPS
from .sgsa import SGSA
from .storage import Storage
from .task import State, Task, View
from .whole_sequences import WholeSequences

__all__ = [
    "SGPS",
    "SGSA",
    "Approximated",
    "Approximation",
    "AtRandom",
    "Atoms",
    "Criterion",
    "Ending",
    "ExactGain",
    "FourierMap",
    "FunctionalGradient",
    "GainBound",
    "GapShare",
    "GreedyCliques",
    "Grown",
    "Growth",
    "InTurn",
    "IncompleteCholesky",
    "KMeans",
    "KernelMap",
    "Landmarks",
    "LargestGradient",
    "LeverageScores",
    "Nystroem",
    "ObservationMap",
    "Order",
    "Pool",
    "RandomFourier",
    "Refit",
    "RefitAll",
    "RefitNew",
    "Selection",
    "State",
    "Step",
    "Storage",
    "Task",
    "Uniform",
    "View",
    "WholeSequences",
]
