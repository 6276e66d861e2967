"""Symbols, such as letters, words and classes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import scipy

from .. import native
from ..arrays import Array
from ..checks import require_whole
from ..errors import InputError
from ..structures import require_feasible
from ._base import Emissions, Expectations, Family, Markov, ObservedSequences, Random, chain_scores, log_of
from ._scored_base import one_hot
from .contexts import MOST_WORDS, draw_words, require_contexts, used_contexts, words_of
from .unknown import UnknownWords
from .vocabulary import MISSING, Vocabulary, build, flatten, require_hashable


class Categorical(Family):
    """One of V symbols at each position, p(x = v|k) = b_kv.

    Probabilities are smoothed counts, (count + a) / (all + a·V): a Dirichlet prior. Symbols are any hashable
    objects; None and NaN are missing. With an ``order`` n above 0 a symbol also depends on the n before it,
    p(x_t|y_t, x_{t−n}, …, x_{t−1}), with separate counts for every context: for genes and texts, whose
    letters are far from independent. Before the first symbol, and in place of a missing one, a context has
    the extra value "nothing".

    Parameters
    ----------
    pseudocount : float
        a; if above zero, nothing is impossible.
    symbols : int or list, optional
        All symbols, or their number V if they are 0 to V − 1; those of the training set if not given.
    unknown : UnknownWords, optional
        How rare and unknown symbols are classified; without it unknown symbols are refused. Cannot be
        combined with ``symbols``.
    order : int
        n, the number of preceding symbols that a symbol depends on. Each state has (V + 1)ⁿ V probabilities.
    """

    def __init__(
        self,
        pseudocount: float = 0.1,
        symbols: int | list[Hashable] | None = None,
        unknown: UnknownWords | None = None,
        order: int = 0,
    ) -> None:
        self.pseudocount = pseudocount
        self.symbols = symbols
        self.unknown = unknown
        self.order = order

    def read(self, X: Any, lengths: Any, known: Emissions | None) -> ObservedSequences:
        """Read sequences of symbols."""
        flat, offsets = flatten(X, lengths)
        try:
            return self._read(flat, offsets, known)
        except TypeError:
            require_hashable(flat, offsets)
            raise

    def _read(self, flat: Any, offsets: Array, known: Emissions | None) -> ObservedSequences:
        """Return symbols as numbers."""
        order = self.order
        if known is not None:
            assert isinstance(known, CategoricalEmissions)
            vocabulary, order = known.vocabulary, known.order
        elif self.symbols is not None:
            vocabulary = self._given()
        else:
            vocabulary = build(flat, self.unknown)
        words = words_of(vocabulary.encode(flat), offsets, len(vocabulary), order)
        return ObservedSequences(Symbols(words, vocabulary), offsets)

    def _given(self) -> Vocabulary:
        """Return the vocabulary that the settings define."""
        if self.unknown is not None:
            raise InputError("symbols and unknown are both set, but only one of them may be.")
        if isinstance(self.symbols, list | tuple | np.ndarray):
            given = list(self.symbols)
            if len(set(given)) < len(given) or None in given or not given:
                raise InputError("symbols must be a list of distinct symbols without None.")
            return Vocabulary(given)
        return Vocabulary(range(require_whole("symbols", self.symbols, 1, MOST_WORDS)))

    def guess(self, observations: Symbols, n_states: int, rng: Random) -> Emissions:
        """Start from frequencies of symbols, times random numbers."""
        if not len(observations.vocabulary):
            raise InputError("X has no symbols, but at least one is needed.")
        size = self._words(observations.vocabulary)
        counts = np.bincount(observations.numbers[observations.numbers != MISSING], None, size)
        weights = (counts + 1.0) * rng.gamma(2.0, size=(n_states, size))
        return CategoricalEmissions(
            _normalised(self._by_context(weights, observations.vocabulary)), observations.vocabulary, self
        )

    def labelled(self, data: ObservedSequences, n_states: int) -> Emissions:
        """Count symbols in states, one pass in the core."""
        symbols: Symbols = data.observations
        assert data.labels is not None
        size = self._words(symbols.vocabulary)
        if data.weights is None:
            _, _, counts = native.hmm_counts(data.labels, n_states, data.offsets, symbols.numbers, size)
        else:
            weights = one_hot(data.labels, n_states, data.position_weights)
            counts = _weighted_counts(symbols.numbers, weights, size).T
        return self.of(counts, symbols.vocabulary)

    def of(self, counts: Array, vocabulary: Vocabulary) -> CategoricalEmissions:
        """Return the probabilities for counts of words, (L, V) or (L, (V + 1)ⁿ V)."""
        above = self._by_context(counts + self.pseudocount, vocabulary)
        return CategoricalEmissions(_normalised(above), vocabulary, self)

    def _words(self, vocabulary: Vocabulary) -> int:
        return require_contexts(len(vocabulary), self.order) * len(vocabulary)

    def _by_context(self, words: Array, vocabulary: Vocabulary) -> Array:
        """Return an array over words, with an axis for every symbol."""
        V = len(vocabulary)
        return words.reshape(len(words), *([V + 1] * self.order), V)


def _normalised(weights: Array) -> Array:
    """Scale the last axis to sum to one; uniform where the sum is zero."""
    total = weights.sum(axis=-1, keepdims=True)
    even = np.full_like(weights, 1.0 / max(weights.shape[-1], 1))
    return np.divide(weights, total, out=even, where=total > 0)


def _weighted_counts(numbers: Array, weights: Array, size: int) -> Array:
    """Return how often each word occurs in each state, (·, L); position t counts ``weights[t, k]`` times."""
    counts, seen = np.zeros((size, weights.shape[1])), numbers != MISSING
    np.add.at(counts, numbers[seen], weights[seen])
    return counts


class Symbols:
    """Symbols as numbers, or words as numbers if symbols depend on those before them.

    Parameters
    ----------
    numbers : (N,) int32 array
        −1 where one is missing.
    vocabulary : Vocabulary
        The symbols that the numbers stand for.
    """

    def __init__(self, numbers: Array, vocabulary: Vocabulary) -> None:
        self.numbers = numbers
        self.vocabulary = vocabulary

    def __len__(self) -> int:
        return len(self.numbers)

    def part(self, begin: int, end: int) -> Symbols:
        """Return the symbols from one to another; words know what was before them."""
        return Symbols(self.numbers[begin:end], self.vocabulary)


class CategoricalEmissions(Emissions):
    """Probabilities of symbols in every state.

    Parameters
    ----------
    probabilities : (L, V) array, or (L, V + 1, ..., V + 1, V)
        b, the last axis summing to one. With more than two axes, those between are the preceding symbols,
        the latest last; index V there means nothing.
    vocabulary : Vocabulary, optional
        The symbols; 0 to V − 1 if not given.
    family : Categorical, optional
        The family that they were chosen from.
    """

    def __init__(
        self, probabilities: Array, vocabulary: Vocabulary | None = None, family: Categorical | None = None
    ) -> None:
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        self.n_states, *before, size = self.probabilities.shape
        self.order = len(before)
        if any(axis != size + 1 for axis in before):
            raise InputError(
                f"probabilities have shape {self.probabilities.shape}; axes between the first and the last "
                f"must be {size + 1}: every symbol, or nothing."
            )
        self.vocabulary = Vocabulary(range(size)) if vocabulary is None else vocabulary
        self.family: Categorical = Categorical(order=self.order) if family is None else family
        if self.family.order != self.order:
            raise InputError(
                f"probabilities are of order {self.order}, but the family has order {self.family.order}."
            )
        self._table = np.ascontiguousarray(log_of(self.probabilities).reshape(self.n_states, -1).T)

    def log_density(self, observations: Symbols) -> Array:
        """Look up logarithms; zeros where a symbol is missing."""
        result = self._table[observations.numbers]
        result[observations.numbers == MISSING] = 0.0
        return result

    def expected(self, data: ObservedSequences, markov: Markov) -> Expectations:
        """Run the look-up, forward-backward and counts in the core, unless sequences have weights."""
        if data.weights is not None:
            chain, scores = chain_scores(self, data, markov)
            value, parts = chain.marginals(scores, data.weights)
            start = parts["node"][chain.first_positions].sum(axis=0)
            counts = _weighted_counts(data.observations.numbers, parts["node"], len(self._table))
            return Expectations(value, start, parts["edge"], counts)
        return Expectations(*self._in_core(native.hmm_categorical, data, markov))

    def log_probability(self, data: ObservedSequences, markov: Markov) -> Array:
        """Run the look-up and the forward recursion in the core."""
        return self._in_core(native.hmm_categorical_log_probability, data, markov)[0]

    def _in_core(
        self, run: Callable[..., tuple[Array, ...]], data: ObservedSequences, markov: Markov
    ) -> tuple[Array, ...]:
        """Return log-probabilities, and expected starts, steps and symbols if ``run`` counts them."""
        found = run(
            data.observations.numbers,
            self._table,
            markov.start,
            markov.transitions,
            data.offsets,
            data.labels,
        )
        require_feasible(found[0])
        return found

    def improved(self, statistics: Array) -> CategoricalEmissions:
        """Return new probabilities for expected counts of words, one row each, (·, L)."""
        return self.family.of(statistics.T, self.vocabulary)

    def log_prior(self) -> float:
        """Return Σ a log b."""
        return float(scipy.special.xlogy(self.family.pseudocount, self.probabilities).sum())

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: all probabilities but one in every state and reachable context."""
        V = len(self.vocabulary)
        return self.n_states * used_contexts(V, self.order) * (V - 1)

    def draw(self, states: Array, rng: Random, offsets: Array | None = None) -> list[Hashable]:
        """Draw symbols, those of a sequence one after the other."""
        ends = np.array([0, len(states)]) if offsets is None else offsets
        if self.order:
            V = len(self.vocabulary)
            numbers = draw_words(self.probabilities.reshape(self.n_states, -1, V), states, ends, rng)
        else:
            numbers = self._draw_alone(states, rng)
        return [self.vocabulary.symbols[v] for v in numbers]

    def _draw_alone(self, states: Array, rng: Random) -> Array:
        """Draw numbers of symbols that depend on states only."""
        edges = np.cumsum(self.probabilities, axis=1)
        draws = rng.random(len(states)) * edges[states, -1]
        numbers = np.empty(len(states), dtype=np.int64)
        for k in range(self.n_states):
            mine = states == k
            numbers[mine] = np.searchsorted(edges[k], draws[mine], side="right")
        return numbers
