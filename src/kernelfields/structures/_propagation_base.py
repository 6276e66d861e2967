"""What all kinds of message passing for sums over labelled graphs share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import native
from ..arrays import Array
from ..checks import Check, Checked, require_not_negative, shown, whole
from ..errors import InputError
from ._approximate_base import ApproximateGraphBatch, Beliefs
from ._base import Scores
from ._search_base import MaxSearch, require_search
from .factor_tables import Layout
from .reweighted_max import TreeReweightedMax

SCHEDULES = ("sweeps", "residual", "flooding")


def known_schedule(name: str, value: Any) -> str:
    """Return the name of a schedule."""
    if not isinstance(value, str) or value not in SCHEDULES:
        raise InputError(f"{name} is {shown(value)}; it must be 'sweeps', 'residual' or 'flooding'.")
    return value


def part_kept(name: str, value: Any) -> float:
    """Return a share that is not the whole."""
    share = require_not_negative(name, value)
    if share >= 1:
        raise InputError(f"{name} is {shown(value)}; it must be a number from 0 to below 1.")
    return share


@dataclass(frozen=True)
class Propagation(Checked):
    """Settings of message passing; `BeliefPropagation` says what they are."""

    schedule: str = "sweeps"
    damping: float = 0.0
    max_iter: int = 500
    tol: float = 1e-8
    search: MaxSearch = field(default_factory=TreeReweightedMax)
    _checks: ClassVar[Mapping[str, Check]] = {
        "schedule": known_schedule,
        "damping": part_kept,
        "max_iter": whole(1),
        "tol": require_not_negative,
        "search": require_search,
    }


def propagate(
    batch: ApproximateGraphBatch,
    scores: Scores,
    weights: Array,
    layout: Layout,
    *,
    with_factors: bool,
    total: Array | None = None,
) -> Beliefs:
    """Pass messages, factors counting as often as their weights say.

    ``total`` is for every vertex its counting number plus those of its factors; ones if it is not given.
    """
    settings = batch.inference
    found = native.graph_propagate(
        *batch._merged.scored(scores, layout),
        weights,
        total,
        *batch._shape(),
        layout.of_factor,
        layout.first,
        with_factors,
        SCHEDULES.index(settings.schedule),
        settings.damping,
        settings.max_iter,
        settings.tol,
    )
    return Beliefs(*found)
