"""Which label follows which."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..report import Description, describe
from .axes import RIGHT, WRONG, axes, name_ticks

NUMBERS = 12
"""Labels up to which cells have numbers."""


def transitions(model: Any, *, classes: Sequence[Hashable] | None = None, ax: Any = None) -> Any:
    """Draw scores, or of hidden Markov models probabilities, of steps from one label (row) to the next.

    Parameters
    ----------
    model : fitted model, or (L, L) array
        Of pipelines, searches and models of models, the one inside that has such scores.
    classes : sequence, optional
        Labels of an array; numbers if not given.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        With an image: blue above 0, orange below, the more opaque the farther from 0.
    """
    if isinstance(model, np.ndarray | list):
        table = np.asarray(model, dtype=float)
        names, what = list(range(len(table))) if classes is None else list(classes), "score"
    else:
        found = _described(model)
        table, names = np.asarray(found.transitions, dtype=float), found.labels
        what = "probability" if found.steps == "probabilities" else "score"
    if table.ndim != 2 or table.shape != (len(names), len(names)):
        raise InputError(f"Steps have shape {table.shape}; a picture needs one number per pair of labels.")
    side = 1.6 + 0.42 * min(len(names), 20)
    ax = axes(ax, side + 0.6, side)
    from matplotlib.colors import to_rgb

    finite = np.where(np.isfinite(table), table, 0.0)
    largest = max(float(abs(finite).max(initial=0.0)), 1e-300)
    image = np.empty((*table.shape, 4))
    image[..., :3] = np.where((finite >= 0)[..., None], to_rgb(RIGHT), to_rgb(WRONG))
    image[..., 3] = abs(finite) / largest
    ax.imshow(image, interpolation="nearest")
    if len(names) <= NUMBERS:
        for i, j in np.ndindex(table.shape):
            text = "–" if not np.isfinite(table[i, j]) else f"{table[i, j]:.2g}"
            strong = {"color": "white"} if abs(finite[i, j]) > 0.6 * largest else {}
            ax.text(j, i, text, ha="center", va="center", fontsize=8, **strong)
    name_ticks(ax.yaxis, names)
    name_ticks(ax.xaxis, names, upright=max(map(len, map(str, names)), default=0) > 3)
    ax.set(xlabel="next label", ylabel="label", title=f"{what} of steps")
    ax.tick_params(length=0)
    return ax


def _described(model: Any) -> Description:
    """Return the description of the first model inside that has steps."""
    while hasattr(model, "best_estimator_") or isinstance(getattr(model, "steps", None), list):
        model = model.best_estimator_ if hasattr(model, "best_estimator_") else model.steps[-1][1]
    if not hasattr(model, "classes_"):
        raise InputError(f"{type(model).__name__} is not fitted: call fit first.")
    waiting = [describe(model, 0)]
    while waiting:
        one = waiting.pop(0)
        if one.transitions is not None and np.any(one.transitions):  # without edges, all are 0
            return one
        waiting += one.parts
    raise InputError(f"{type(model).__name__} has no scores of steps from label to label.")
