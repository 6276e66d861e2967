"""What a model answered about a calibration set, and how often it was wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, offsets_of, rows_of


class JudgedAnswers(NamedTuple):
    """Answers of a model, sequence by sequence: labels of positions, or entities."""

    confidence: Array
    """(N,) the probability of each answer."""
    wrong: Array
    """(N,) whether it is wrong."""
    kinds: Array
    """(N,) what the answer is: the index of a label, or of the type of an entity."""
    offsets: Array
    """(S + 1,) where each sequence begins; a sequence may have no answer."""

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return len(self.offsets) - 1

    def of_kind(self, kind: int) -> JudgedAnswers:
        """Return the answers of one kind; all sequences stay."""
        kept = np.flatnonzero(self.kinds == kind)
        counts = np.bincount(self.sequence_numbers()[kept], minlength=self.n_sequences)
        return JudgedAnswers(self.confidence[kept], self.wrong[kept], self.kinds[kept], offsets_of(counts))

    def take(self, ids: Array) -> JudgedAnswers:
        """Return the answers about some sequences, in this order."""
        rows = rows_of(self.offsets, ids)
        counts = np.diff(self.offsets)[ids]
        return JudgedAnswers(self.confidence[rows], self.wrong[rows], self.kinds[rows], offsets_of(counts))

    def sequence_numbers(self) -> Array:
        """Return the sequence of every answer."""
        return np.repeat(np.arange(self.n_sequences), np.diff(self.offsets))


def ranks(confidence: Array, offsets: Array) -> Array:
    """Return the place of every answer among those of its sequence, 0 for the most probable.

    Of equally probable answers the first comes first.
    """
    sequence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-confidence, sequence))
    result = np.empty(len(confidence), dtype=np.int64)
    result[order] = np.arange(len(confidence)) - offsets[:-1][sequence]
    return result
