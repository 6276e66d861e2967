"""How training went."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..errors import InputError
from ..report import Evaluation
from ..report.path import path_of
from .axes import GREY, RIGHT, axes


def path(model: Any, records: Iterable[Any] | None = None, *, ax: Any = None) -> Any:
    """Draw the objective after every step, and the lower bound that it cannot go below.

    Of models that select functions one by one, steps are numbers of functions: the selection path.

    Parameters
    ----------
    model : fitted model, Evaluation, or None
        Its ``path_`` is drawn unless there are records.
    records : iterable, optional
        `Progress` records, say from ``callback``.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        The first line are the values; the second, where there are bounds, the bounds.
    """
    found = model.path if isinstance(model, Evaluation) and records is None else path_of(model, records)
    if found is None or not found.steps:
        raise InputError(
            "No steps are known: fit with run=Run(callback=records.append) and give these records."
        )
    ax = axes(ax, 5.2, 3.6)
    at = [step.at for step in found.steps]
    values = [step.value for step in found.steps]
    ax.plot(at, values, color=RIGHT, marker="." if len(at) < 40 else "", label="objective")
    bounds = [(step.at, step.lower_bound) for step in found.steps if math.isfinite(step.lower_bound)]
    if bounds:
        ax.plot(*zip(*bounds, strict=True), color=GREY, linestyle="--", label="lower bound, certified")
        half = values[len(values) // 2 :]
        lows = [bound for _, bound in bounds[len(bounds) // 2 :]]
        room = max(max(half) - min(half + lows), 1e-3 * abs(max(half)), 1e-12)
        ax.set_ylim(min(half + lows) - 0.2 * room, min(max(values), max(half) + 2 * room) + 0.1 * room)
    title = "" if found.relative_gap is None else f"certified relative gap {found.relative_gap:.1e}"
    ax.set(xlabel="basis functions" if found.sized else "iteration", ylabel="objective", title=title)
    ax.legend(frameon=False)
    return ax
