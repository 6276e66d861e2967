"""The parameters of CRFsuite's five training algorithms: names, kinds, defaults and what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


def _integer(text: str) -> int:
    """Read as C's ``atoi`` does: as far as it goes."""
    found = re.match(r"\s*[+-]?\d+", text)
    return int(found.group()) if found else 0


def _real(text: str) -> float:
    """Read as C's ``atof`` does: as far as it goes."""
    found = re.match(r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)", text, re.I)
    return float(found.group()) if found else 0.0


def _switch(text: str) -> bool:
    return bool(_integer(text))


class Parameter(NamedTuple):
    """One of them."""

    read: Callable[[str], Any]
    default: Any
    help: str


FEATURES = {
    "feature.minfreq": Parameter(_real, 0.0, "Features that occur less often are left out."),
    "feature.possible_states": Parameter(
        _switch, False, "Whether every attribute has a weight for every label."
    ),
    "feature.possible_transitions": Parameter(
        _switch, False, "Whether every pair of labels has a weight, or those that occur."
    ),
}

LBFGS = {
    "c1": Parameter(_real, 0.0, "Weight of the L1 penalty, c1 Σ|w|."),
    "c2": Parameter(_real, 1.0, "Weight of the L2 penalty, c2 Σw²."),
    "max_iterations": Parameter(_integer, 2147483647, "The limit of iterations."),
    "num_memories": Parameter(_integer, 6, "From how many steps the inverse Hessian is guessed."),
    "epsilon": Parameter(_real, 1e-5, "Norm of the gradient over that of the weights at which to stop."),
    "period": Parameter(_integer, 10, "Over how many iterations an improvement is measured."),
    "delta": Parameter(_real, 1e-5, "Relative improvement over ${period} iterations at which to stop."),
    "linesearch": Parameter(
        str, "MoreThuente", "Line search: 'MoreThuente', 'Backtracking' or 'StrongBacktracking'."
    ),
    "max_linesearch": Parameter(_integer, 20, "The limit of trials of a line search."),
}

L2SGD = {
    "c2": Parameter(_real, 1.0, "Weight of the L2 penalty, c2 Σw²."),
    "max_iterations": Parameter(_integer, 1000, "The limit of epochs."),
    "period": Parameter(_integer, 10, "Over how many epochs an improvement is measured."),
    "delta": Parameter(_real, 1e-6, "Relative improvement over ${period} epochs at which to stop."),
    "calibration.eta": Parameter(_real, 0.1, "The first step that calibration tries."),
    "calibration.rate": Parameter(_real, 2.0, "The ratio of the steps that it tries."),
    "calibration.samples": Parameter(_integer, 1000, "From how many sequences it learns."),
    "calibration.candidates": Parameter(_integer, 10, "How many steps are to be found that improve."),
    "calibration.max_trials": Parameter(_integer, 20, "How many steps it tries at most."),
}

_EPOCHS = Parameter(_integer, 100, "The limit of epochs.")

PERCEPTRON = {
    "max_iterations": _EPOCHS,
    "epsilon": Parameter(_real, 0.0, "Mean share of wrong labels below which to stop."),
}

PASSIVE_AGGRESSIVE = {
    "type": Parameter(_integer, 1, "How to learn from noise: 0 (PA), 1 (PA-I) or 2 (PA-II)."),
    "c": Parameter(_real, 1.0, "Aggressiveness: the longest step of PA-I."),
    "error_sensitive": Parameter(_switch, True, "Whether more wrong labels cost more."),
    "averaging": Parameter(_switch, True, "Whether weights are averaged over all steps."),
    "max_iterations": _EPOCHS,
    "epsilon": Parameter(_real, 0.0, "Mean loss below which to stop."),
}

AROW = {
    "variance": Parameter(_real, 1.0, "The variance of every weight at the start."),
    "gamma": Parameter(_real, 1.0, "The larger, the smaller the steps."),
    "max_iterations": _EPOCHS,
    "epsilon": Parameter(_real, 0.0, "Mean loss at which to stop."),
}

TABLES: Mapping[str, Mapping[str, Parameter]] = {
    "lbfgs": FEATURES | LBFGS,
    "l2sgd": FEATURES | L2SGD,
    "averaged-perceptron": FEATURES | PERCEPTRON,
    "passive-aggressive": FEATURES | PASSIVE_AGGRESSIVE,
    "arow": FEATURES | AROW,
}
