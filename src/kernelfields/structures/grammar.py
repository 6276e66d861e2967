"""Grammars with binary rules, and how they are read off trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from .. import native
from ..arrays import Array
from ..checks import require_whole
from ..errors import InputError
from ..io.phrases import is_leaf
from .phrases import JOIN, Span, phrase_label

REST = "@"
"""Before the symbol of a part of a phrase with more than two children."""
ABOVE = "^"
"""Between a symbol and the labels above it."""


class SymbolCounts(NamedTuple):
    """How often a treebank uses what a grammar is made of."""

    rules: Counter[tuple[str, str, str]]
    """(parent, left child, right child)."""
    roots: Counter[str]
    """Symbols of whole sentences."""
    words: Counter[str]
    """Symbols of single words."""


@dataclass(frozen=True)
class Grammar:
    """Binary rules A → B C over symbols, which symbols may be a whole sentence, and which a single word.

    Rules have no probabilities: what they score is up to a model. Symbols are labels of spans, and more: the
    rest of a phrase with more than two children is a symbol such as ``@NP:JJ``, single words have their tag.

    Parameters
    ----------
    symbols : tuple of str
        Names.
    rules : tuple of (str, str, str)
        Parent, left child, right child; each once.
    roots : tuple of str
        Symbols that may be a whole sentence.
    words : tuple of str
        Symbols that may be a single word.

    Examples
    --------
    >>> grammar = Grammar.of([("S", ("NP", ("DT", "the"), ("NN", "dog")), ("VP", ("VBZ", "barks")))])
    >>> grammar.rules
    (('NP', 'DT', 'NN'), ('S', 'NP', 'VP+VBZ'))
    """

    symbols: tuple[str, ...]
    rules: tuple[tuple[str, str, str], ...]
    roots: tuple[str, ...]
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse symbols and rules that are there twice, or not at all."""
        for what, given in (("symbol", self.symbols), ("rule", self.rules)):
            if len(set(given)) < len(given):
                raise InputError(f"A grammar must name every {what} once.")
        known = set(self.symbols)
        used = {symbol for rule in self.rules for symbol in rule} | {*self.roots, *self.words}
        if used - known:
            raise InputError(f"The grammar has no symbol {min(used - known)!r}, which it uses.")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made again."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    def of(cls, trees: Iterable[Any], horizontal: int = 2, vertical: int = 1) -> Self:
        """Return the grammar of trees with tags; see `symbol_spans`."""
        return cls.from_counts(count_symbols(trees, horizontal, vertical))

    @classmethod
    def from_counts(cls, counts: SymbolCounts) -> Self:
        """Return the grammar of all that was counted."""
        both = {parent for parent, _, _ in counts.rules}.intersection(counts.words)
        if both:
            raise InputError(f"{min(both)!r} is the symbol of a phrase and of a single word.")
        symbols = {symbol for rule in counts.rules for symbol in rule} | {*counts.roots, *counts.words}
        names = tuple(sorted(symbols))
        return cls(
            names, tuple(sorted(counts.rules)), tuple(sorted(counts.roots)), tuple(sorted(counts.words))
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """Number of every symbol."""
        return {symbol: k for k, symbol in enumerate(self.symbols)}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What symbols are in a tree: the label of a span, empty for parts of phrases and for bare words."""
        single = set(self.words).difference(rule[0] for rule in self.rules)
        return tuple(_label_of(symbol, symbol in single) for symbol in self.symbols)

    @cached_property
    def chart(self) -> Any:
        """The rules as the core wants them."""
        numbers = [[self.index[symbol] for symbol in rule] for rule in self.rules]
        return native.GrammarChart(
            np.array(numbers, dtype=np.int32).reshape(-1, 3), self._flags(self.roots), self._flags(self.words)
        )

    def _flags(self, chosen: Sequence[str]) -> Array:
        flags = np.zeros(len(self.symbols), dtype=np.int8)
        flags[[self.index[symbol] for symbol in chosen]] = 1
        return flags


def symbol_spans(tree: Any, horizontal: int = 2, vertical: int = 1, where: str = "The tree") -> list[Span]:
    """Return the spans of a binary tree of symbols: n words have 2n − 1 of them.

    Phrases with a single child become one with it, as in `binary_spans`, and so does a tag with the phrases
    that have nothing but its word: NP over NNS is NP+NNS. The rest of a phrase with more than two children is
    ``@NP:JJ:JJ``, the phrase and the ``horizontal`` children before it (Markovisation [klein2003accurate]).
    With ``vertical`` 2, the symbol of a phrase has the label above it, as ``NP^S``; and so on.
    """
    require_whole("horizontal", horizontal, 0)
    require_whole("vertical", vertical, 1)
    spans: list[Span] = []
    pending: list[tuple[Any, str, tuple[str, ...], list[tuple[int, str]] | None]] = [(tree, "", (), None)]
    words = 0
    while pending:
        node, chain, above, siblings = pending.pop()
        if isinstance(node, _Closing):
            _close(node, words, spans, horizontal)
            continue
        leaf = is_leaf(node)
        label = _tag(node, where) if leaf else _symbol_label(node, where)
        joined = chain + JOIN + label if chain else label
        if not leaf and len(node) == 2:
            pending.append((node[1], joined, above, siblings))
            continue
        symbol = ABOVE.join((joined, *above[: vertical - 1])) if not leaf else joined
        if siblings is not None:
            siblings.append((words, symbol))
        if leaf:
            spans.append((words, words + 1, symbol))
            words += 1
            continue
        below: list[tuple[int, str]] = []
        pending.append((_Closing(symbol, below), "", (), None))
        pending.extend((child, "", (label, *above), below) for child in reversed(node[1:]))
    return spans


def count_symbols(trees: Iterable[Any], horizontal: int = 2, vertical: int = 1) -> SymbolCounts:
    """Count the rules, roots and symbols of words of trees with tags."""
    counts = SymbolCounts(Counter(), Counter(), Counter())
    for s, tree in enumerate(trees):
        if isinstance(tree, tuple) and not tree:
            continue
        spans = symbol_spans(tree, horizontal, vertical, f"Tree {s}")
        counts.rules.update(rules_by_span(spans).values())
        counts.words.update(symbol for i, j, symbol in spans if j - i == 1)
        counts.roots[max(spans, key=lambda span: span[1] - span[0])[2]] += 1
    return counts


def rules_by_span(spans: Iterable[Span]) -> dict[tuple[int, int], tuple[str, str, str]]:
    """Return the rule (parent, left child, right child) of every span of several words of a binary tree."""
    found, open_spans = {}, list[str]()
    for i, j, symbol in sorted(spans, key=lambda span: (span[1], -span[0])):
        if j - i > 1:
            right, left = open_spans.pop(), open_spans.pop()
            found[i, j] = symbol, left, right
        open_spans.append(symbol)
    return found


class _Closing:
    """Where a phrase with several children ends; its children are noted with where they begin."""

    def __init__(self, symbol: str, below: list[tuple[int, str]]) -> None:
        self.symbol = symbol
        self.below = below


def _close(end: _Closing, words: int, spans: list[Span], horizontal: int) -> None:
    spans.append((end.below[0][0], words, end.symbol))
    for k in range(1, len(end.below) - 1):
        before = [symbol for _, symbol in end.below[max(0, k - horizontal) : k]]
        spans.append((end.below[k][0], words, ":".join([REST + end.symbol, *before])))


def _tag(node: Any, where: str) -> str:
    tag = node[0] if isinstance(node, tuple) else None
    if not isinstance(tag, str) or not tag or JOIN in tag:
        raise InputError(
            f"{where} has the word {str(node)[:40]!r}, expected (tag, word), no {JOIN!r} in tags."
        )
    return tag


def _symbol_label(node: Any, where: str) -> str:
    label = phrase_label(node, where)
    if ABOVE in label or label.startswith(REST):
        raise InputError(f"{where} has the label {label[:40]!r}; {ABOVE!r} and {REST!r} mark other symbols.")
    return label


def _label_of(symbol: str, single: bool) -> str:
    if symbol.startswith(REST) and len(symbol) > 1 and not single:
        return ""
    name = symbol.split(ABOVE)[0]
    return JOIN.join(name.split(JOIN)[:-1]) if single else name
