"""Segments as a setting: how long labels last."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, one_of, optional, whole
from .segment_batch import SegmentBatch
from .segment_candidates import every_run
from .settings import Structure


@dataclass(frozen=True)
class Segments(Structure):
    """Sequences whose runs of one label, their segments, have a score of their length (semi-Markov).

    A chain, plus what a chain cannot say: that a phase of a gesture takes half a second, that an exon rarely
    has ten bases. An item of X is a sequence, an item of y a label for every position, as for a chain;
    neighbours with the same label belong to one segment. Every labelling remains possible.

    Parameters
    ----------
    max_length : int
        Up to which length segments are told apart; longer ones score alike. A sequence of T positions takes
        time T·L·(max_length + L).
    bins : "log" or "each"
        Whether lengths are told apart one by one, or in bins that grow with them, by a factor of about √2:
        1, 2, 3, 4 to 5, 6 to 7, 8 to 10, 11 to 15, … Bins learn from fewer segments.
    means : int, optional
        Up to which length segments also score by the mean of the features of their positions, which weighs
        every segment alike, however long it is. Takes T·L·means exponentials; not if not given.
    """

    max_length: int = 32
    bins: str = "log"
    means: int | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        "max_length": whole(1, 2**31 - 1),
        "bins": one_of(["log", "each"]),
        "means": optional(whole(1, 2**31 - 1)),
    }

    @property
    def lower_ends(self) -> Array:
        """The shortest length of every bin."""
        return lower_ends_of(self.max_length, self.bins)

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> SegmentBatch:
        """Return the batch."""
        candidates = None if self.means is None else every_run(offsets, self.means)
        return SegmentBatch(offsets, n_labels, self.lower_ends, "edge" not in own, candidates).untied(own)


def lower_ends_of(max_length: int, bins: str) -> Array:
    """Return the shortest length of every bin."""
    if bins == "each":
        return np.arange(1, max_length + 1)
    steps = np.arange(2 * int(max_length).bit_length() + 1)
    ends = np.unique(np.round(np.sqrt(2.0) ** steps).astype(np.int64))
    return np.unique([*ends[ends < max_length], max_length])
