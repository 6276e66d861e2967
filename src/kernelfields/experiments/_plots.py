"""Figures, where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._results import FIGURE, Outcome

MISSING = "There is no figure, because matplotlib is not installed: pip install 'kernelfields[plot]'."

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
    figure.savefig(folder / FIGURE, dpi=120)
    return None


def bars_beside_paper(panel: Any, outcome: Outcome, name: str, value: str, paper: str, label: str) -> None:
    """One bar per row, with its standard error, and a mark for the paper's figure."""
    rows = outcome.rows
    places = range(len(rows))
    errors = [row.get("standard error", 0.0) for row in rows]
    panel.bar(places, [row[value] for row in rows], yerr=errors, width=0.6, capsize=4, label="here")
    known = [(place, row[paper]) for place, row in enumerate(rows) if row.get(paper) is not None]
    if known:
        panel.plot(*zip(*known, strict=True), "kD", label="paper")
    panel.set_xticks(places, [row[name] for row in rows])
    panel.set_ylabel(label)
    lowest = min([row[value] for row in rows] + [row for _, row in known])
    panel.set_ylim(bottom=max(0.0, 0.8 * lowest))
    panel.grid(axis="y", alpha=0.3)
    panel.legend()
