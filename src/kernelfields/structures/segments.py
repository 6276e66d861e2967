"""Segments as a setting: how long labels last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, one_of, whole
from .segment_batch import SegmentBatch
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
    """

    max_length: int = 32
    bins: str = "log"
    _checks: ClassVar[Mapping[str, Check]] = {
        "max_length": whole(1, 2**31 - 1),
        "bins": one_of(["log", "each"]),
    }

    @property
    def lower_ends(self) -> Array:
        """The shortest length of every bin."""
        if self.bins == "each":
            return np.arange(1, self.max_length + 1)
        steps = np.arange(2 * int(self.max_length).bit_length() + 1)
        ends = np.unique(np.round(np.sqrt(2.0) ** steps).astype(np.int64))
        return np.unique([*ends[ends < self.max_length], self.max_length])

    def on(self, offsets: Array, links: Any, n_labels: int, *, untied: bool = False) -> SegmentBatch:
        """Return the batch."""
        return SegmentBatch(offsets, n_labels, self.lower_ends, shared_edges=not untied)
