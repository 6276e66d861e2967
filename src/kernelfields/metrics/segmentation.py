"""Segments found, where beginnings and ends need not be exact."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from itertools import groupby, pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..checks import is_list, require_share, shown
from ..errors import InputError
from .pairs import NO_LABEL, Pairs, ratio, read_runs


class Segment(NamedTuple):
    """A stretch of positions with one label."""

    start: int
    """Its first position, counted from 0."""
    end: int
    """The position after its last one."""
    label: Hashable


class SegmentScores(NamedTuple):
    """Precision, recall and F1 of segments; a quotient 0/0 is 0."""

    precision: float
    """P = n_correct / n_predicted."""
    recall: float
    """R = n_correct / n_true."""
    f1: float
    """2 P R / (P + R)."""
    n_true: int
    n_predicted: int
    n_correct: int


def segment_scores(
    y_true: Any, y_pred: Any, overlap: float = 0.5, *, ignore: Collection[Hashable] = ()
) -> SegmentScores:
    """Return scores of segments that overlap enough, as action segmentation counts them [lea2017].

    Predicted segments are taken in turn. Each is compared with the true segment of its label that it overlaps
    most, by |A ∩ B| / |A ∪ B|. It is correct if this is at least ``overlap`` and if no segment before took
    the same true one. With ``overlap=1`` beginning and end must be right.

    Parameters
    ----------
    y_true, y_pred : list of lists of segments (start, end, label), or of label sequences
        Positions from ``start`` up to ``end``, which is not included, counted from 0. Of label sequences,
        neighbours with one label are a segment; they are split where the true label is None or NaN, not
        observed, and predictions there are not looked at. Where the prediction is None there is no segment.
    overlap : float
        Above 0 and at most 1; 0.1, 0.25 and 0.5 are usual.
    ignore : collection of labels
        Whose segments do not count, such as a background.

    Examples
    --------
    >>> segment_scores([["a", "a", "a", "b"]], [["a", "a", "b", "b"]]).f1
    1.0
    >>> segment_scores([[(0, 3, "a"), (3, 4, "b")]], [[(0, 2, "a"), (2, 4, "b")]], overlap=0.6).f1
    0.5
    """
    least = require_share("overlap", overlap, zero=False)
    if isinstance(ignore, str) or not isinstance(ignore, Collection):
        raise InputError(f"ignore is {shown(ignore)}; it must be a collection of labels.")
    true, predicted = _sides(y_true, y_pred)
    counts = np.zeros(3, dtype=np.int64)
    for a, b in zip(true, predicted, strict=True):
        here, found = ([one for one in side if one.label not in ignore] for side in (a, b))
        counts += (len(here), len(found), _matches(here, found, least))
    n_true, n_predicted, n_correct = counts.tolist()
    precision, recall, f1 = ratio(
        np.array([n_correct, n_correct, 2 * n_correct]), np.array([n_predicted, n_true, n_true + n_predicted])
    ).tolist()
    return SegmentScores(precision, recall, f1, n_true, n_predicted, n_correct)


def segments_of(labels: Any) -> list[Segment]:
    """Return the runs of equal labels of one sequence; None is no label.

    Examples
    --------
    >>> segments_of(["a", "a", None, "b"])
    [Segment(start=0, end=2, label='a'), Segment(start=3, end=4, label='b')]
    """
    result, start = [], 0
    for label, run in groupby(labels):
        end = start + sum(1 for _ in run)
        if label is not None:
            result.append(Segment(start, end, label))
        start = end
    return result


def _matches(true: list[Segment], predicted: list[Segment], least: float) -> int:
    """Count the predicted segments that are correct."""
    taken: set[int] = set()
    for one in predicted:
        shares = [_share(one, other) if one.label == other.label else 0.0 for other in true]
        best = max(range(len(true)), key=shares.__getitem__, default=None)
        if best is not None and shares[best] >= least:
            taken.add(best)  # once, however many segments find it
    return len(taken)


def _share(a: Segment, b: Segment) -> float:
    """|A ∩ B| / |A ∪ B|."""
    both = max(min(a.end, b.end) - max(a.start, b.start), 0)
    return both / (a.end - a.start + b.end - b.start - both)


def _sides(y_true: Any, y_pred: Any) -> tuple[list[list[Segment]], list[list[Segment]]]:
    """Return the segments of both sides."""
    kinds = {name: _has_segments(y, name) for name, y in (("y_true", y_true), ("y_pred", y_pred))}
    known = [kind for kind in kinds.values() if kind is not None]
    if len(set(known)) > 1:
        segments = next(name for name, kind in kinds.items() if kind)
        raise InputError(f"{segments} has segments (start, end, label), but the other side has labels.")
    if known and not known[0]:
        return _of_labels(read_runs(y_true, y_pred))
    true, predicted = _of_triples(y_true, "y_true"), _of_triples(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise InputError(f"y_true has {len(true)} sequences, but y_pred has {len(predicted)}.")
    return true, predicted


def _has_segments(y: Any, name: str) -> bool | None:
    """Return whether a side has segments rather than labels; None if it has neither."""
    if not is_list(y):
        raise InputError(f"{name} must be a list of label sequences, or of lists of segments.")
    first = next((item[0] for item in map(_entries, y) if item), None)
    return None if first is None else _is_triple(first)


def _entries(item: Any) -> list[Any]:
    return list(item) if is_list(item) else [item]


def _is_triple(entry: Any) -> bool:
    return (
        isinstance(entry, tuple | list)
        and len(entry) == 3
        and all(isinstance(end, Integral) and not isinstance(end, bool) for end in entry[:2])
    )


def _of_labels(pairs: Pairs) -> tuple[list[list[Segment]], list[list[Segment]]]:
    ends = list(pairwise(pairs.offsets.tolist()))
    names: dict[int, Hashable] = {**dict(enumerate(pairs.labels)), NO_LABEL: None}
    true, predicted = (
        [segments_of([names[k] for k in side[a:b].tolist()]) for a, b in ends]
        for side in (pairs.true, pairs.predicted)
    )
    return true, predicted


def _of_triples(y: Any, name: str) -> list[list[Segment]]:
    return [
        [_segment(entry, f"Sequence {s} of {name}") for entry in _entries(item)] for s, item in enumerate(y)
    ]


def _segment(entry: Any, what: str) -> Segment:
    if not _is_triple(entry):
        raise InputError(f"{what} has {shown(entry)}, expected a segment (start, end, label).")
    start, end, label = entry
    if not 0 <= start < end:
        raise InputError(f"{what} has a segment from {start} to {end}, expected 0 ≤ start < end.")
    if not isinstance(label, Hashable):
        raise InputError(f"{what} has the label {shown(label)}, which is not hashable.")
    return Segment(int(start), int(end), label)
