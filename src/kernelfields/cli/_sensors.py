"""What measured numbers need before a model sees them: scaling, windows, and a penalty for repetitions."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..features import Windows, each
from ..files.items import FileData

SCALES = ("sequence", "columns", "none")
NONE, LINEAR = "none", "linear"
LONG = 50
"""Positions, in the median, from which a sequence can be scaled by itself; of letters, from which a run of a
label is long."""
RUN = 5.0
"""Positions of equal labels in a row, in the mean, from which neighbours are worth a look."""
WIDTH, LONGEST_STRIDE = 7, 5
"""Of windows that nobody asked for: rows, and their distance at most."""
MOST_COLUMNS = 4000
"""Columns that such windows may make."""
LEVELS, SPREADS, RANGES = 0.1, 1.5, 10.0
"""From these on sequences differ in level (share of the variance) or spread, and columns in range."""


class Preparation(NamedTuple):
    """What happens to rows before a model, and why."""

    scale: str = NONE
    width: int = 1
    stride: int = 1
    factor: float = 1.0
    """How much the usual penalty is multiplied by: rows in a run of a label repeat each other."""
    decoder: str | None = None
    told: str | None = None
    """What was chosen unasked, in one line."""

    def steps(self) -> list[Any]:
        """Return transformers, which may be none."""
        found: list[Any] = []
        if self.scale != NONE:
            from sklearn.preprocessing import StandardScaler

            found.append(each(StandardScaler(), per_sequence=self.scale == "sequence"))
        if self.width > 1:
            found.append(Windows(self.width, stride=self.stride, padding="edge"))
        return found


def preparation(
    data: FileData,
    scale: str | None,
    window: str | None,
    decoder: str | None,
    *,
    windows: bool,
    penalised: str | None,
) -> Preparation:
    """Return what a user asked for; where nothing was said, what numbers in long runs of labels ask for.

    ``windows`` says whether the model gains by windows: trees and Gaussians do not. The penalty of rows that
    repeat each other is that of one, times their number; columns of windows repeat each other, too, which
    makes a difference to "linear" models, not to "kernel" ones. ``penalised`` is None if it is not asked for.
    """
    if scale is not None and scale not in SCALES:
        raise InputError(f"--scale is {scale!r}; it must be one of {', '.join(SCALES)}.")
    width, stride = (1, 1) if window is None else read_window(window)
    if data.is_sparse or not data.items or not all(isinstance(item.x, np.ndarray) for item in data.items):
        for option, given in (("scale", scale not in (None, NONE)), ("window", width > 1)):
            if given:
                raise InputError(f"--{option} is for numbers; these data have {data.form}.")
        return _letters(data, decoder, penalised is not None)
    if data.structure != "chain":
        if width > 1 or scale == "sequence":
            option = "window" if width > 1 else "scale sequence"
            raise InputError(f"--{option} is for sequences in time, not for {data.noun}.")
        return Preparation(scale=scale or NONE, decoder=decoder)
    run = mean_run(data.labels)
    chosen = scale or _scale(data)
    if window is None and windows:
        width, stride = _window(data, run)
    factor = 1.0 if penalised is None or run < RUN else run * (width if penalised == LINEAR else 1)
    found = Preparation(chosen, width, stride, factor, decoder)
    if decoder is None and run >= RUN:
        found = found._replace(decoder="posterior")
    return found._replace(told=_told(found, scale, window, decoder))


def _letters(data: FileData, decoder: str | None, penalised: bool) -> Preparation:
    """Return the penalty of letters in long runs of a label, as in genes, which repeat each other too.

    At a weight's usual penalty the sum over a run of a thousand letters is free: training data are fitted all
    but exactly, and the search does not converge.
    """
    run = mean_run(data.labels) if data.is_letters else 0.0
    if not penalised or run < LONG:
        return Preparation(decoder=decoder)
    told = f"{run:.3g} times the usual penalty, as letters in a run repeat each other (--penalty)"
    return Preparation(decoder=decoder, factor=run, told=f"As the labels ask for it: {told}.")


def read_window(text: str) -> tuple[int, int]:
    """Return the width and the stride of windows: "31", "7:5" for seven rows five apart, or "none"."""
    parts = text.split(":")
    if text == NONE:
        return 1, 1
    if len(parts) > 2 or not all(part.isascii() and part.isdecimal() and len(part) < 7 for part in parts):
        raise InputError(f"--window is {text!r}; it must be a number of rows, as in 31 or 7:5, or none.")
    width, stride = int(parts[0]), int(parts[1]) if len(parts) == 2 else 1
    if width % 2 == 0 or stride < 1:
        raise InputError(f"--window {text} must have an odd number of rows, and a stride of 1 or more.")
    return width, stride


def mean_run(labels: list[list[Any]]) -> float:
    """Return how many positions in a row have the same label, in the mean."""
    runs = sum(1 for one in labels for _ in groupby(one))
    return sum(map(len, labels)) / max(runs, 1)


def _scale(data: FileData) -> str:
    """Return how numbers should be scaled: by sequence if those differ as recordings do, else by columns."""
    rows = [np.asarray(item.x, dtype=np.float64) for item in data.items if len(item.x)]
    if not rows or rows[0].shape[1] == 0:
        return NONE
    every = np.concatenate(rows)
    if np.median([len(x) for x in rows]) >= LONG and len(rows) > 1 and _differ(rows, every):
        return "sequence"
    spread, largest = _std(every), float(np.nanmax(np.abs(every), initial=0.0))
    spread = spread[spread > 0]
    if not len(spread) or largest <= 1.0:
        return NONE
    return "columns" if spread.max() > RANGES * min(spread.min(), 1.0) or spread.min() > RANGES else NONE


def _differ(rows: list[Array], every: Array) -> bool:
    """Return whether sequences have levels or spreads of their own, in half of the columns."""
    total = _std(every)
    means = np.array([_mean(x) for x in rows])
    spreads = np.array([_std(x) for x in rows])
    there = (total > 0) & (spreads > 0).all(axis=0)
    if not there.any():
        return False
    levels = _std(means)[there] ** 2 / total[there] ** 2
    ratios = spreads[:, there].max(axis=0) / spreads[:, there].min(axis=0)
    return bool(np.median(levels) > LEVELS or np.median(ratios) > SPREADS)


def _mean(x: Array) -> Array:
    seen = ~np.isnan(x)
    result: Array = np.where(seen, x, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return result


def _std(x: Array) -> Array:
    seen, centred = ~np.isnan(x), x - _mean(x)
    squares = np.where(seen, centred, 0.0) ** 2
    result: Array = np.sqrt(squares.sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
    return result


def _window(data: FileData, run: float) -> tuple[int, int]:
    columns = data.items[0].x.shape[1]
    missing = any(np.isnan(item.x).any() for item in data.items)
    short = np.median([len(item.x) for item in data.items]) < LONG
    if run < RUN or missing or short or columns * WIDTH > MOST_COLUMNS:
        return 1, 1
    return WIDTH, int(min(max(round(run / 5), 1), LONGEST_STRIDE))


def _told(found: Preparation, scale: str | None, window: str | None, decoder: str | None) -> str | None:
    """Say what was chosen, and which options would choose otherwise."""
    parts = []
    if scale is None and found.scale != NONE:
        how = "every sequence by itself" if found.scale == "sequence" else "columns"
        parts.append(f"{how} scaled (--scale {found.scale})")
    if window is None and found.width > 1:
        parts.append(
            f"windows of {found.width} rows {found.stride} apart (--window {found.width}:{found.stride})"
        )
    if decoder is None and found.decoder is not None:
        parts.append(f"labels by their marginals (--decoder {found.decoder})")
    if found.factor > 1:
        parts.append(f"{found.factor:.3g} times the usual penalty, as rows in a run repeat each other")
    return f"As the numbers ask for it: {'; '.join(parts)}." if parts else None
