"""From which probability on a model answers, and how often it may in one sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .answers import JudgedAnswers, ranks


@dataclass(frozen=True)
class Threshold:
    """Answer where the probability is at least λ, but the M most probable answers of a sequence at most.

    The limit M is what makes a sequence's number of errors bounded; without a bound nothing can be
    guaranteed about a mean. An infinite λ answers nothing.
    """

    least: float
    """λ."""
    limit: int
    """M."""

    def answers(self, confidence: Array, offsets: Array) -> Array:
        """Return which answers are given: a mask."""
        certain: Array = confidence >= self.least
        return certain & (ranks(confidence, offsets) < self.limit)


NOTHING = Threshold(float("inf"), 1)
"""No answer at all."""


def gains_of(answers: JudgedAnswers, places: Array, levels: Array, limit: int, alpha: float) -> Array:
    """Return D_i = α a_i − e_i of every sequence, a row for each of the falling thresholds λ.

    a_i is the number of answers to sequence i, e_i that of the wrong ones among them; ``places`` are the
    `ranks` of the answers.
    """
    few = places < limit
    first = np.searchsorted(-levels, -answers.confidence[few])  # the first threshold that answers
    shape = (len(levels) + 1, answers.n_sequences)
    cells = first * shape[1] + answers.sequence_numbers()[few]
    gained = np.bincount(cells, alpha - answers.wrong[few], minlength=shape[0] * shape[1])
    result: Array = np.cumsum(gained.reshape(shape)[:-1], axis=0)
    return result
