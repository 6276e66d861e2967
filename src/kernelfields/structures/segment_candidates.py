"""Candidate segments: places where a run of one label scores by itself."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays import Array, offsets_of, rows_of
from ..checks import require_unmasked
from ..errors import InputError
from ..memory import require_memory

EVERY = -1
"""In the place of a label: a candidate of all of them."""


class CandidateRuns(NamedTuple):
    """Candidates of a batch by their ends; of those with the same end, the shortest first."""

    offsets: Array
    """(S + 1,): sequence s owns the candidates ``offsets[s]`` up to ``offsets[s + 1]``."""
    begin: Array
    """(C,): the first position, counted within the sequence."""
    end: Array
    """(C,): the position behind the last."""
    label: Array
    """(C,): the label that it is a candidate of, or `EVERY`."""

    def take(self, ids: Array) -> Self:
        """Return those of some sequences."""
        rows = rows_of(self.offsets, ids)
        offsets = offsets_of(np.diff(self.offsets)[ids])
        return type(self)(offsets, self.begin[rows], self.end[rows], self.label[rows])

    def members(self, starts: Array) -> Array:
        """Return the first and the last position of each, (C, 2), counted over the batch."""
        shift = np.repeat(starts[:-1], np.diff(self.offsets))
        return np.stack([self.begin + shift, self.end - 1 + shift], axis=1)

    def longest(self, free: Array) -> int:
        """Return the length of the longest that concerns a label which is not bound to candidates, or 0."""
        mine = np.where(self.label == EVERY, free.any(), free[np.maximum(self.label, 0)])
        return int((self.end - self.begin)[mine].max(initial=0))

    def realised(self, starts: Array, labels: Array, begins: Array) -> Array:
        """Return the candidates that are runs of a labelling, given where its runs begin."""
        ends = np.full(len(labels) + 1, -1, dtype=np.int64)
        ends[begins] = np.append(begins[1:], len(labels))
        first, last = self.members(starts).T
        same = (self.label == EVERY) | (self.label == labels[first])
        return np.flatnonzero(same & (ends[first] == last + 1))


def every_run(offsets: Array, longest: int) -> CandidateRuns:
    """Return all runs of up to so many positions as candidates of every label."""
    lengths = np.diff(offsets)
    most = np.minimum(lengths, longest)
    require_memory(f"Every run of up to {longest} positions", 100 * int((lengths * most).sum()))
    counts = [np.minimum(np.arange(1, n + 1), longest) for n in lengths.tolist()]
    per_end = np.concatenate([np.empty(0, np.int64), *counts])
    end = np.repeat(np.concatenate([np.empty(0, np.int64), *(np.arange(1, n + 1) for n in lengths)]), per_end)
    length = np.arange(per_end.sum()) - np.repeat(np.cumsum(per_end) - per_end, per_end) + 1
    return CandidateRuns(
        offsets_of([int(count.sum()) for count in counts]),
        (end - length).astype(np.int32),
        end.astype(np.int32),
        np.full(len(end), EVERY, dtype=np.int32),
    )


def read_candidates(given: Any, offsets: Array, n_labels: int) -> tuple[CandidateRuns, Array]:
    """Return candidates, (C, 2) or (C, 3) positions of a batch and labels, and the order they are kept in."""
    rows = _rows(given)
    begin, end = rows[:, 0], rows[:, 1]
    label = rows[:, 2] if rows.shape[1] == 3 else np.full(len(rows), EVERY)
    owner = np.searchsorted(offsets, begin, side="right") - 1
    inside = (begin >= 0) & (owner < len(offsets) - 1) & (begin < end)
    inside[inside] = end[inside] <= offsets[owner[inside] + 1]
    odd = np.flatnonzero(~inside | (label < EVERY) | (label >= n_labels))
    if len(odd):
        c = int(odd[0])
        raise InputError(
            f"Candidate {c} is {rows[c].tolist()}: begin and end must be within one sequence, "
            f"the label from 0 to {n_labels - 1}."
        )
    order = np.lexsort((label, -begin, end))
    begin, end, label, owner = begin[order], end[order], label[order], owner[order]
    _require_different(begin, end, label)
    start = offsets[owner]
    counts = np.bincount(owner, minlength=len(offsets) - 1)
    parts = ((part).astype(np.int32) for part in (begin - start, end - start, label))
    return CandidateRuns(offsets_of(counts), *parts), order


def _rows(given: Any) -> Array:
    """Return a matrix of whole numbers with a row for each candidate."""
    require_unmasked(given, "The list of candidates", "leave out those that there are not")
    try:
        rows = np.asarray(given)
    except ValueError:
        rows = np.zeros(())
    if rows.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] not in (2, 3) or rows.dtype.kind not in "iu":
        raise InputError(
            f"candidates have shape {rows.shape} of {rows.dtype}, expected whole numbers (C, 2) or (C, 3): "
            "begin, end and perhaps a label."
        )
    return rows.astype(np.int64)


def _require_different(begin: Array, end: Array, label: Array) -> None:
    """Refuse two candidates of one label at one place; they come in order."""
    same = (begin[1:] == begin[:-1]) & (end[1:] == end[:-1])
    twice = np.flatnonzero(same & ((label[1:] == label[:-1]) | (label[:-1] == EVERY)))
    if len(twice):
        c = int(twice[0])
        raise InputError(f"The candidate from {begin[c]} to {end[c]} is there twice for the same label.")
