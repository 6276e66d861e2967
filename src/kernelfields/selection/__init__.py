"""Spaces that grow: functions of labelled cliques, selected one after the other."""

from ._growing_base import Selection
from .atoms import Atoms
from .criteria import Criterion, ExactGain, FunctionalGradient, GainBound, GapShare
from .greedy_cliques import GreedyCliques
from .grown import Grown, Pool
from .growth import Ending, Growth, Step
from .orders import AtRandom, InTurn, LargestGradient, Order
from .refit import Refit, RefitAll, RefitNew
from .sgps import SGPS
from .sgsa import SGSA
from .task import State, Task, View
from .whole_sequences import WholeSequences

__all__ = [
    "SGPS",
    "SGSA",
    "AtRandom",
    "Atoms",
    "Criterion",
    "Ending",
    "ExactGain",
    "FunctionalGradient",
    "GainBound",
    "GapShare",
    "GreedyCliques",
    "Grown",
    "Growth",
    "InTurn",
    "LargestGradient",
    "Order",
    "Pool",
    "Refit",
    "RefitAll",
    "RefitNew",
    "Selection",
    "State",
    "Step",
    "Task",
    "View",
    "WholeSequences",
]
