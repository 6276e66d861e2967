"""How to ask, and what to promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..active.names import STRATEGIES
from ..checks import Check, Checked, choose, require_positive, require_share
from ..errors import InputError

CHECK = 0.2
"""Share of the questions that check the model."""


def _require_chance(name: str, value: Any) -> None:
    if not 0 < require_share(name, value) < 1:
        raise InputError(f"{name} is {value:g}; it must be above 0 and below 1.")


@dataclass(frozen=True)
class DeskSettings(Checked):
    """How to ask, and what to promise."""

    strategy: str = "margin"
    """What to ask next, as in `active.sequence_scores`. The margin between the two best labellings asked for
    fewer sequences than random draws did, on letters and on chunks of text; entropies and probabilities asked
    for the oddest letters or for the longest sentences first."""
    check: float = CHECK
    """Share of the questions that are drawn at random and only count errors."""
    error_at_most: float = 0.05
    """Share of errors among labels that the promise is about."""
    confidence: float = 0.95
    """Of the promise."""
    penalty: float = 1.0
    """Of the model."""
    _checks: ClassVar[Mapping[str, Check]] = {
        "strategy": lambda name, value: choose(STRATEGIES, value, name),
        "check": require_share,
        "error_at_most": _require_chance,
        "confidence": _require_chance,
        "penalty": require_positive,
    }
