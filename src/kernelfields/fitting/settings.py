"""Checks of settings: what a name means is the same in all estimators, and so is what it may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..checks import (
    Check,
    chosen,
    one_of,
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
from ..errors import InputError
from ..tables import DECODERS, LOSSES, POSTERIORS, STRUCTURES


def odd(name: str, value: Any) -> None:
    """Check the width of a window, which has a middle."""
    if require_whole(name, value) % 2 == 0:
        raise InputError(f"{name} is {value}; it must be odd.")


def selecting(name: str, value: Any) -> None:
    """Check whether, or by which rule, functions are selected."""
    if isinstance(value, bool | np.bool_):
        return
    from ..selection import Selection

    if not isinstance(value, Selection):
        raise InputError(f"{name} is {shown(value)}; it must be True, False or a Selection.")


def worth(name: str, value: Any) -> None:
    """Check what a candidate must gain."""
    if value != "bic":
        require_not_negative(name, value)


CHECKS: Mapping[str, Check] = {
    **dict.fromkeys(
        [
            *("averaging", "fit_intercept", "boundaries", "edges", "error_sensitive"),
            *("keep_inputs", "observed_only", "refit", "shuffle", "warm_start"),
        ],
        require_flag,
    ),
    **dict.fromkeys(["min_samples_leaf", "n_init"], whole()),
    **dict.fromkeys(["budget", "max_depth", "n_states"], optional(whole())),
    **dict.fromkeys(["aggressiveness", "edge_variance", "gamma", "tol", "variance"], require_positive),
    **dict.fromkeys(["l1", "pseudocount"], require_not_negative),
    "edge_penalty": optional(require_not_negative),
    **dict.fromkeys(["max_features", "subsample"], proper_share),
    "decoder": chosen(DECODERS),
    "folds": optional(whole(2)),
    "loss": chosen(LOSSES),
    "max_leaf_nodes": optional(whole(2)),
    "max_iter": whole(0),
    "structure": chosen(STRUCTURES),
    "penalty": require_not_negative,
    "posterior": optional(chosen(POSTERIORS)),
    "random_state": optional(lambda name, value: random_state(value)),
    "learning_rate": optional(require_positive),
    "verbose": whole(0),
    "per_round": whole(),
    "search": one_of(["bound", "gain"]),
    "weight": require_positive,
    "worth": worth,
    "window": odd,
}
