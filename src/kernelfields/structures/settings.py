"""Structures as settings: what users give to estimators, and how their inputs become batches.

    CRF(structure="tree").fit(X, y)          # an item of X is (features, parents)
    CRF(structure=Chain(order=2)).fit(X, y)  # an item of X is features alone

What of X is not features (the parents of a tree) is its *links*, which only the structure reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, as_list, require_unmasked, whole
from ..errors import InputError
from ._base import StructureBatch
from ._labelled_base import EdgeBatch
from .chain import ChainBatch
from .chain2 import SecondOrderChainBatch
from .tree import TreeBatch
from .words import SEQUENCES, TREES, Words


@dataclass(frozen=True)
class Structure(Checked, ABC):
    """How the labels of one input depend on each other."""

    linked: ClassVar[bool] = False
    """Whether items of X hold links besides features."""
    labelling: ClassVar[bool] = True
    """Whether an output is one label for every vertex, and vertices are the rows of features.

    If not, rows are those of the cliques that answer, and the structure encodes and decodes outputs.
    """
    cliques: ClassVar[str] = "tokens"
    """What templates must be for, of those that `features.CliqueKind` names: rows are theirs."""
    alphabet: ClassVar[tuple[Any, ...]] = ()
    """What answers can be, where outputs are no labellings; () for labels, which the data say."""
    in_sequences: ClassVar[bool] = True
    """Whether users write labels as one sequence per item; if not, `flattened` makes such of them."""
    words: ClassVar[Words] = SEQUENCES
    """What messages call its items and their places."""
    _checks: ClassVar[Mapping[str, Check]] = {}

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return X without links, and the links of every item; None where a structure has none."""
        return X, None

    def links(self, parts: Any, offsets: Array) -> Any:
        """Return the links of a whole batch, checked, from those of its items."""
        return None

    def kept(self, parts: Any) -> Array | None:
        """Return for which rows features are made of tokens, where the links of items leave out some."""
        return None

    def item(self, features: Any, part: Any) -> Any:
        """Return an item of X with other features: what `split` would take apart again."""
        return (features, part) if self.linked else features

    def emptied(self, item: Any) -> Any:
        """Return an item of X without vertices, in the place of one that is not learnt from."""
        if self.linked or not self.labelling or not self.in_sequences:
            raise InputError(
                f"{type(self).__name__} needs the labels of every {self.words.item}: y has None."
            )
        return []

    def settled(self, y: Any) -> Structure:
        """Return the structure for the outputs of a training set, where these have a say in it."""
        return self

    def spread(self, inputs: Any) -> Any:
        """Return inputs with a row for every vertex, where items of X are not that already."""
        return inputs

    def flattened(self, y: Any, links: Any, what: str) -> Any:
        """Return labels, as users write them, as a list of label sequences; whatever ``what`` calls them."""
        return y

    def shaped(self, labels: Sequence[Any], links: Any) -> Any:
        """Return label sequences as users write them."""
        return labels

    def shaped_marginals(self, marginals: Sequence[Array], links: Any) -> Any:
        """Return the marginals of the vertices of every instance as users see them."""
        return self.shaped(marginals, links)

    def with_labels(self, classes: Sequence[Any], links: Any) -> Structure:
        """Return the structure as a training set with these labels and links has it."""
        return self

    def encode(self, y: Any, offsets: Array, links: Any) -> Array:
        """Return outputs, as users write them, in one flat array; labellings are encoded by their labels."""
        raise TypeError(f"{type(self).__name__} labels vertices: labels say what its outputs are.")

    def decode(self, outputs: Array, batch: Any) -> list[Any]:
        """Return outputs as users write them, one per instance; labellings are named by their labels."""
        raise TypeError(f"{type(self).__name__} labels vertices: labels say what its outputs are.")

    @property
    def forbidden_pairs(self) -> Sequence[tuple[Any, Any]]:
        """Label pairs that no edge can have, whatever the constraints of a model."""
        return ()

    @abstractmethod
    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> StructureBatch:
        """Return the batch; every clique of the types ``own`` has separate scores."""


@dataclass(frozen=True)
class Chain(Structure):
    """Sequences: a label depends on the one before it, or on the two before it.

    Parameters
    ----------
    order : 1 or 2
        How many labels before it a label depends on. A sequence of T positions takes time T·L² with
        order 1 and T·L³ with order 2.
    """

    order: int = 1
    _checks: ClassVar[Mapping[str, Check]] = {"order": whole(1, 2)}

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> EdgeBatch:
        """Return chains of this order."""
        kind = ChainBatch if self.order == 1 else SecondOrderChainBatch
        batch = kind(offsets, n_labels, shared_edges="edge" not in own)
        if "triple" in own and isinstance(batch, SecondOrderChainBatch):
            from .exact import untie_triples

            return untie_triples(batch)
        return batch.untied(own)


@dataclass(frozen=True)
class Tree(Structure):
    """Rooted trees and forests: a label depends on that of the parent.

    An item of X is a pair (features, parents): features of every vertex as for a chain, and for every
    vertex the number of its parent within the item, −1 for a root. Parents need not come first; an item
    may have several roots, or no vertices. Where sequences have scores and rules for first and last
    labels, trees have them for roots and leaves: a path is a chain.
    """

    linked: ClassVar[bool] = True
    words: ClassVar[Words] = TREES

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return the features and the parents of every item."""
        if lengths is not None:
            raise InputError("lengths= is for sequences; an item of X is a pair (features, parents).")
        X = as_list(X)
        if isinstance(X, str | bytes) or not isinstance(X, Sequence):
            raise InputError("X must be a list of pairs (features, parents).")
        for s, item in enumerate(X):
            if not isinstance(item, tuple | list) or len(item) != 2:
                raise InputError(f"Tree {s} of X is not a pair (features, parents).")
        return [item[0] for item in X], [item[1] for item in X]

    def emptied(self, item: Any) -> Any:
        """Return a tree without vertices."""
        return [], []

    def links(self, parts: Any, offsets: Array) -> Array:
        """Return parents counted over the whole batch."""
        result = np.full(int(offsets[-1]), -1, dtype=np.int64)
        for s, given in enumerate(parts):
            start, end = int(offsets[s]), int(offsets[s + 1])
            parents = _parents_of(s, given, end - start)
            result[start:end] = np.where(parents >= 0, parents + start, -1)
        _require_no_cycle(offsets, result)
        return result

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> EdgeBatch:
        """Return forests."""
        return TreeBatch(offsets, links, n_labels, shared_edges="edge" not in own).untied(own)


def _parents_of(s: int, given: Any, count: int) -> Array:
    """Return the parents of one item: whole numbers from −1 to the number of its vertices."""
    require_unmasked(given, f"Tree {s} of X: the list of parents", "write −1 for the parent of a root")
    try:
        parents = np.asarray(given)
        known = parents.size == 0 or (parents.dtype.kind in "iu" and parents.dtype != bool)
    except ValueError:
        known = False
    if not known or parents.ndim != 1:
        raise InputError(f"The parents of tree {s} of X are not a list of whole numbers.")
    if len(parents) != count:
        raise InputError(f"Tree {s} of X has {count} vertices and {len(parents)} parents.")
    odd = np.flatnonzero((parents < -1) | (parents >= count))
    if len(odd):
        v = int(odd[0])
        raise InputError(
            f"Tree {s} of X: the parent of vertex {v} is {parents[v]}, expected −1 to {count - 1}."
        )
    return parents.astype(np.int64)


def _require_no_cycle(offsets: Array, parents: Array) -> None:
    """Refuse vertices that are above themselves, by tree and vertex."""
    above = parents
    for _ in range(int(np.diff(offsets).max(initial=0)).bit_length()):  # 1, 2, 4, … generations up
        above = np.where(above >= 0, above[above], -1)
    lost = np.flatnonzero(above >= 0)  # in a cycle, or below one
    if len(lost):
        v = int(above[lost[0]])  # so far up that it is in the cycle
        s = int(np.searchsorted(offsets, v, side="right")) - 1
        raise InputError(f"Tree {s} of X: vertex {v - int(offsets[s])} is its own ancestor.")
