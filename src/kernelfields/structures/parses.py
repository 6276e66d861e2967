"""Dependency trees as a setting of estimators, and how heads and relations are read."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, ClassVar, Self

import numpy as np

from .. import native
from ..arrays import Array, label_array, offsets_of
from ..checks import Check, as_list, is_list, require_flag, require_unmasked, shown
from ..errors import InputError
from .dependency import DependencyBatch
from .settings import Structure
from .words import SENTENCES, Words

UNKNOWN = -2
"""The output of a word whose relation training did not have."""

FAULTS = (
    "",
    "has the head {head}, expected 0 (the root) to {n}",
    "is its own head",
    "is its own ancestor",
    "is a second one with the root as its head; single_root=False allows that",
    "has an arc that crosses another; projective=False allows that",
)
"""What can be wrong with heads, in the order of native.dependency_fault."""


@dataclass(frozen=True)
class Dependency(Structure):
    """Dependency trees: every word has another word or the root as its head, and all lead to the root.

    An item of X has a row of features for every arc of a sentence of n words, n(n + 1) in all: those from the
    heads 0 (the root), 1 … n to word 1, then those to word 2, and so on; the row of head h and word m is
    number (m − 1)(n + 1) + h. Rows from a word to itself are there for the sake of this formula, and never
    looked at. With ``features="arcs"``, or other templates of arcs, an item of X is a list of tokens instead.
    An item of y is a list of the heads of all words, 0 for the root; with relations, a pair
    (heads, relations). `predict_marginals` has an (n, n + 1) array per sentence, or (n, n + 1, L): row m − 1
    is the distribution of the head of word m.

    Parameters
    ----------
    projective : bool
        Whether arcs must not cross: Eisner's chart, time n³. Else all trees: matrix-tree theorem, time n³,
        and Edmonds' algorithm, time n². Trees of y that are not projective are then no outputs, and refused.
    single_root : bool
        Whether exactly one word has the root as its head.
    pruned : bool
        Whether trees have some arcs only: an item of X is then a pair (features, allowed), allowed an
        (n, n + 1) array of booleans like those of `predict_marginals`. Features of other arcs are not made.
    labels : bool or list, optional
        Whether arcs have relations, each with weights of its own: True for those of the training set, or
        their names. ``classes_`` are the relations.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields import CRF
    >>> left = np.array([[float(h == m - 1)] for m in (1, 2, 3) for h in range(4)])
    >>> model = CRF(structure=Dependency()).fit([left, left], [[0, 1, 2], [0, 1, 1]])
    >>> model.predict([left])
    [[0, 1, 2]]
    """

    projective: bool = True
    single_root: bool = True
    labels: Any = None
    pruned: bool = False

    labelling: ClassVar[bool] = False
    in_sequences: ClassVar[bool] = False
    cliques: ClassVar[str] = "arcs"
    words: ClassVar[Words] = SENTENCES
    _checks: ClassVar[Mapping[str, Check]] = dict.fromkeys(
        ("projective", "single_root", "pruned"), require_flag
    )

    def __post_init__(self) -> None:
        """Refuse what cannot be; keep relations as a tuple, so that settings can be compared."""
        super().__post_init__()
        if self.labels is None or isinstance(self.labels, bool):
            return
        if not is_list(self.labels) or len(self.labels) == 0:
            raise InputError(f"labels is {shown(self.labels)}; it must be True, or a list of relations.")
        names = tuple(label_array(list(self.labels)).tolist())
        if len(set(names)) < len(names):
            raise InputError("labels must name every relation once.")
        if names != self.labels:
            object.__setattr__(self, "labels", names)

    @property
    def alphabet(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The relations; one answer, the arc itself, where there are none."""
        return self.labels if isinstance(self.labels, tuple) else ("arc",)

    @property
    def linked(self) -> bool:  # type: ignore[override]
        """Whether items of X also say which arcs there are."""
        return self.pruned

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return features, and which arcs are allowed."""
        if not self.pruned:
            return X, None
        if lengths is not None:
            raise InputError("lengths= is not for pruned trees; an item of X is a pair (features, allowed).")
        X = as_list(X)
        if not is_list(X):
            raise InputError("X must be a list of pairs (features, allowed).")
        pairs = [_pruned(s, item) for s, item in enumerate(X)]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def kept(self, parts: Any) -> Array | None:
        """Return which arcs are allowed."""
        return _joined(parts)

    def links(self, parts: Any, offsets: Array) -> Any:
        """Return which arcs of all sentences are allowed."""
        for s, (n, allowed) in enumerate(zip(words_of(offsets).tolist(), parts, strict=True)):
            if allowed.shape != (n, n + 1):
                raise InputError(f"Sentence {s} of X has {n} words, but allowed has shape {allowed.shape}.")
        return _joined(parts)

    def settled(self, y: Any) -> Self:
        """Return the same with the relations of y, where these are not given."""
        if self.labels is not True:
            return self
        pairs = [_pair(s, item) for s, item in enumerate(_items(y))]
        seen = dict.fromkeys(label for _, labels in pairs for label in labels)
        try:
            return replace(self, labels=tuple(sorted(seen)))
        except TypeError:
            return replace(self, labels=tuple(seen))

    def encode(self, y: Any, offsets: Array, links: Any) -> Array:
        """Return heads, or heads times the number of relations plus relation; `UNKNOWN` for others."""
        lengths, items = words_of(offsets), _items(y)
        if len(items) != len(lengths):
            raise InputError(f"X has {len(lengths)} sentences, but y has {len(items)}.")
        if not self.labels:
            return self._allowed(self._heads(items, lengths), lengths, links)
        pairs = [_pair(s, item) for s, item in enumerate(items)]
        heads = self._allowed(self._heads([pair[0] for pair in pairs], lengths), lengths, links)
        relations = [pair[1] for pair in pairs]
        _require_words(relations, lengths, "relations")
        index = {label: k for k, label in enumerate(self.alphabet)}
        given = (index.get(label, UNKNOWN) for label in chain.from_iterable(relations))
        numbers = np.fromiter(given, np.int64, len(heads))
        return np.where((numbers < 0) | (heads < 0), UNKNOWN, heads * len(index) + numbers)

    def decode(self, outputs: Array, batch: Any) -> list[Any]:
        """Return the heads of every sentence, or pairs of heads and relations."""
        ends = list(pairwise(batch.output_offsets.tolist()))
        heads, numbers = np.divmod(outputs, len(self.alphabet))
        head = heads.tolist()
        if not self.labels:
            return [head[a:b] for a, b in ends]
        names = [self.alphabet[k] for k in numbers.tolist()]
        return [(head[a:b], names[a:b]) for a, b in ends]

    def shaped_marginals(self, marginals: Sequence[Array], links: Any) -> list[Array]:
        """Return a row for every word, a column for every head."""
        lengths = words_of(offsets_of([len(p) for p in marginals]))
        return [p.reshape(n, n + 1, *p.shape[1:]) for n, p in zip(lengths.tolist(), marginals, strict=True)]

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> DependencyBatch:
        """Return all trees of the sentences."""
        labels = n_labels if self.labels else None
        kind = self.projective, self.single_root
        return DependencyBatch(words_of(offsets), labels, *kind, links).untied(own)

    @staticmethod
    def _allowed(heads: Array, lengths: Array, allowed: Array | None) -> Array:
        """Return heads, `UNKNOWN` where the arc is not allowed."""
        if allowed is None:
            return heads
        rows = np.repeat(lengths + 1, lengths)
        return np.where(allowed[np.cumsum(rows) - rows + heads], heads, UNKNOWN)

    def _heads(self, given: Sequence[Any], lengths: Array) -> Array:
        """Return the heads of all words, of which every sentence makes a tree."""
        rows = [_numbers(s, heads) for s, heads in enumerate(given)]
        _require_words(rows, lengths, "heads")
        heads = np.concatenate([np.zeros(0, np.int64), *rows])
        starts = offsets_of(lengths)
        short = np.clip(heads, -1, 2**31 - 1).astype(np.int32)
        s, word, fault = native.dependency_fault(short, starts, self.single_root, self.projective)
        if fault:
            head, n = heads[starts[s] + word - 1], lengths[s]
            raise InputError(f"Sentence {s} of y: word {word} {FAULTS[fault].format(head=head, n=n)}.")
        return heads


def words_of(offsets: Array) -> Array:
    """Return the number of words of every sentence, of which the number of arcs is n(n + 1)."""
    arcs = np.diff(offsets)
    words = np.floor(np.sqrt(arcs)).astype(np.int64)
    wrong = np.flatnonzero(words * (words + 1) != arcs)
    if wrong.size:
        s = int(wrong[0])
        raise InputError(
            f"Sentence {s} of X has {arcs[s]} rows, expected n(n + 1) for n words: "
            "one for every head 0 … n of each word."
        )
    return words


def _pruned(s: int, item: Any) -> tuple[Any, Array]:
    """Return the features of a sentence, and which arcs are allowed."""
    if not isinstance(item, tuple | list) or len(item) != 2:
        raise InputError(f"Sentence {s} of X is not a pair (features, allowed).")
    return item[0], read_allowed(s, item[1])


def _joined(allowed: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(0, bool), *(one.ravel() for one in allowed)])


def read_allowed(s: int, given: Any) -> Array:
    """Return which arcs of a sentence are allowed, (n, n + 1)."""
    require_unmasked(given, f"Sentence {s} of X: allowed", "write False for arcs that are not allowed")
    allowed = np.asarray(given)
    if allowed.size == 0:
        allowed = np.zeros((0, 1), bool)
    if allowed.dtype != bool or allowed.ndim != 2 or allowed.shape[1] != len(allowed) + 1:
        shape = f"{allowed.dtype} of shape {allowed.shape}"
        raise InputError(f"Sentence {s} of X: allowed is {shape}, expected booleans of shape (n, n + 1).")
    return allowed


def _items(y: Any) -> Sequence[Any]:
    if not is_list(y):
        raise InputError("y must be a list with the heads of every sentence.")
    items: Sequence[Any] = y.to_numpy() if hasattr(y, "to_numpy") else y
    return items


def _pair(s: int, item: Any) -> tuple[Any, list[Hashable]]:
    """Return the heads and the relations of a sentence."""
    if not isinstance(item, tuple | list) or len(item) != 2 or not all(map(is_list, item)):
        raise InputError(f"Sentence {s} of y is not a pair (heads, relations).")
    relations = label_array(list(item[1])).tolist()
    for m, label in enumerate(relations, 1):
        if label is None or not isinstance(label, Hashable):
            raise InputError(f"Sentence {s} of y: word {m} has the relation {shown(label)}, expected a name.")
    return item[0], relations


def _numbers(s: int, given: Any) -> Array:
    """Return the heads of one sentence."""
    try:
        heads = np.asarray(given)
        known = heads.size == 0 or heads.dtype.kind in "iu"
    except ValueError:
        known = False
    if not known or heads.ndim != 1:
        raise InputError(f"Sentence {s} of y is not a list of heads, which are whole numbers.")
    return heads.astype(np.int64)


def _require_words(given: Sequence[Any], lengths: Array, what: str) -> None:
    found = np.fromiter(map(len, given), np.int64, len(given))
    wrong = np.flatnonzero(found != lengths)
    if wrong.size:
        s = int(wrong[0])
        raise InputError(f"Sentence {s} has {lengths[s]} words in X, but {found[s]} {what} in y.")
