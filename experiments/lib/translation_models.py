"""Word alignment without links to learn from: IBM Model 1 and the hidden Markov model, by EM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array, offsets_of
from kernelfields.structures import ChainBatch

NULL = 0
"""The number of the empty source word."""
LEAST = 1e-12

Links = list[tuple[int, int]]


class Corpus(NamedTuple):
    """Pairs of sentences as numbers of words, with every pair of words written down."""

    sources: list[Array]
    """Numbers of the source words of each sentence, `NULL` in front."""
    targets: list[Array]
    kinds: list[Array]
    """(n, m + 1): the number of each pair of a target and a source word among all pairs that occur."""
    source_of: Array
    """The source word of each pair that occurs."""

    @classmethod
    def of(cls, source: Sequence[Sequence[str]], target: Sequence[Sequence[str]]) -> Corpus:
        """Number all words, and all pairs of words that occur in the same sentence pair."""
        sources = [np.array([NULL, *(1 + k for k in row)]) for row in _numbers(source)]
        targets = [np.array(row, dtype=np.int64) for row in _numbers(target)]
        width = 1 + max((int(row.max(initial=0)) for row in sources), default=0)
        codes = [t[:, None] * width + s for s, t in zip(sources, targets, strict=True)]
        every, kinds = np.unique(np.concatenate([code.ravel() for code in codes]), return_inverse=True)
        ends = np.cumsum([code.size for code in codes])[:-1]
        split = [part.reshape(code.shape) for part, code in zip(np.split(kinds, ends), codes, strict=True)]
        return cls(sources, targets, split, every % width)


def _numbers(sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    index: dict[str, int] = {}
    return [[index.setdefault(word, len(index)) for word in sentence] for sentence in sentences]


class TranslationModel(NamedTuple):
    """p(target word | source word), and how likely steps between source words are."""

    corpus: Corpus
    table: Array
    """For every pair of words that occurs."""
    jumps: Array | None = None
    """Of −K … K positions; None for Model 1, which knows no positions."""
    empty: float = 0.2
    """The probability of the empty source word."""

    def posteriors(self) -> list[Array]:
        """p(source word | target word, both sentences), (m, n) a sentence; what is missing to 1 is NULL."""
        if self.jumps is None:
            return [_normalised(self.table[kinds])[:, 1:].T for kinds in self.corpus.kinds]
        return _hidden_markov(self)[0]

    def best(self) -> list[set[tuple[int, int]]]:
        """Return the links of the best alignment of every sentence."""
        if self.jumps is None:
            chosen = [self.table[kinds].argmax(axis=1) for kinds in self.corpus.kinds]
        else:
            chosen = _viterbi(self)
        return [{(int(i) - 1, j) for j, i in enumerate(row) if i > 0} for row in chosen]


def model_one(corpus: Corpus, iterations: int) -> TranslationModel:
    """Return Model 1 after some iterations of EM, from uniform tables [brown1993mathematics]."""
    table = np.ones(len(corpus.source_of))
    for _ in range(iterations):
        counts = [_normalised(table[kinds]) for kinds in corpus.kinds]
        table = _table(corpus, counts)
    return TranslationModel(corpus, table)


def hidden_markov(
    start: TranslationModel, iterations: int, max_jump: int = 100, empty: float = 0.2
) -> TranslationModel:
    """Return the hidden Markov model after some iterations of EM, from a table of Model 1 [vogel1996hmm].

    States are source words and, for each, the empty word after it, which remembers where the last one was
    [och2003].
    """
    model = start._replace(jumps=np.ones(2 * max_jump + 1) / (2 * max_jump + 1), empty=empty)
    for _ in range(iterations):
        posteriors, steps = _hidden_markov(model)
        with_empty = [np.concatenate([1 - p.sum(axis=0, keepdims=True), p]).T for p in posteriors]
        counts = [np.maximum(each, 0.0) for each in with_empty]
        steps = steps + 0.5  # no step that was not seen is impossible
        model = model._replace(table=_table(model.corpus, counts), jumps=steps / steps.sum())
    return model


def intersected(forwards: TranslationModel, backwards: TranslationModel) -> list[Links]:
    """Return the links that the best alignments of both directions have."""
    pairs = zip(forwards.best(), backwards.best(), strict=True)
    return [sorted(one & {(i, j) for j, i in other}) for one, other in pairs]


def _normalised(rows: Array) -> Array:
    return rows / np.maximum(rows.sum(axis=1, keepdims=True), LEAST)


def _table(corpus: Corpus, counts: list[Array]) -> Array:
    """Return p(target | source) from expected counts."""
    kinds = np.concatenate([each.ravel() for each in corpus.kinds])
    expected = np.bincount(kinds, np.concatenate([each.ravel() for each in counts]), len(corpus.source_of))
    totals = np.bincount(corpus.source_of, expected)
    return np.maximum(expected / np.maximum(totals[corpus.source_of], LEAST), LEAST)


class _SameLength(NamedTuple):
    """Sentences with equally many source words, as one batch of chains."""

    ids: list[int]
    batch: ChainBatch
    scores: dict[str, Array]
    steps: Array
    """(2m, 2m): which jump a change of states is; −1 for none."""


def _groups(model: TranslationModel) -> list[_SameLength]:
    lengths = [len(source) - 1 for source in model.corpus.sources]
    return [_group(model, m, [s for s, k in enumerate(lengths) if k == m]) for m in sorted(Counter(lengths))]


def _group(model: TranslationModel, m: int, ids: list[int]) -> _SameLength:
    """States 0 … m − 1 are source words, the m others the empty word after each."""
    assert model.jumps is not None
    width = len(model.jumps) // 2
    steps = np.arange(m) - np.arange(m)[:, None]
    bins = np.clip(steps, -width, width) + width
    forward = _normalised(model.jumps[bins]) if m else np.zeros((0, 0))
    change = np.full((2 * m, 2 * m), 0.0)
    change[:m, :m] = change[m:, :m] = (1 - model.empty) * forward
    change[np.arange(m), np.arange(m, 2 * m)] = change[np.arange(m, 2 * m), np.arange(m, 2 * m)] = model.empty
    rows = [_emissions(model, s, m) for s in ids]
    with np.errstate(divide="ignore"):
        scores = {"node": np.log(np.concatenate(rows)), "edge": np.log(change)}
    places = np.full((2 * m, 2 * m), -1)
    places[:m, :m] = places[m:, :m] = bins
    batch = ChainBatch(offsets_of([len(model.corpus.targets[s]) for s in ids]), max(2 * m, 1))
    return _SameLength(ids, batch, scores, places)


def _emissions(model: TranslationModel, s: int, m: int) -> Array:
    """Return the probabilities of the target words in all states; the first also of their states."""
    table = model.table[model.corpus.kinds[s]]
    rows = np.concatenate([table[:, 1:], np.repeat(table[:, :1], m, axis=1)], axis=1)
    if len(rows):
        rows[0, :m] *= (1 - model.empty) / max(m, 1)
        rows[0, m:] *= model.empty / max(m, 1)
    return np.maximum(rows, LEAST)


def _hidden_markov(model: TranslationModel) -> tuple[list[Array], Array]:
    """Return posteriors of all links, and expected numbers of jumps."""
    assert model.jumps is not None
    found: list[Array] = [np.zeros((0, 0))] * len(model.corpus.sources)
    counts = np.zeros(len(model.jumps))
    for ids, batch, scores, steps in _groups(model):
        m = len(steps) // 2
        if m == 0:
            for s in ids:
                found[s] = np.zeros((0, len(model.corpus.targets[s])))
            continue
        parts = batch.marginals(scores).parts
        counts += np.bincount(steps[steps >= 0], parts["edge"][steps >= 0], len(counts))
        for k, s in enumerate(ids):
            found[s] = parts["node"][batch.offsets[k] : batch.offsets[k + 1], :m].T
    return found, counts


def _viterbi(model: TranslationModel) -> list[Array]:
    """Return the source word of every target word, counted from 1; 0 for none."""
    found: list[Array] = [np.zeros(len(target), np.int64) for target in model.corpus.targets]
    for ids, batch, scores, steps in _groups(model):
        m = len(steps) // 2
        if m == 0:
            continue
        labels = batch.argmax(scores).labels
        for k, s in enumerate(ids):
            own = labels[batch.offsets[k] : batch.offsets[k + 1]]
            found[s] = np.where(own < m, own + 1, 0)
    return found
