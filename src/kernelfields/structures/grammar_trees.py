"""Trees of a grammar as a setting of estimators, which learn scores of rules and of symbols of spans."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import Check, is_list, shown, whole
from ..errors import InputError
from .grammar import Grammar, rules_by_span, symbol_spans
from .grammar_batch import GrammarBatch
from .parses import UNKNOWN
from .phrase_structure import trees_of_rows, words_of_spans
from .phrases import Span
from .settings import Structure
from .words import PARSES, Words


@dataclass(frozen=True)
class GrammarTrees(Structure):
    """Constituency trees by a grammar, which score by their rules and by the symbols of their spans.

    X is as for `Constituency`: a row of features for every span, or tokens with templates of spans. An item
    of y is a tree whose leaves are pairs (tag, word); predictions are trees with numbers of words as leaves.
    ``classes_`` are the symbols of the grammar, ``rules_`` the weights of its rules, in the order of
    ``structure_.grammar.rules``. Weights of features are as many as symbols times features: with a grammar of
    hundreds of symbols, features should be few.

    Parameters
    ----------
    grammar : Grammar, optional
        Else that of the training set, by `Grammar.of`.
    horizontal, vertical : int
        How much of its surroundings a symbol knows, see `symbol_spans`; also of a grammar that is given.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields import CRF
    >>> y = [("S", ("A", "a"), ("A", "a"), ("A", "a")), ("S", ("A", "a"), ("T", ("A", "a"), ("A", "a")))]
    >>> model = CRF(0.1, structure=GrammarTrees()).fit([np.zeros((6, 1))] * 2, y)
    >>> model.structure_.grammar.rules
    (('@S:A', 'A', 'A'), ('S', 'A', '@S:A'), ('S', 'A', 'T'), ('T', 'A', 'A'))
    """

    grammar: Grammar | None = None
    horizontal: int = 2
    vertical: int = 1

    labelling: ClassVar[bool] = False
    in_sequences: ClassVar[bool] = False
    cliques: ClassVar[str] = "spans"
    words: ClassVar[Words] = PARSES
    _checks: ClassVar[Mapping[str, Check]] = {"horizontal": whole(0), "vertical": whole(1)}

    def __post_init__(self) -> None:
        """Refuse what is no grammar."""
        super().__post_init__()
        if self.grammar is not None and not isinstance(self.grammar, Grammar):
            raise InputError(f"grammar is {shown(self.grammar)}; it must be a Grammar.")

    @property
    def alphabet(self) -> tuple[str, ...]:  # type: ignore[override]
        """The symbols of the grammar."""
        return () if self.grammar is None else self.grammar.symbols

    def settled(self, y: Any) -> Self:
        """Return the same with the grammar of y, where none is given."""
        if self.grammar is not None:
            return self
        return replace(self, grammar=Grammar.of(_items(y), self.horizontal, self.vertical))

    def encode(self, y: Any, offsets: Array, links: Any) -> Array:
        """Return rows times the number of symbols plus symbol, rising; `UNKNOWN` for other symbols, rules."""
        lengths, items = words_of_spans(offsets), _items(y)
        if len(items) != len(lengths):
            raise InputError(f"X has {len(lengths)} sentences, but y has {len(items)}.")
        index = {symbol: k for k, symbol in enumerate(self.alphabet)}
        known = set() if self.grammar is None else {*self.grammar.rules}
        flat: list[int] = []
        for s, (tree, n) in enumerate(zip(items, lengths.tolist(), strict=True)):
            spans = self._spans(s, tree)
            if (len(spans) + 1) // 2 != n:
                raise InputError(f"Sentence {s} has {n} words in X, but {(len(spans) + 1) // 2} in y.")
            rules = rules_by_span(spans)
            for i, j, symbol in sorted(spans):
                row = i * (2 * n - i - 1) // 2 + j - 1
                there = symbol in index and (j - i == 1 or rules[i, j] in known)
                flat.append(row * len(index) + index[symbol] if there else UNKNOWN)
        return np.array(flat, dtype=np.int64)

    def decode(self, outputs: Array, batch: Any) -> list[Any]:
        """Return the tree of every sentence; () for what is no tree, where fewer than k best exist."""
        return trees_of_rows(outputs, batch.grammar.labels, batch)

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> GrammarBatch:
        """Return all trees of the sentences."""
        if self.grammar is None:
            raise InputError("The grammar is not known before a training set is.")
        return GrammarBatch(words_of_spans(offsets), self.grammar).untied(own)

    def _spans(self, s: int, tree: Any) -> list[Span]:
        if isinstance(tree, tuple) and not tree:
            return []
        return symbol_spans(tree, self.horizontal, self.vertical, f"Sentence {s} of y")


def _items(y: Any) -> Sequence[Any]:
    if not is_list(y) or (isinstance(y, tuple) and y and isinstance(y[0], str)):
        raise InputError("y must be a list with the tree of every sentence.")
    items: Sequence[Any] = y.to_numpy() if hasattr(y, "to_numpy") else y
    return items
