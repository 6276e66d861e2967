"""Constituency trees as a setting of estimators."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import is_list, shown
from ..errors import InputError
from .constituency import ConstituencyBatch
from .parses import UNKNOWN
from .phrases import Span, binary_spans, tree_of
from .settings import Structure
from .words import PARSES, Words

EMPTY = ""
"""The label of a single word without a phrase, and of the rest of a phrase with more than two children."""


@dataclass(frozen=True)
class Constituency(Structure):
    """Constituency trees: phrases with labels, one within the other, over the words of a sentence.

    An item of X has a row of features for every span of a sentence of n words, n(n + 1)/2 in all: those that
    begin with word 0, from the shortest on, then those that begin with word 1, and so on. The row of the span
    from word i up to word j, the first behind it, 0 ≤ i < j ≤ n, is number i(2n − i − 1)/2 + j − 1. With
    ``features="spans"``, or other templates of spans, an item of X is a list of tokens instead. An item of y
    is a tree, a tuple (label, child, …) whose leaves are pairs (tag, word) or numbers of words; predictions
    are such trees with numbers as leaves, of which `structures.with_leaves` makes pairs again. The tree of a
    sentence without words is ().

    A span scores by its label. Phrases with a single child become one with it, as S+VP; they are taken apart
    again in predictions. Phrases with more than two children have spans with the empty label "" over all
    children but the first, all but the first two, …; single words without a phrase have it, too.
    ``classes_`` are all labels, "" first; `predict_marginals` has an (n(n + 1)/2, L) array per sentence.

    Parameters
    ----------
    labels : list of str, optional
        All labels of spans but the empty one, those of chains included; else those of the training set.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields import CRF
    >>> spans = np.array([[float(j - i == 2 and i == 0)] for i in range(3) for j in range(i + 1, 4)])
    >>> y = ("S", ("NP", ("DT", "the"), ("NN", "dog")), ("VP", ("VBZ", "barks")))
    >>> model = CRF(0.1, structure=Constituency()).fit([spans], [y])
    >>> model.classes_.tolist()
    ['', 'NP', 'S', 'VP']
    """

    labels: Any = None

    labelling: ClassVar[bool] = False
    in_sequences: ClassVar[bool] = False
    cliques: ClassVar[str] = "spans"
    words: ClassVar[Words] = PARSES

    def __post_init__(self) -> None:
        """Refuse what cannot be; keep labels as a tuple, so that settings can be compared."""
        super().__post_init__()
        if self.labels is None:
            return
        if not is_list(self.labels):
            raise InputError(f"labels is {shown(self.labels)}; it must be a list of labels.")
        names = tuple(self.labels)
        if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
            raise InputError("labels must name every label once; the empty one is there without.")
        if names != self.labels:
            object.__setattr__(self, "labels", names)

    @property
    def alphabet(self) -> tuple[str, ...]:  # type: ignore[override]
        """The labels of spans, the empty one first."""
        return (EMPTY, *(self.labels or ()))

    def settled(self, y: Any) -> Self:
        """Return the same with the labels of y, where these are not given."""
        if self.labels is not None:
            return self
        seen = {label for spans in _read(y) for _, _, label in spans}
        return replace(self, labels=tuple(sorted(seen - {EMPTY})))

    def encode(self, y: Any, offsets: Array, links: Any) -> Array:
        """Return rows times the number of labels plus label, rising; `UNKNOWN` for other labels."""
        lengths, trees = words_of_spans(offsets), _read(y)
        if len(trees) != len(lengths):
            raise InputError(f"X has {len(lengths)} sentences, but y has {len(trees)}.")
        found = np.fromiter(((len(spans) + 1) // 2 for spans in trees), np.int64, len(trees))
        wrong = np.flatnonzero(found != lengths)
        if wrong.size:
            s = int(wrong[0])
            raise InputError(f"Sentence {s} has {lengths[s]} words in X, but {found[s]} in y.")
        index = {label: k for k, label in enumerate(self.alphabet)}
        flat = [
            (i * (2 * n - i - 1) // 2 + j - 1, index.get(label, -1))
            for n, spans in zip(lengths.tolist(), trees, strict=True)
            for i, j, label in sorted(spans)
        ]
        rows, labels = np.array(flat, dtype=np.int64).reshape(-1, 2).T
        return np.where(labels < 0, UNKNOWN, rows * len(index) + labels)

    def decode(self, outputs: Array, batch: Any) -> list[Any]:
        """Return the tree of every sentence; () for what is no tree, where fewer than k best exist."""
        return trees_of_rows(outputs, self.alphabet, batch)

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> ConstituencyBatch:
        """Return all trees of the sentences."""
        return ConstituencyBatch(words_of_spans(offsets), n_labels, empty=True).untied(own)


def trees_of_rows(outputs: Array, names: Sequence[Any], batch: Any) -> list[Any]:
    """Return the trees of spans that are named by row and label; () for what is no tree."""
    rows, labels = np.divmod(outputs, len(names))
    named = [names[k] for k in labels.tolist()]
    trees = []
    for n, (a, b) in zip(batch.lengths.tolist(), pairwise(batch.output_offsets.tolist()), strict=True):
        own = rows[a:b]
        begins, lasts = (part[own].tolist() for part in np.triu_indices(n))
        spans = zip(begins, (last + 1 for last in lasts), named[a:b], strict=True)
        trees.append(tree_of(spans) if (np.diff(own) > 0).all() else ())
    return trees


def words_of_spans(offsets: Array) -> Array:
    """Return the number of words of every sentence, of which the number of spans is n(n + 1)/2."""
    spans = np.diff(offsets)
    words = (np.floor(np.sqrt(8 * spans + 1)).astype(np.int64) - 1) // 2
    wrong = np.flatnonzero(words * (words + 1) // 2 != spans)
    if wrong.size:
        s = int(wrong[0])
        raise InputError(
            f"Sentence {s} of X has {spans[s]} rows, expected n(n + 1)/2 for n words: one for every span."
        )
    return words


def _read(y: Any) -> list[list[Span]]:
    if not is_list(y) or (isinstance(y, tuple) and y and isinstance(y[0], str)):
        raise InputError("y must be a list with the tree of every sentence.")
    items: Sequence[Any] = y.to_numpy() if hasattr(y, "to_numpy") else y
    return [binary_spans(tree, f"Sentence {s} of y") for s, tree in enumerate(items)]
