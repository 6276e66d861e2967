"""Structures that know their best score for every number of errors."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from .. import native
from ..errors import InputError, ScoreError
from ._base import Array, Labelling, PairwiseStructure, Scores, Structure

NUMBERS = 2**27
"""Numbers that the tables of one instance may take, 8 bytes each: a gigabyte for every thread."""


class ErrorCountOracle(Structure):
    """A structure that finds the best among labellings with a given number of errors, exactly.

    What counts as an error is the caller's to say: label y at vertex v counts as ``errors[v, y]`` of
    them, a whole number ≥ 0, and those of a labelling add up.
    """

    @abstractmethod
    def best_by_errors(self, scores: Scores, errors: Array) -> Array:
        """Max ⟨θ, parts(y)⟩ over the labellings with k errors, (S, K + 1); −inf where there is none.

        K is the largest number of errors that any instance can have.
        """

    @abstractmethod
    def argmax_at_errors(self, scores: Scores, errors: Array, counts: npt.ArrayLike) -> Labelling:
        """Give the best labelling of instance s with exactly ``counts[s]`` errors.

        Labels of −1 and a value of −inf where there is none.
        """


class ForestErrors(PairwiseStructure, ErrorCountOracle):
    """Vertices with edges to their parents: a dynamic programme over (vertex, label, errors below it).

    O(T K L² + T² L) time for an instance of T vertices with up to K errors, K = T if each is right or
    wrong. Values alone take O(K L) numbers on chains; labels take about 2 T (k + 1) L for k errors, and
    more than 2²⁷ of them (T = 1,600 with 26 labels and all wrong) are refused.
    """

    @abstractmethod
    def _above(self) -> Array:
        """The parent of every vertex, −1 at roots."""

    def best_by_errors(self, scores: Scores, errors: Array) -> Array:
        """From the leaves to the roots."""
        counted = self._counted(errors)
        value = native.tree_best_by_errors(*self._forest(scores), counted, self._most(counted) + 1)
        _require_numbers(value)
        return np.asarray(value)

    def argmax_at_errors(self, scores: Scores, errors: Array, counts: npt.ArrayLike) -> Labelling:
        """From the leaves to the roots, then labels on the way back."""
        levels = np.ascontiguousarray(counts, dtype=np.int64)
        self._require_room(levels)
        labels, value = native.tree_argmax_at_errors(*self._forest(scores), self._counted(errors), levels)
        _require_numbers(value[:, None])
        return Labelling(labels, value)

    def _forest(self, scores: Scores) -> tuple[Array, Array, Array, Array]:
        return *self._arrays(scores), self._offsets, self._above()

    def _counted(self, errors: Array) -> Array:
        result = np.ascontiguousarray(errors, dtype=np.int32)
        if not np.array_equal(result, errors):
            raise InputError("Numbers of errors must be whole.")
        return result

    def _most(self, errors: Array) -> int:
        """K."""
        worst = np.concatenate([[0], np.cumsum(errors.max(axis=1, initial=0), dtype=np.int64)])
        return int(np.diff(worst[self._offsets]).max(initial=0))

    def _require_room(self, counts: Array) -> None:
        needed = 2 * np.diff(self._offsets) * (counts + 1) * self.n_labels
        if (needed > NUMBERS).any():
            s = int(np.argmax(needed))
            raise InputError(
                f"Instance {s} has {np.diff(self._offsets)[s]} vertices: the tables of its labellings with "
                f"{counts[s]} errors would take {needed[s]} numbers, more than {NUMBERS}."
            )


def _require_numbers(values: Array) -> None:
    bad = np.flatnonzero(np.isnan(values).any(axis=1))
    if len(bad):
        raise ScoreError(f"Sequence {bad[0]} has scores that are NaN or +inf.")
