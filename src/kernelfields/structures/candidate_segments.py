"""Segments among candidates as a setting: places that are given with X, and perhaps features of them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ..arrays import Array, label_array
from ..checks import Check, as_list, one_of, optional, require_unmasked, shown, whole
from ..errors import InputError
from .item_tables import read_table, stacked_tables
from .segment_batch import SegmentBatch
from .segment_candidates import EVERY
from .segments import lower_ends_of
from .settings import Structure

FORMS = "(features, spans) or (features, spans, span_features)"


class SpanItem(NamedTuple):
    """What an item of X has besides the features of its positions."""

    spans: Any
    features: Any = None


class SegmentLinks(NamedTuple):
    """The candidates of a batch."""

    spans: Array
    """(C, 2) begin and end, counted over the whole batch."""
    labels: Array
    """(C,): the label of each; None for a candidate of all labels."""
    segment_features: Any = None
    """(C, F), an array or a sparse matrix."""


@dataclass(frozen=True)
class CandidateSegments(Structure):
    """Segments of which some, the candidates, are listed with X and may have features.

    An item of X is (features, spans) or (features, spans, span_features). Features are those of every
    position, as for a chain. Spans are rows (begin, end), or (begin, end, label) for candidates of one label:
    the first position, counted within the item, and the one behind the last. A run of one label that is a
    candidate also scores by the features of its span; without those, by the mean of the features of its
    positions.

    Parameters
    ----------
    max_length, bins
        Scores of lengths, as `Segments` has them.
    only : list of labels
        Labels that no other runs than candidates can have. Their spans may be of any length and cost little;
        the longest span of all other labels counts as ``max_length`` does.
    classes, n_segment_features : tuple and int, optional
        All labels in order, and how many features spans have; estimators fill them in.
    """

    max_length: int = 1
    bins: str = "log"
    only: Sequence[Hashable] = ()
    classes: tuple[Hashable, ...] | None = field(default=None, repr=False, compare=False)
    n_segment_features: int | None = field(default=None, repr=False, compare=False)

    linked: ClassVar[bool] = True
    _checks: ClassVar[Mapping[str, Check]] = {
        "max_length": whole(1, 2**31 - 1),
        "bins": one_of(["log", "each"]),
        "n_segment_features": optional(whole(0)),
    }

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        super().__post_init__()
        if isinstance(self.only, str) or not isinstance(self.only, Sequence):
            raise InputError(f"only is {self.only!r}; it must be a list of labels.")

    @property
    def lower_ends(self) -> Array:
        """The shortest length of every bin."""
        return lower_ends_of(self.max_length, self.bins)

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return the features of positions, and the rest of every item."""
        if lengths is not None:
            raise InputError(f"lengths= is for sequences; an item of X is {FORMS}.")
        X = as_list(X)
        if isinstance(X, str | bytes) or not isinstance(X, Sequence):
            raise InputError(f"X must be a list; an item of it is {FORMS}.")
        for s, item in enumerate(X):
            if not isinstance(item, tuple | list) or len(item) not in (2, 3):
                raise InputError(f"Sequence {s} of X is not {FORMS}.")
        return [item[0] for item in X], [SpanItem(*item[1:]) for item in X]

    def item(self, features: Any, part: Any) -> Any:
        """Return the same item with other features of its positions."""
        return (features, *part) if part.features is not None else (features, part.spans)

    def emptied(self, item: Any) -> Any:
        """Return an item without positions."""
        return [], [], *((given[:0],) if (given := SpanItem(*item[1:]).features) is not None else ())

    def links(self, parts: Any, offsets: Array) -> SegmentLinks:
        """Return the candidates of all items, counted over the batch."""
        width, spans, labels, features = self.n_segment_features, [], [], []
        for s, part in enumerate(parts):
            places, names = _read_spans(s, part.spans, int(offsets[s + 1] - offsets[s]))
            table = read_table(f"Sequence {s} of X", part.features, len(places), "spans", "span_features")
            found = 0 if table is None else table.shape[1]
            if len(places) and width is None:
                width = found
            if len(places) and found != width:
                raise InputError(f"Sequence {s} of X has {found} features per span, expected {width}.")
            spans.append(places + offsets[s])
            labels += names
            features += [] if table is None or not len(places) else [table]
        together = stacked_tables(features) if width else None
        every = np.concatenate([np.empty((0, 2), np.int64), *spans])
        return SegmentLinks(every, label_array(labels), together)

    def with_labels(self, classes: Sequence[Hashable], links: Any) -> Self:
        """Return the same for these labels, and for as many features of spans."""
        for label in self.only:
            if label not in classes:
                raise InputError(f"only has the label {label!r}, which y has not.")
        width = 0 if links.segment_features is None else links.segment_features.shape[1]
        return replace(self, classes=tuple(classes), n_segment_features=width)

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> SegmentBatch:
        """Return the batch."""
        index = {label: k for k, label in enumerate(self.classes or ())}
        bound = np.zeros(n_labels, dtype=bool)
        bound[[index[label] for label in self.only]] = True
        names = links.labels.tolist()
        for label in names:
            if label is not None and label not in index:
                raise InputError(f"A span has the label {label!r}, which the model does not know.")
        numbers = np.array([index.get(label, EVERY) for label in names], dtype=np.int64)
        spans, seen = np.column_stack([links.spans, numbers]), links.segment_features
        shared = "edge" not in own
        return SegmentBatch(offsets, n_labels, self.lower_ends, shared, spans, bound, seen).untied(own)


def _read_spans(s: int, given: Any, length: int) -> tuple[Array, list[Any]]:
    """Return begin and end of the candidates of one item, (C, 2), and the labels of those that have one."""
    require_unmasked(given, f"Sequence {s} of X: the list of spans", "leave out those that there are not")
    try:
        rows = list(given)
    except TypeError:
        raise InputError(f"Sequence {s} of X: spans are {shown(given)}, expected a list.") from None
    odd = next((row for row in rows if not hasattr(row, "__len__") or len(row) not in (2, 3)), None)
    if odd is not None:
        raise InputError(f"Sequence {s} of X: the span {odd!r} is not (begin, end) or (begin, end, label).")
    try:
        places = np.array([(row[0], row[1]) for row in rows]).reshape(-1, 2)
    except ValueError:
        places = np.array([[""]])
    if len(rows) and places.dtype.kind not in "iu":
        raise InputError(f"Sequence {s} of X: begin and end of spans must be whole numbers.")
    places = places.astype(np.int64)
    wrong = np.flatnonzero((places[:, 0] < 0) | (places[:, 1] <= places[:, 0]) | (places[:, 1] > length))
    if len(wrong):
        begin, end = places[wrong[0]].tolist()
        raise InputError(f"Sequence {s} of X has {length} positions, and a span from {begin} to {end}.")
    return places, [row[2] if len(row) == 3 else None for row in rows]
