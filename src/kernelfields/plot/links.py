"""Which words of two sentences belong together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from .axes import RIGHT, WRONG, axes, cells, name_ticks

Link = tuple[int, int]


def links(
    probabilities: Any,
    source: Sequence[str],
    target: Sequence[str],
    *,
    answers: Collection[Link] = (),
    true: Collection[Link] = (),
    ax: Any = None,
) -> Any:
    """Draw a matching or an alignment: rows and columns are words, darker cells are more probable links.

    Parameters
    ----------
    probabilities : (n, m) array
        Of every link, as ``predict_marginals`` returns them.
    source, target : sequences of str
        The n words down and the m words across.
    answers : pairs (i, j), optional
        Links that were answered: dots, blue if they are true.
    true : pairs (i, j), optional
        True links: frames.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        With an image, a line for the right dots, one for the wrong ones, and a patch per true link.
    """
    p = np.asarray(probabilities, dtype=float)
    if p.shape != (len(source), len(target)):
        raise InputError(f"probabilities have shape {p.shape}, not ({len(source)}, {len(target)}).")
    ax = axes(ax, 1.8 + 0.32 * len(target), 1.6 + 0.28 * len(source))
    from matplotlib.patches import Rectangle

    cells(ax, 0.75 * p, RIGHT)
    known = {(int(i), int(j)) for i, j in true}
    said = {(int(i), int(j)) for i, j in answers}
    for i, j in sorted(known):
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#5b8e3e", linewidth=1.5))
    for chosen, colour in ((said & known, RIGHT), (said - known, WRONG)):
        rows, columns = [i for i, _ in sorted(chosen)], [j for _, j in sorted(chosen)]
        ax.plot(columns, rows, "o", color=colour, markersize=6, markeredgecolor="white")
    name_ticks(ax.yaxis, source)
    name_ticks(ax.xaxis, target, upright=True)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    return ax
