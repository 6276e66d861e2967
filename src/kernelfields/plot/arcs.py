"""A dependency tree over its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InputError
from ..report.plots.arcs import DrawnArc, levels_of
from .axes import GREY, RIGHT, WRONG, axes

ROOT = 1.2
"""How high the line to the root is."""


def arcs(
    words: Sequence[str],
    heads: Sequence[int],
    relations: Sequence[str] | None = None,
    *,
    true: Sequence[int] | None = None,
    ax: Any = None,
) -> Any:
    """Draw arcs from heads to words.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    heads : sequence of int
        The number of each word's head, from 0 on, −1 for the root, as `predict` returns them.
    relations : sequence of str, optional
        Names of the arcs.
    true : sequence of int, optional
        True heads: arcs that are not among them are orange.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        With one arrow per word, in their order.
    """
    for name, given in (("heads", heads), ("relations", relations), ("true", true)):
        if given is not None and len(given) != len(words):
            raise InputError(f"{name} has {len(given)} entries for {len(words)} words.")
    ax = axes(ax, 1.0 + 0.75 * len(words), 2.8)
    from matplotlib.patches import FancyArrowPatch

    drawn = [DrawnArc(int(head) + 1, n + 1) for n, head in enumerate(heads)]
    places, height = _places(words), 1.0
    for n, (arc, level) in enumerate(zip(drawn, levels_of(drawn), strict=True)):
        colour = RIGHT if true is None or int(true[n]) == int(heads[n]) else WRONG
        end, top = places[n], ROOT if arc.head == 0 else 0.9 * level
        start = end if arc.head == 0 else places[arc.head - 1]
        way = _way(start, end, top)
        ax.add_patch(FancyArrowPatch(path=way, arrowstyle="-|>", mutation_scale=9, color=colour, shrinkA=0))
        name = "root" if arc.head == 0 else "" if relations is None else str(relations[n])
        ax.text((start + end) / 2, top + 0.08, name, ha="center", va="bottom", fontsize=8, color=GREY)
        height = max(height, top)
    for place, word in zip(places, words, strict=True):
        ax.text(place, -0.12, word, ha="center", va="top")
    ax.set(xlim=(places[0] - 1, places[-1] + 1) if places else (0, 1), ylim=(-0.6, height + 0.5))
    ax.set_axis_off()
    return ax


def _places(words: Sequence[str]) -> list[float]:
    """Return where the middle of each word is, long words having more room."""
    places, at = [], 0.0
    for word in words:
        half = max(0.16 * len(str(word)) / 2, 0.35) + 0.12
        places.append(at + half)
        at += 2 * half
    return places


def _way(start: float, end: float, top: float) -> Any:
    """Return a curve up from one word and down to another; a straight line from the root."""
    from matplotlib.path import Path

    if start == end:
        return Path([(end, top), (end, 0.05)], [Path.MOVETO, Path.LINETO])
    lift = 4 / 3 * top
    corners = [(start, 0.05), (start, lift), (end, lift), (end, 0.05)]
    return Path(corners, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
