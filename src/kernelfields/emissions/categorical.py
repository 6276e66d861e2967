"""Symbols: letters, words, classes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy.special import xlogy

from .. import native
from ..errors import InputError
from ..structures._base import Array, require_feasible
from ._base import Emissions, Expected, Family, Markov, Random, Sequences, log_of
from .unknown import UnknownWords
from .vocabulary import MISSING, Vocabulary, build, flatten


class Categorical(Family):
    """One of V symbols at each position, p(x = v|k) = b_kv.

    Probabilities are smoothed counts, (count + a) / (all + a·V): a Dirichlet prior. Symbols are any hashable
    objects; None and NaN are missing.

    Parameters
    ----------
    pseudocount : float
        a; with any above zero nothing is impossible.
    symbols : int or list, optional
        All symbols there are, or their number V if they are 0 to V − 1; those of the training set if not
        given.
    unknown : UnknownWords, optional
        What to take rare and unknown symbols for; without it unknown symbols are refused.
    """

    def __init__(
        self,
        pseudocount: float = 0.1,
        symbols: int | list[Hashable] | None = None,
        unknown: UnknownWords | None = None,
    ) -> None:
        self.pseudocount = pseudocount
        self.symbols = symbols
        self.unknown = unknown

    def read(self, X: Any, lengths: Any, known: Emissions | None) -> Sequences:
        """Read sequences of symbols."""
        flat, offsets = flatten(X, lengths)
        if known is not None:
            assert isinstance(known, CategoricalEmissions)
            vocabulary = known.vocabulary
        elif self.symbols is not None:
            given = list(range(self.symbols)) if isinstance(self.symbols, int) else self.symbols
            vocabulary = Vocabulary(given)
        else:
            vocabulary = build(flat, self.unknown)
        return Sequences(Symbols(vocabulary.encode(flat), vocabulary), offsets)

    def guess(self, observations: Symbols, n_states: int, rng: Random) -> Emissions:
        """Start from frequencies of symbols, times random numbers."""
        if not len(observations.vocabulary):
            raise InputError("X has no symbol.")
        counts = np.bincount(
            observations.numbers[observations.numbers != MISSING], None, len(observations.vocabulary)
        )
        weights = (counts + 1.0) * rng.gamma(2.0, size=(n_states, len(counts)))
        probabilities = weights / weights.sum(axis=1, keepdims=True)
        return CategoricalEmissions(probabilities, observations.vocabulary, self)

    def labelled(self, data: Sequences, n_states: int) -> Emissions:
        """Count symbols in states, one pass in the core."""
        symbols: Symbols = data.observations
        assert data.labels is not None
        size = len(symbols.vocabulary)
        _, _, counts = native.hmm_counts(data.labels, n_states, data.offsets, symbols.numbers, size)
        return self.of(counts, symbols.vocabulary)

    def of(self, counts: Array, vocabulary: Vocabulary) -> CategoricalEmissions:
        """Give the probabilities for counts, (L, V)."""
        above = counts + self.pseudocount
        total = above.sum(axis=1, keepdims=True)
        even = np.full_like(above, 1.0 / max(above.shape[1], 1))
        return CategoricalEmissions(np.divide(above, total, out=even, where=total > 0), vocabulary, self)


class Symbols:
    """Numbers of symbols.

    Parameters
    ----------
    numbers : (N,) int32 array
        −1 where one is missing.
    vocabulary : Vocabulary
        What they stand for.
    """

    def __init__(self, numbers: Array, vocabulary: Vocabulary) -> None:
        self.numbers = numbers
        self.vocabulary = vocabulary

    def __len__(self) -> int:
        return len(self.numbers)


class CategoricalEmissions(Emissions):
    """Probabilities of symbols in every state.

    Parameters
    ----------
    probabilities : (L, V) array
        b; rows sum to one.
    vocabulary : Vocabulary, optional
        The symbols; 0 to V − 1 if not given.
    family : Categorical, optional
        Where they were chosen from.
    """

    def __init__(
        self, probabilities: Array, vocabulary: Vocabulary | None = None, family: Categorical | None = None
    ) -> None:
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        self.n_states, size = self.probabilities.shape
        self.vocabulary = Vocabulary(range(size)) if vocabulary is None else vocabulary
        self.family: Categorical = Categorical() if family is None else family
        self._table = np.ascontiguousarray(log_of(self.probabilities).T)

    def log_density(self, observations: Symbols) -> Array:
        """Look up logarithms; zeros where a symbol is missing."""
        result = self._table[observations.numbers]
        result[observations.numbers == MISSING] = 0.0
        return result

    def expected(self, data: Sequences, markov: Markov) -> Expected:
        """Look up, forward-backward and counts in the core."""
        value, start, transitions, counts = native.hmm_categorical(
            data.observations.numbers,
            self._table,
            markov.start,
            markov.transitions,
            data.offsets,
            data.labels,
        )
        require_feasible(value)
        return Expected(value, start, transitions, counts)

    def improved(self, statistics: Array) -> CategoricalEmissions:
        """Give new probabilities for expected counts, (V, L)."""
        return self.family.of(statistics.T, self.vocabulary)

    def log_prior(self) -> float:
        """Σ a log b."""
        return float(xlogy(self.family.pseudocount, self.probabilities).sum())

    @property
    def n_parameters(self) -> int:
        """All probabilities but one in every state."""
        return self.n_states * (len(self.vocabulary) - 1)

    def draw(self, states: Array, rng: Random) -> list[Hashable]:
        """Draw symbols."""
        edges = np.cumsum(self.probabilities, axis=1)
        draws = rng.random(len(states)) * edges[states, -1]
        numbers = np.empty(len(states), dtype=np.int64)
        for k in range(self.n_states):
            mine = states == k
            numbers[mine] = np.searchsorted(edges[k], draws[mine], side="right")
        return [self.vocabulary.symbols[v] for v in numbers]
