"""Checks of settings: what a name means is the same in all estimators, and so is what it may be."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..checks import (
    Check,
    optional,
    proper_share,
    require_flag,
    require_not_negative,
    require_positive,
    require_whole,
    shown,
    whole,
)
from ..data.seeds import random_state
from ..data.training import LOSSES
from ..errors import InputError
from ..parameters import Parameterised
from ..selection import Selection
from ..tables import DECODERS, STRUCTURES, choose


def odd(name: str, value: Any) -> None:
    """Check the width of a window, which has a middle."""
    if require_whole(name, value) % 2 == 0:
        raise InputError(f"{name} is {value}; it must be odd.")


def penalties(name: str, value: Any) -> None:
    """Check one penalty, or one for each of several kernels."""
    for k, one in enumerate(value) if isinstance(value, list | tuple) else [("", value)]:
        require_not_negative(f"{name}[{k}]" if k != "" else name, one)


def positive_penalties(name: str, value: Any) -> None:
    """Check penalties that must not be zero."""
    for k, one in enumerate(value) if isinstance(value, list | tuple) else [("", value)]:
        require_positive(f"{name}[{k}]" if k != "" else name, one)


def one_of(names: Collection[str]) -> Check:
    """Return a check that a setting is one of some names."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or value not in names:
            known = ", ".join(map(repr, names))
            raise InputError(f"{name}={shown(value)} is not known; choose one of {known}.")

    return check


def selecting(name: str, value: Any) -> None:
    """Check whether, or by which rule, functions are selected."""
    if not isinstance(value, bool | np.bool_ | Selection):
        raise InputError(f"{name} is {shown(value)}; it must be True, False or a Selection.")


def precision(name: str, value: Any) -> None:
    """Check the type of the numbers of a Gram matrix."""
    try:
        known = value is not None and np.dtype(value) in (np.float32, np.float64)
    except (TypeError, ValueError):
        known = False
    if not known:
        raise InputError(f"{name} is {shown(value)}; it must be 'float32' or 'float64'.")


def function(name: str, value: Any) -> None:
    """Check something that is to be called."""
    if not callable(value):
        raise InputError(f"{name} is {shown(value)}; it must be a function, or None.")


def require_settings(model: Parameterised, **special: Check) -> None:
    """Refuse settings that mean nothing, before anything is computed; ``special`` goes before `CHECKS`."""
    settings = vars(model)
    for name, check in {**CHECKS, **special}.items():
        if name in settings:
            check(name, settings[name])


CHECKS: Mapping[str, Check] = {
    **dict.fromkeys(
        [
            *(
                "averaging",
                "fit_intercept",
                "boundaries",
                "edges",
                "edge_features",
                "edge_trees",
                "error_sensitive",
            ),
            *("keep_inputs", "observed_only", "refit", "shuffle", "warm_start"),
        ],
        require_flag,
    ),
    **dict.fromkeys(["min_samples_leaf", "n_init", "patience"], whole()),
    **dict.fromkeys(["budget", "max_depth", "n_states"], optional(whole())),
    **dict.fromkeys(["aggressiveness", "edge_variance", "gamma", "tol", "variance"], require_positive),
    **dict.fromkeys(["checkpoint_seconds", "l1", "pseudocount", "worth"], require_not_negative),
    **dict.fromkeys(["edge_penalty", "second_order_penalty"], optional(require_not_negative)),
    **dict.fromkeys(["max_features", "subsample"], proper_share),
    "callback": optional(function),
    "decoder": lambda name, value: choose(DECODERS, value, name),
    "dtype": precision,
    "folds": optional(whole(2)),
    "loss": one_of(LOSSES),
    "max_leaf_nodes": optional(whole(2)),
    "max_iter": whole(0),
    "memory_limit": optional(lambda name, value: require_whole(name, value, 0)),
    "structure": lambda name, value: choose(STRUCTURES, value, name),
    "penalty": require_not_negative,
    "quick_start": optional(whole(0)),
    "random_state": optional(lambda name, value: random_state(value)),
    "learning_rate": optional(require_positive),
    "verbose": whole(0),
    "weight": require_positive,
    "window": odd,
}
