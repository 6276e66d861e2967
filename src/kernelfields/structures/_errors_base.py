"""Structures that know their best score for every number of errors."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array
from ..checks import require_unmasked, whole_numbers
from ..errors import InputError, ScoreError
from ..memory import require_memory
from ._base import Scores, StructureBatch
from ._labelled_base import LabelledBatch, PairwiseBatch
from ._oracles import Labelling
from .words import Words

NUMBERS = 2**27
"""Numbers that the tables of one instance may take, 8 bytes each: a gigabyte for every thread."""


class ErrorCountOracle(StructureBatch):
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
        """Return the best labelling of instance s with exactly ``counts[s]`` errors.

        Labels of −1 and a value of −inf where there is none.
        """


class LabelErrors(LabelledBatch, ErrorCountOracle):
    """Vertices with labels, each label so many errors."""

    def _counted(self, errors: Array) -> Array:
        require_unmasked(errors, "The table of errors")
        given, shape = np.asarray(errors), (self.n_vertices, self.n_labels)
        if given.dtype.kind not in "biuf" or given.shape != shape:
            raise InputError(f"errors are {given.dtype} of shape {given.shape}, expected shape {shape}.")
        if not ((given >= 0) & (given < NUMBERS) & (given == np.floor(given))).all():
            raise InputError(f"Numbers of errors must be whole, from 0 to {NUMBERS - 1}.")
        return np.ascontiguousarray(given, dtype=np.int32)

    def _most(self, errors: Array) -> int:
        """K."""
        worst = np.concatenate([[0], np.cumsum(errors.max(axis=1, initial=0), dtype=np.int64)])
        return int(np.diff(worst[self._offsets]).max(initial=0))

    def _levels(self, counts: npt.ArrayLike) -> Array:
        """Return numbers of errors, one for every instance."""
        levels = whole_numbers("counts", counts)
        if levels.shape != (self.n_instances,):
            raise InputError(f"counts have shape {levels.shape}, expected ({self.n_instances},).")
        return levels


class ForestErrors(PairwiseBatch, LabelErrors):
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
        levels = self._most(counted) + 1
        require_memory("The tables of errors", 8 * levels * (self.n_instances + 4 * self.n_labels))
        value = native.tree_best_by_errors(*self._forest(scores), counted, levels)
        require_numbers(value, self.words)
        return np.asarray(value)

    def argmax_at_errors(self, scores: Scores, errors: Array, counts: npt.ArrayLike) -> Labelling:
        """From the leaves to the roots, then labels on the way back."""
        levels = self._levels(counts)
        self._require_room(levels)
        labels, value = native.tree_argmax_at_errors(*self._forest(scores), self._counted(errors), levels)
        require_numbers(value[:, None], self.words)
        return Labelling(labels, value)

    def _forest(self, scores: Scores) -> tuple[Array, Array, Array, Array]:
        return *self._arrays(scores), self._offsets, self._above()

    def _require_room(self, counts: Array) -> None:
        needed = 2.0 * np.diff(self._offsets) * (counts + 1.0) * self.n_labels
        if (needed > NUMBERS).any():
            s = int(np.argmax(needed))
            raise InputError(
                f"Instance {s} has {np.diff(self._offsets)[s]} vertices: the tables of its labellings with "
                f"{counts[s]} errors would take {needed[s]:.0f} numbers, more than {NUMBERS}."
            )


def require_numbers(values: Array, words: Words) -> None:
    bad = np.flatnonzero(np.isnan(values).any(axis=1))
    if len(bad):
        raise ScoreError(f"{words.name(int(bad[0]))} has scores that are NaN or +inf.")
