"""Whether probabilities come true."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import metrics
from ..metrics.calibration import calibration_gap
from ..report import Evaluation
from .axes import GREY, RIGHT, axes
from .tested import labels_of, probabilities_of

TALLEST = 0.25
"""Height of the tallest bar, as a share of the picture."""


def reliability(model: Any, X: Any = None, y: Any = None, *, bins: int = 10, ax: Any = None) -> Any:
    """Draw the share of right labels against the probability that was given, by bins.

    On the diagonal, probabilities come true. Bars say how many labels a bin holds, beside the others.

    Parameters
    ----------
    model : fitted model, Evaluation or metrics.Reliability
        A model that has probabilities; the last two have what is drawn already.
    X, y : lists, optional
        Test items with their labels, of a model.
    bins : int
        How many bins, of a model.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        With a bar per bin that is not empty and, as its last line, the points of these bins.
    """
    if isinstance(model, metrics.Reliability):
        table = model
    elif isinstance(model, Evaluation):
        labels_of(model, X, y)
        table = model.calibration
    else:
        tested = labels_of(model, X, y)
        p = probabilities_of(tested.labeller, tested.inputs)
        table = metrics.reliability(tested.true, p, np.asarray(tested.labeller.classes_).tolist(), bins=bins)
    ax = axes(ax, 4.2, 3.8)
    filled = np.flatnonzero(table.support)
    width = np.diff(table.edges)[filled]
    heights = TALLEST * table.support[filled] / max(int(table.support.max(initial=0)), 1)
    ax.bar(table.edges[:-1][filled], heights, 0.95 * width, align="edge", color=GREY, alpha=0.3)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    ax.plot(table.confidence[filled], table.accuracy[filled], color=RIGHT, marker="o")
    title = f"calibration error {calibration_gap(table):.1%}" if len(filled) else ""
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="probability given", ylabel="share that is right", title=title)
    return ax
