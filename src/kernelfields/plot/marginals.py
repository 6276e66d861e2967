"""Probabilities of labels along a sequence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import shown
from ..errors import InputError
from ..report.plots.colours import UNKNOWN, colour_of
from .axes import axes, cells, label_colours, name_ticks
from .tested import labeller_of, probabilities_of

BANDS = 10
"""Labels with a colour; others are grey."""
ROWS = 14
"""Labels that a table has at most, those with most probability."""


def marginals(
    model: Any,
    x: Any = None,
    *,
    y: Sequence[Hashable] | None = None,
    tokens: Sequence[Any] | None = None,
    classes: Sequence[Hashable] | None = None,
    ax: Any = None,
) -> Any:
    """Draw p(y_t|x) along one sequence as bands that add up to 1.

    Parameters
    ----------
    model : fitted model, or (T, L) array
        A model that has probabilities; or p(y_t|x) itself, as ``predict_marginals`` returns it.
    x : sequence
        One item of X, as the model takes it; not with an array.
    y : label sequence, optional
        True labels, drawn as a strip above the bands; white where the label is None.
    tokens : sequence, optional
        What to write below positions; numbers if not given.
    classes : sequence, optional
        Labels of the columns of an array; numbers if not given.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        With a `StepPatch` per label, in the order of labels.
    """
    read = _read(model, x, classes, y, tokens)
    ax = axes(ax, 8.0, 3.0)
    edges = np.arange(len(read.p) + 1) - 0.5
    tops = np.cumsum(read.p, axis=1)
    coloured = set(_heaviest(read.p, BANDS))
    for k, label in enumerate(read.classes):
        colour = colour_of(label, read.classes) if k in coloured else UNKNOWN
        name = str(label) if k in coloured else "_other"
        low = tops[:, k] - read.p[:, k]
        ax.stairs(tops[:, k], edges, baseline=low, fill=True, color=colour, label=name, linewidth=0)
    if y is not None:
        _strip(ax, y, read.classes)
    ax.set(xlim=(edges[0], edges[-1]), ylim=(0, 1 if y is None else 1.13), ylabel="probability")
    ax.set_yticks([0, 0.5, 1])
    if tokens is not None:
        name_ticks(ax.xaxis, tokens, upright=True)
    else:
        ax.set_xlabel("position")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, reverse=True)
    return ax


def marginal_table(
    model: Any,
    x: Any = None,
    *,
    y: Sequence[Hashable] | None = None,
    tokens: Sequence[Any] | None = None,
    classes: Sequence[Hashable] | None = None,
    ax: Any = None,
) -> Any:
    """Draw p(y_t|x) of one short sequence as a table: labels down, positions across, darker if probable.

    Parameters
    ----------
    model, x, tokens, classes, ax
        As for `marginals`.
    y : label sequence, optional
        True labels, drawn as frames.

    Returns
    -------
    Axes
        With an image whose opacity is the probability, and per cents in the cells that have 1 % or more.
    """
    read = _read(model, x, classes, y, tokens)
    rows = _heaviest(read.p, ROWS)
    ax = axes(ax, 1.6 + 0.62 * len(read.p), 1.0 + 0.34 * len(rows))
    names = [read.classes[k] for k in rows]
    colours = label_colours(read.classes, names)[:, None]
    cells(ax, read.p[:, rows].T, np.broadcast_to(colours, (len(rows), len(read.p), 3)))
    for t, i in np.argwhere(read.p[:, rows] >= 0.01).tolist():
        share = read.p[t, rows[i]]
        dark = "white" if share > 0.6 else None
        ax.text(t, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=8, **_colour(dark))
    for t, label in enumerate([] if y is None else y):
        if label in names:
            _frame(ax, t, names.index(label))
    name_ticks(ax.yaxis, names)
    name_ticks(ax.xaxis, range(len(read.p)) if tokens is None else tokens, upright=tokens is not None)
    ax.tick_params(length=0)
    return ax


class _Bands(NamedTuple):
    p: Array
    classes: list[Hashable]


def _read(model: Any, x: Any, classes: Any, y: Any, tokens: Any) -> _Bands:
    """Return probabilities and the labels of their columns."""
    if isinstance(model, np.ndarray | list):
        if x is not None:
            raise InputError("x is for a model; an array has the probabilities already.")
        p = np.asarray(model, dtype=float)
        if p.ndim != 2:
            raise InputError(f"The array of probabilities has shape {p.shape}, not (T, L).")
        named = list(range(p.shape[1])) if classes is None else list(classes)
    else:
        if x is None:
            raise InputError("x is needed besides a model: one sequence, as the model takes it.")
        if classes is not None:
            raise InputError(f"classes is {shown(classes)}; a model has its own.")
        labeller, inputs = labeller_of(model, [x])
        p, named = probabilities_of(labeller, inputs)[0], np.asarray(labeller.classes_).tolist()
    if len(named) != p.shape[1]:
        raise InputError(f"There are {p.shape[1]} columns of probabilities, but {len(named)} classes.")
    for name, given in (("y", y), ("tokens", tokens)):
        if given is not None and len(given) != len(p):
            raise InputError(f"{name} has {len(given)} entries for {len(p)} positions.")
    return _Bands(p, named)


def _heaviest(p: Array, count: int) -> list[int]:
    """Return the labels with most probability, in their own order."""
    order = np.argsort(-p.sum(axis=0), kind="stable")
    return sorted(order[:count].tolist())


def _strip(ax: Any, y: Sequence[Hashable], classes: list[Hashable]) -> None:
    """Draw runs of true labels above the bands."""
    at = 0
    for label, run in groupby(y):
        length = len(list(run))
        if label is not None:
            ax.broken_barh([(at - 0.5, length)], (1.04, 0.07), color=colour_of(label, classes), linewidth=0)
        at += length


def _frame(ax: Any, column: int, row: int) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#b5446e", linewidth=1.5))


def _colour(name: str | None) -> dict[str, str]:
    return {} if name is None else {"color": name}
