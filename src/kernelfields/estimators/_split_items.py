"""Items of X, taken apart for transformers of lists of arrays, and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from ..arrays import Array, offsets_of
from ..data.inputs import read_lengths
from ..data.types import Items, Lengths, SparseMatrix, Transformer
from ..errors import InputError
from ..features.stacking import stack_rows
from ..structures import Structure


class SplitItems:
    """X as users give it: sequences for transformers, and what goes with them."""

    def __init__(self, structure: Structure, X: Items, lengths: Lengths) -> None:
        self._structure = structure
        given, self._links = structure.split(X, lengths)
        self.lengths: dict[str, Any] = {} if lengths is None else {"lengths": lengths}
        self.sequences: Sequence[Any] = given if lengths is None else _cut(given, lengths)

    def through(self, transformers: Iterable[Transformer]) -> Sequence[Any] | Array | SparseMatrix:
        """Return what transformers make of the sequences, with what went with them."""
        sequences = self.sequences
        for transformer in transformers:
            sequences = transformer.transform(sequences)
        return self.joined(sequences)

    def joined(self, sequences: Sequence[Any]) -> Sequence[Any] | Array | SparseMatrix:
        """Return sequences with links, or one below the other if they came with lengths."""
        if self._links is not None:
            return [self._structure.item(x, link) for x, link in zip(sequences, self._links, strict=True)]
        return stack_rows(sequences, "A model", sparsely=True).rows if self.lengths else sequences


def _cut(X: Any, lengths: Lengths) -> list[Any]:
    offsets = offsets_of(read_lengths(lengths))
    rows = X.tocsr() if hasattr(X, "tocsr") else X
    if offsets[-1] != rows.shape[0]:
        raise InputError(f"lengths add up to {offsets[-1]}, but X has {rows.shape[0]} rows.")
    return [rows[a:b] for a, b in pairwise(offsets.tolist())]
