"""Samples of sentences with prominent words, as numbers in windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import Prosody, ProsodyLanguage, load_prosody, prosody_numbers
from kernelfields.features.windows import stack_windows


class AccentSample(NamedTuple):
    """Sentences, a row of numbers for every word, in a window around it."""

    X: list[Array]
    y: list[list[str]]

    @property
    def words(self) -> int:
        """N."""
        return sum(map(len, self.y))


@dataclass(frozen=True)
class AccentSamples:
    """Samples of one size, each drawn at random from the same sentences.

    What is known of words, the probabilities and how often they are accented, comes from sentences that a
    sample does not have; and no sample has the sentences that settings are chosen on.
    """

    n_sentences: int
    reach: int
    tuning: int
    """Sentences that are set apart for choices."""
    seed: int

    @cached_property
    def _corpus(self) -> Prosody:
        return load_prosody("dev")

    @cached_property
    def _order(self) -> Array:
        return np.random.default_rng(self.seed).permutation(len(self._corpus.sentences))

    def apart(self) -> AccentSample:
        """Return the sentences for choices."""
        return self._sample(self._order[: self.tuning])

    def draw(self, number: int) -> AccentSample:
        """Return one of the samples."""
        rest = self._order[self.tuning :]
        random = np.random.default_rng([self.seed, number])
        return self._sample(
            np.sort(random.choice(rest, min(self.n_sentences, len(rest) // 2), replace=False))
        )

    def _sample(self, ids: Array) -> AccentSample:
        others = np.setdiff1d(np.arange(len(self._order)), ids)
        sample, language = self._corpus.pick(ids), ProsodyLanguage.of(self._corpus.pick(others))
        numbers = prosody_numbers(sample, language)
        rows = np.concatenate(numbers)
        middle, spread = rows.mean(axis=0), rows.std(axis=0)
        # Standardised, and so small that ⟨x, x⟩ is about 1 in the kernel (⟨x, x′⟩ + 1)^d.
        width = 2 * self.reach + 1
        size = np.sqrt(width * rows.shape[1])
        X = stack_windows([(x - middle) / spread / size for x in numbers], width)
        return AccentSample(X, sample.labels)
