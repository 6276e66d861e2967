"""Which label is taken for which."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import metrics
from ..report.plots.confusion import most_confused
from .axes import RIGHT, WRONG, axes, name_ticks
from .tested import labels_of

NUMBERS = 15
"""Labels up to which cells have numbers."""


def confusion(model: Any, X: Any = None, y: Any = None, *, ax: Any = None) -> Any:
    """Draw how often each label (column) is answered where each is true (row).

    Parameters
    ----------
    model : fitted model, Evaluation or metrics.Confusion
        The last two have what is drawn already.
    X, y : lists, optional
        Test items with their labels, of a model.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        With an image, blue for right answers and orange for wrong ones, the more opaque the greater the
        share of the true label; of many labels, the 30 with most errors.
    """
    if isinstance(model, metrics.Confusion):
        table = model
    else:
        tested = labels_of(model, X, y)
        table = metrics.confusion(tested.true, tested.answers)
    chosen = most_confused(table)
    counts = table.counts[np.ix_(chosen, chosen)]
    names = [str(table.labels[k]) for k in chosen]
    shares = counts / np.maximum(table.counts.sum(axis=1)[chosen], 1)[:, None]
    side = 1.6 + 0.42 * min(len(names), 20)
    ax = axes(ax, side + 0.6, side)
    from matplotlib.colors import to_rgb

    image = np.empty((*counts.shape, 4))
    image[..., :3] = np.where(np.eye(len(names), dtype=bool)[..., None], to_rgb(RIGHT), to_rgb(WRONG))
    image[..., 3] = np.where(counts > 0, np.maximum(np.sqrt(shares), 0.08), 0.0)  # errors are few
    ax.imshow(image, interpolation="nearest")
    if len(names) <= NUMBERS:
        for i, j in np.argwhere(counts > 0).tolist():
            strong = {"color": "white"} if image[i, j, 3] > 0.6 else {}
            ax.text(j, i, f"{counts[i, j]:,}", ha="center", va="center", fontsize=8, **strong)
    name_ticks(ax.yaxis, names)
    name_ticks(ax.xaxis, names, upright=max(map(len, names), default=0) > 3)
    ax.set(xlabel="answer", ylabel="true label")
    ax.tick_params(length=0)
    return ax
