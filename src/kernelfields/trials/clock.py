"""Time budgets."""

from __future__ import annotations

import re
import time
from typing import Any

from ..checks import shown
from ..errors import InputError

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)([smh])")
MOST = 1e9
"""Seconds, about thirty years."""


def budget_seconds(budget: Any) -> float:
    """Return a budget in seconds: a number of them, or a text such as 30s, 2m, 1h or 1h30m.

    Examples
    --------
    >>> budget_seconds("1h30m"), budget_seconds(45)
    (5400.0, 45.0)
    """
    if isinstance(budget, int | float) and not isinstance(budget, bool):
        found = float(budget)
    else:
        found = _seconds(budget) if isinstance(budget, str) else -1.0
    if not 0 < found <= MOST:
        raise InputError(f"budget is {shown(budget)}; it must be a time such as 30s, 2m or 1h.")
    return found


def _seconds(text: str) -> float:
    parts = _PART.findall(text)
    whole = bool(parts) and "".join(number + unit for number, unit in parts) == text
    return sum(float(number) * UNITS[unit] for number, unit in parts) if whole else -1.0


def duration(seconds: float) -> str:
    """Return seconds as people write them: 12 s, 3 min 20 s, 2 h 5 min."""
    count = round(max(seconds, 0.0))
    if count < 60:
        return f"{count} s"
    minutes, rest = divmod(count, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


class BudgetClock:
    """What is left of a budget, from now on."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._started = time.monotonic()

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    @property
    def left(self) -> float:
        """Seconds to go, at least 0."""
        return max(self.seconds - self.spent, 0.0)
