"""Samples of Spanish sentences with named entities, of a given number of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import Entities, load_conll2002, spelling_templates
from kernelfields.errors import InputError
from kernelfields.features import TemplateFeatures


class EntitySample(NamedTuple):
    """Sentences, a row of features for every word: its spelling and that of its neighbours."""

    features: Any
    """(N, D) sparse matrix."""
    lengths: Array
    y: list[list[str]]

    @property
    def words(self) -> int:
        """N."""
        return sum(map(len, self.y))

    @property
    def size(self) -> float:
        """The mean of ⟨x, x⟩."""
        return float(self.features.multiply(self.features).sum(axis=1).mean())


@dataclass(frozen=True)
class EntitySamples:
    """Samples of about as many words each, of which no two have a sentence in common.

    All sentences of the training file are put in random order; a sample takes the next ones until it has
    enough words. The first is for choices, the others are the draws.
    """

    n_words: int
    """Words of a sample: the last sentence is the one that reaches this number."""
    seed: int

    @cached_property
    def _corpus(self) -> Entities:
        return load_conll2002("train")

    @cached_property
    def _order(self) -> Array:
        return np.random.default_rng(self.seed).permutation(len(self._corpus.sentences))

    def apart(self) -> EntitySample:
        """Return the sentences for choices."""
        return self._sample(self.ids(0))

    def draw(self, number: int) -> EntitySample:
        """Return one of the samples to be tested on."""
        return self._sample(self.ids(1 + number))

    def ids(self, number: int) -> Array:
        """Return the sentences of a sample, where 0 is that for choices."""
        words = np.cumsum([len(self._corpus.sentences[i]) for i in self._order])
        start = 0
        for _ in range(number + 1):
            first, before = start, words[start - 1] if start else 0
            start = int(np.searchsorted(words, before + self.n_words)) + 1
            if start > len(words):
                raise InputError(f"There are too few sentences for {number} draws of {self.n_words} words.")
        return np.sort(self._order[first:start])

    def _sample(self, ids: Array) -> EntitySample:
        extractor = TemplateFeatures(spelling_templates(), dtype=np.float32)
        features, lengths = extractor.fit_transform([self._corpus.sentences[i] for i in ids])
        return EntitySample(features, lengths, [self._corpus.labels[i] for i in ids])
