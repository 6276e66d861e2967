"""Figures, where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import Any

from kernelfields.io.replacing import replacing

from .results import FIGURE, Outcome

MISSING = "There is no figure, because matplotlib is not installed: pip install 'kernelfields[plot]'."

WIDTH = 11
"""Letters of a model's name in a line below a panel."""

Draw = Callable[[Outcome, Any], None]
"""Draws an outcome into a matplotlib figure."""


def write_figure(outcome: Outcome, draw: Draw, folder: Path) -> str | None:
    """Draw into the folder; if that is not possible, give the sentence that says why."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return MISSING
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    draw(outcome, figure)
    with replacing(folder / FIGURE) as file:
        figure.savefig(file, dpi=120, format="png")
    return None


def points_of_models(panel: Any, outcome: Outcome, value: str, label: str, paper: str | None = None) -> None:
    """Draw a point with its standard error for every model, beside the number of the paper if it has one."""
    rows = outcome.rows
    values, errors = ([row[column] for row in rows] for column in (value, "standard error"))
    panel.errorbar(range(len(rows)), values, yerr=errors, fmt="o", capsize=4, label="here")
    if paper is not None:
        places = [place + 0.15 for place in range(len(rows))]
        panel.plot(places, [row[paper] for row in rows], "kD", label="paper")
        panel.figure.legend(loc="outside upper right", ncols=2)
    panel.set_xticks(range(len(rows)), [fill(row["model"], WIDTH) for row in rows])
    panel.set_xlim(-0.5, len(rows) - 0.5)
    panel.set_ylabel(f"{label}, with standard errors")
    panel.grid(axis="y", alpha=0.3)
