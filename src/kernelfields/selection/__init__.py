"""Spaces that grow: functions of labelled cliques, selected step by step."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._growing_base import Selection
    from .atoms import Atoms
    from .criteria import Criterion, ExactGain, FunctionalGradient, GainBound, GapShare
    from .greedy_cliques import GreedyCliques
    from .growth import Growth, SelectionReason, SelectionStep
    from .import_vectors import ImportVectors
    from .newton_gains import NewtonGains
    from .orders import AtRandom, InTurn, LargestGradient, Order
    from .pool import Pool
    from .refit import Refit, RefitAll, RefitNew
    from .sgps import SGPS
    from .sgsa import SGSA
    from .span import SelectedSpan
    from .task import GrowthState, GrowthTask, View
    from .whole_sequences import WholeSequences
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_growing_base": "Selection",
            "atoms": "Atoms",
            "criteria": "Criterion ExactGain FunctionalGradient GainBound GapShare",
            "greedy_cliques": "GreedyCliques",
            "growth": "Growth SelectionReason SelectionStep",
            "import_vectors": "ImportVectors",
            "newton_gains": "NewtonGains",
            "orders": "AtRandom InTurn LargestGradient Order",
            "pool": "Pool",
            "refit": "Refit RefitAll RefitNew",
            "sgps": "SGPS",
            "sgsa": "SGSA",
            "span": "SelectedSpan",
            "task": "GrowthState GrowthTask View",
            "whole_sequences": "WholeSequences",
        },
    )

__all__ = [
    "SGPS",
    "SGSA",
    "AtRandom",
    "Atoms",
    "Criterion",
    "ExactGain",
    "FunctionalGradient",
    "GainBound",
    "GapShare",
    "GreedyCliques",
    "Growth",
    "GrowthState",
    "GrowthTask",
    "ImportVectors",
    "InTurn",
    "LargestGradient",
    "NewtonGains",
    "Order",
    "Pool",
    "Refit",
    "RefitAll",
    "RefitNew",
    "SelectedSpan",
    "Selection",
    "SelectionReason",
    "SelectionStep",
    "View",
    "WholeSequences",
]
