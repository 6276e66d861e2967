"""A graph with the labels of its vertices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..report.plots.network import layout
from .axes import GREY, axes, label_colours, legend_of


def network(
    edges: Any,
    labels: Sequence[Hashable],
    *,
    true: Sequence[Hashable] | None = None,
    probabilities: Any = None,
    classes: Sequence[Hashable] | None = None,
    places: Any = None,
    ax: Any = None,
) -> Any:
    """Draw vertices in the colours of their labels, paler where these are less probable.

    Parameters
    ----------
    edges : (E, 2) array of int
        Vertices that are joined, from 0 on.
    labels : (V,) sequence
        Labels answered.
    true : (V,) sequence, optional
        True labels: a wrong answer has a ring in the colour of the true label.
    probabilities : (V,) array, optional
        Of the labels answered.
    classes : sequence, optional
        All labels, so that colours are those of other pictures; those that occur if not given.
    places : (V, 2) array, optional
        Where vertices are; laid out by springs if not given, which takes long for more than 1,000.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        The last collection has a point per vertex; the one before, if ``true`` is given, the rings.
    """
    pairs = np.asarray(edges, dtype=int).reshape(-1, 2)
    count = len(labels)
    for name, given in (("true", true), ("probabilities", probabilities), ("places", places)):
        if given is not None and len(given) != count:
            raise InputError(f"{name} has {len(given)} entries for {count} vertices.")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= count):
        raise InputError(f"edges name vertices up to {pairs.max()}, but there are {count} labels.")
    where = layout(count, pairs) if places is None else np.asarray(places, dtype=float)
    used = {*labels, *(() if true is None else true)} - {None}
    known = sorted(used, key=str) if classes is None else list(classes)
    ax = axes(ax, 5.6, 4.4)
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(list(where[pairs]), colors=GREY, linewidths=0.6, alpha=0.6))
    size = 90 if count <= 80 else 30
    if true is not None:
        wrong = [n for n in range(count) if true[n] is not None and true[n] != labels[n]]
        rings = label_colours(known, [true[n] for n in wrong])
        ax.scatter(*where[wrong].T, s=2.6 * size, facecolors="none", edgecolors=rings, linewidths=1.5)
    opacity = np.ones(count) if probabilities is None else np.clip(np.asarray(probabilities), 0.15, 1.0)
    ax.scatter(*where.T, s=size, color=np.column_stack([label_colours(known, labels), opacity]))
    ax.set_axis_off()
    legend_of(ax, known, used)
    return ax
