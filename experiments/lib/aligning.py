"""Word alignment from sentences with links: what pairs of words look like, and what can be learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import AlignedSentences
from kernelfields.structures import MatchingBatch

from .pair_features import (
    Association,
    Lexicon,
    Posteriors,
    binned,
    neighbours,
    simple,
    spelling,
    stem,
)

Links = Sequence[tuple[int, int]]
STRENGTH = 2.0
"""As how many meetings of two words the prior counts in their link rate."""


def together(*parts: AlignedSentences) -> AlignedSentences:
    """Return several parts as one."""
    columns = [[item for part in parts for item in part[k]] for k in range(4)]
    return AlignedSentences(*columns)  # type: ignore[arg-type]  # of the same kinds as those of the parts


def some(part: AlignedSentences, ids: Sequence[int] | Array) -> AlignedSentences:
    """Return some sentence pairs."""
    columns = [[column[int(k)] for k in ids] for column in part]
    return AlignedSentences(*columns)  # type: ignore[arg-type]


class Bitext(NamedTuple):
    """All sentence pairs, those with links to learn from first, and what models without links say."""

    every: AlignedSentences
    linked: int
    """How many have links to learn from."""
    posteriors: Posteriors
    association: tuple[Association, Association]

    @classmethod
    def of(cls, train: AlignedSentences, test: AlignedSentences, iterations: int) -> Bitext:
        """Count words and run EM on the texts of both parts; links are not looked at."""
        every = together(train, test)
        counted = tuple(Association.of(form, every.source, every.target) for form in (simple, stem))
        posteriors = Posteriors.of(every.source, every.target, iterations)
        return cls(every, len(train.source), posteriors, (counted[0], counted[1]))


@dataclass(frozen=True)
class PairFeatures:
    """Features of all pairs of words, with lexicons counted on the sentences that are learnt from."""

    texts: Bitext
    lexicons: tuple[Lexicon, ...]
    learnt: frozenset[int]
    """The sentences whose links are in the lexicons."""

    @classmethod
    def of(cls, texts: Bitext, learnt: Sequence[int] | Array) -> PairFeatures:
        """Count which words are linked in some sentences."""
        part = some(texts.every, learnt)
        forms: list[Callable[[str], str]] = [simple, stem]
        lexicons = [Lexicon.of(form, part.source, part.target, part.sure) for form in forms]
        return cls(texts, tuple(lexicons), frozenset(int(k) for k in learnt))

    def __call__(self, s: int) -> Array:
        """Return the (m, n, D) features of one sentence pair."""
        every = self.texts.every
        source, target = every.source[s], every.target[s]
        own = every.sure[s] if s in self.learnt else None
        columns = [*self._posteriors(s), *spelling(source, target), *_places(len(source), len(target))]
        for lexicon in self.lexicons:
            odds, met = lexicon.log_odds(source, target, own, STRENGTH)
            columns += [odds, np.minimum(met, 3.0), odds * (met > 0)]
            columns += binned(1 / (1 + np.exp(-odds)))
        columns += self._words(source, target)
        dice = self.texts.association[0].dice(source, target)
        columns += [dice, self.texts.association[1].dice(source, target), *neighbours(dice)]
        return np.stack(columns, axis=-1).astype(np.float32)

    def _posteriors(self, s: int) -> list[Array]:
        """Of four models, both directions each: products, and what is around them."""
        tables = [table[s] for table in self.texts.posteriors.tables]
        products = [np.sqrt(tables[k] * tables[k + 2]) for k in (0, 1, 4, 5)]
        mean = np.mean(products, axis=0)
        columns = [*tables, *products, *binned(products[1]), *binned(mean)]
        return [*columns, *neighbours(products[1]), *neighbours(mean)]

    def _words(self, source: Sequence[str], target: Sequence[str]) -> list[Array]:
        """How frequent both words are."""
        known = self.texts.association[0]
        left = np.log1p([known.left[simple(word)] for word in source])
        right = np.log1p([known.right[simple(word)] for word in target])
        a, b = np.meshgrid(left, right, indexing="ij")
        return [a / 5, b / 5, np.abs(a - b) / 5, (a < 1).astype(float) * (b < 1)]


def _places(m: int, n: int) -> list[Array]:
    """How far two words are apart, relative to their sentences."""
    i, j = np.meshgrid((np.arange(m) + 0.5) / max(m, 1), (np.arange(n) + 0.5) / max(n, 1), indexing="ij")
    apart = np.abs(i - j)
    steps = apart * max(m, n)
    near = [(steps < bound).astype(float) for bound in (1, 2, 4, 8)]
    first, last = (i * m < 1) & (j * n < 1), ((1 - i) * m < 1) & ((1 - j) * n < 1)
    return [apart, apart**2, np.sqrt(apart), *near, first.astype(float), last.astype(float)]


def without_rivals(links: Links, fertility: int) -> list[tuple[int, int]]:
    """Return links of which no word has more than so many, the first ones: what a structure can learn."""
    left: Counter[int] = Counter()
    right: Counter[int] = Counter()
    kept = []
    for i, j in links:
        if max(left[i], right[j]) < fertility:
            kept.append((i, j))
            left[i] += 1
            right[j] += 1
    return kept


def one_per_target(links: Links) -> list[tuple[int, int]]:
    """Return the first link of every target word."""
    return [(i, j) for j, i in {j: i for i, j in reversed(links)}.items()]


def nearest_matching(links: Links) -> list[tuple[int, int]]:
    """Return links of which no two share a word, as many as there can be: what a matching can learn."""
    if not links:
        return []
    m, n = 1 + max(i for i, _ in links), 1 + max(j for _, j in links)
    scores = np.full((m, n), -np.inf)
    for i, j in links:
        scores[i, j] = 1.0 - 1e-3 * abs(i / m - j / n)
    found = MatchingBatch([[m, n]]).argmax({"pair": scores.ravel()}).labels
    return [divmod(int(k), n) for k in np.flatnonzero(found)]
