"""Features of pairs of words of two sentences that translate each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array

from .translation_models import Corpus, hidden_markov, model_one

Sentences = Sequence[Sequence[str]]
Links = Sequence[tuple[int, int]]
PairCounts = Counter[tuple[str, str]]
STEM = 4
"""Letters that stand for a word and its other forms."""
BINS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9)
"""Between which a probability has a weight of its own."""


def simple(word: str) -> str:
    """Return a word without capitals, digits made alike."""
    return "".join("0" if letter.isdigit() else letter for letter in word.lower())


def stem(word: str) -> str:
    """Return the beginning of a word."""
    return simple(word)[:STEM]


class Posteriors(NamedTuple):
    """What models that know no links say about all pairs, (m, n) a sentence pair."""

    tables: list[list[Array]]
    """By model: both directions of Model 1 and of the hidden Markov model, then the same of stems."""

    @classmethod
    def of(cls, source: Sentences, target: Sentences, iterations: int) -> Posteriors:
        """Run EM on the texts alone."""
        found: list[list[Array]] = []
        for form in (simple, stem):
            left = [[form(word) for word in sentence] for sentence in source]
            right = [[form(word) for word in sentence] for sentence in target]
            for one, other, turned in ((left, right, False), (right, left, True)):
                first = model_one(Corpus.of(one, other), iterations)
                for model in (first, hidden_markov(first, iterations)):
                    tables = model.posteriors()
                    found.append([table.T for table in tables] if turned else tables)
        return cls(found)


class Association(NamedTuple):
    """In how many sentence pairs words occur, alone and together."""

    form: Callable[[str], str]
    left: Counter[str]
    right: Counter[str]
    both: Counter[tuple[str, str]]

    @classmethod
    def of(cls, form: Callable[[str], str], source: Sentences, target: Sentences) -> Association:
        """Count."""
        left: Counter[str] = Counter()
        right: Counter[str] = Counter()
        both: Counter[tuple[str, str]] = Counter()
        for one, other in zip(source, target, strict=True):
            words, others = ({form(word) for word in sentence} for sentence in (one, other))
            left.update(words)
            right.update(others)
            both.update((a, b) for a in words for b in others)
        return cls(form, left, right, both)

    def dice(self, source: Sequence[str], target: Sequence[str]) -> Array:
        """2 |a and b| / (|a| + |b|)."""
        rows = [self.form(word) for word in source]
        columns = [self.form(word) for word in target]
        return np.array(
            [[2 * self.both[a, b] / max(self.left[a] + self.right[b], 1) for b in columns] for a in rows]
        ).reshape(len(rows), len(columns))


class Lexicon(NamedTuple):
    """How often pairs of words that occur together are linked, in sentences with links.

    What a sentence adds is subtracted where its own features are made: else they would know the answer.
    """

    form: Callable[[str], str]
    together: Counter[tuple[str, str]]
    linked: Counter[tuple[str, str]]

    @classmethod
    def of(
        cls, form: Callable[[str], str], source: Sentences, target: Sentences, links: Sequence[Links]
    ) -> Lexicon:
        """Count."""
        together: Counter[tuple[str, str]] = Counter()
        linked: Counter[tuple[str, str]] = Counter()
        for own_together, own_linked in map(partial_counts(form), source, target, links):
            together.update(own_together)
            linked.update(own_linked)
        return cls(form, together, linked)

    def log_odds(
        self, source: Sequence[str], target: Sequence[str], own: Links | None, strength: float
    ) -> tuple[Array, Array]:
        """Log-odds of a link by smoothed counts, and the logarithm of how often both words met."""
        mine = partial_counts(self.form)(source, target, own or ())
        together, linked = mine if own is not None else (Counter(), Counter())
        keys = [[(self.form(a), self.form(b)) for b in target] for a in source]
        shape = len(source), len(target)
        met = np.array([[self.together[k] - together[k] for k in row] for row in keys], float).reshape(shape)
        hits = np.array([[self.linked[k] - linked[k] for k in row] for row in keys], float).reshape(shape)
        rate = (hits + 0.1 * strength) / (met + strength)
        return np.log(rate / (1 - rate)), np.log1p(met)


def partial_counts(
    form: Callable[[str], str],
) -> Callable[[Sequence[str], Sequence[str], Links], tuple[PairCounts, PairCounts]]:
    """Return how one sentence pair is counted."""

    def counts(source: Sequence[str], target: Sequence[str], links: Links) -> tuple[PairCounts, PairCounts]:
        left, right = [form(word) for word in source], [form(word) for word in target]
        together = Counter((a, b) for a in left for b in right)
        return together, Counter((left[i], right[j]) for i, j in links)

    return counts


@lru_cache(maxsize=200_000)
def similarity(a: str, b: str) -> tuple[float, float, float]:
    """Return shares of letters that two words have in common: at the beginning, at the end, in order."""
    one, other = simple(a), simple(b)
    longest = max(len(one), len(other), 1)
    front = next(
        (k for k, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other))
    )
    back = next(
        (k for k, (x, y) in enumerate(zip(one[::-1], other[::-1], strict=False)) if x != y),
        min(len(one), len(other)),
    )
    row = [0] * (len(other) + 1)
    for x in one:
        before = 0
        for j, y in enumerate(other, 1):
            before, row[j] = row[j], before + 1 if x == y else max(row[j], row[j - 1])
    return front / longest, back / longest, row[-1] / longest


def _digits(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def _marks(word: str) -> bool:
    return not any(letter.isalnum() for letter in word)


KINDS: tuple[Callable[[str], bool], ...] = (str.isalpha, _digits, _marks)
"""Of words, numbers and punctuation marks."""


def spelling(source: Sequence[str], target: Sequence[str]) -> list[Array]:
    """Features of how words look."""
    shape = len(source), len(target)

    def table(function: Callable[[str, str], float]) -> Array:
        return np.array([[function(a, b) for b in target] for a in source], float).reshape(shape)

    kinds = [np.outer([kind(word) for word in source], np.ones(shape[1])) for kind in KINDS]
    others = [np.outer(np.ones(shape[0]), [kind(word) for word in target]) for kind in KINDS]
    alike = [a * b for a, b in zip(kinds, others, strict=True)]
    apart = [np.abs(a - b) for a, b in zip(kinds, others, strict=True)]
    known = np.array([[similarity(a, b) for b in target] for a in source], float).reshape(*shape, 3)
    return [
        table(lambda a, b: a == b),
        table(lambda a, b: simple(a) == simple(b)),
        table(lambda a, b: a == b and len(a) > 2),
        *np.moveaxis(known, 2, 0),
        (known[:, :, 2] > 0.6) * table(lambda a, b: min(len(a), len(b)) > 3),
        *alike,
        *apart,
        table(lambda a, b: a[:1].isupper() and b[:1].isupper()),
        table(lambda a, b: a[:1].isupper() != b[:1].isupper()),
        table(lambda a, b: abs(len(a) - len(b)) / 10),
    ]


def binned(values: Array) -> list[Array]:
    """Return where each value is, as indicators, so that its score need not be linear."""
    return [(values > bound).astype(float) for bound in BINS]


def shifted(table: Array, down: int, right: int) -> Array:
    """Return the values of neighbours; 0 beyond the edges."""
    m, n = table.shape
    result = np.zeros_like(table)
    if m > abs(down) and n > abs(right):
        rows = slice(max(-down, 0), m - max(down, 0)), slice(max(down, 0), m - max(-down, 0))
        columns = slice(max(-right, 0), n - max(right, 0)), slice(max(right, 0), n - max(-right, 0))
        result[rows[0], columns[0]] = table[rows[1], columns[1]]
    return result


def neighbours(table: Array) -> list[Array]:
    """Features of what a table says around each pair, and of its rivals in the same row and column."""
    row = np.sort(table, axis=1)[:, ::-1]
    column = np.sort(table, axis=0)[::-1]
    best_row = np.where(table == row[:, :1], row[:, 1:2] if table.shape[1] > 1 else 0.0, row[:, :1])
    best_column = np.where(table == column[:1], column[1:2] if table.shape[0] > 1 else 0.0, column[:1])
    diagonal = [shifted(table, k, k) for k in (-2, -1, 1, 2)]
    return [
        diagonal[1],
        diagonal[2],
        diagonal[0] + diagonal[3],
        diagonal[1] * diagonal[2],
        np.maximum(shifted(table, 1, -1), shifted(table, -1, 1)),
        np.maximum(shifted(table, 0, 1), shifted(table, 0, -1)),
        np.maximum(shifted(table, 1, 0), shifted(table, -1, 0)),
        table - best_row,
        table - best_column,
        (table >= np.maximum(best_row, best_column)).astype(float),
    ]
