"""Frames of gesture videos as rows of features: where hands are, how they move, what is around."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import load_gestures

WINDOWS = (3, 12)
"""Frames on either side that means are taken over."""


class Videos(NamedTuple):
    """Features and phases of every frame, video by video."""

    X: list[Array]
    y: list[list[str]]


def frames_of_gestures(n_videos: int, n_frames: int) -> Videos:
    """Return some videos; features are standardised video by video, without labels."""
    data = load_gestures()
    X = []
    for positions, motion in zip(data.positions[:n_videos], data.motion, strict=False):
        spine = np.tile(positions[:, 9:12], 4)
        hands = positions[:, [0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17]] - spine
        rows = np.hstack([hands, motion])
        rows = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-9)
        speed = np.abs(rows[:, 12:])
        every = np.hstack([rows, speed])
        seen = np.hstack([every, *(part for w in WINDOWS for part in _around(every, w))])
        X.append(seen[:n_frames].astype(np.float32))
    return Videos(X, [labels[:n_frames] for labels in data.labels[:n_videos]])


def _around(rows: Array, reach: int) -> tuple[Array, Array]:
    """Return the means of so many frames before and after each."""
    sums = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0, dtype=np.float64)])
    here, last = np.arange(len(rows)), len(rows)
    before, after = np.maximum(here - reach, 0), np.minimum(here + reach + 1, last)
    past = (sums[here + 1] - sums[before]) / (here + 1 - before)[:, None]
    future = (sums[after] - sums[here]) / (after - here)[:, None]
    return past, future
