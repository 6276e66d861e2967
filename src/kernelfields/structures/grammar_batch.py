"""Trees of a grammar: constituency trees that also score by their rules."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array, offsets_of, rows_of
from ..checks import require_ids, require_weights
from ..errors import InputError
from ._base import Cliques, Scores, require_feasible
from ._labelled_base import require_best, require_draws, score_array
from ._oracles import Labelling, Labellings, Marginals
from .constituency import ConstituencyBatch
from .grammar import Grammar


class GrammarBatch(ConstituencyBatch):
    """A batch of sentences with all their trees by a grammar,

        score(y) = Σ_{(i, j, A) ∈ y} span[(i, j), A] + Σ_{A → B C in y} rule[A → B C],

    the sums over all spans of a tree with their symbols, and over the rules of those of several words. Spans
    and outputs are as those of `ConstituencyBatch`, symbols of the grammar in the place of labels. Scores of
    rules are shared by all sentences, (R,): with logarithms of probabilities, and those of words given their
    symbols as scores of single words, the best tree is that of a PCFG, and log Z the log-probability of the
    sentence.

    Parameters
    ----------
    words : (S,) integers
        Number of words of each sentence; 0 is allowed.
    grammar : Grammar
        Symbols and rules.

    Examples
    --------
    >>> import numpy as np
    >>> grammar = Grammar(("A",), (("A", "A", "A"),), ("A",), ("A",))
    >>> batch = GrammarBatch([4], grammar)
    >>> scores = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    >>> round(float(np.exp(batch.log_partition(scores)[0])))
    5
    """

    def __init__(self, words: npt.ArrayLike, grammar: Grammar) -> None:
        if not isinstance(grammar, Grammar) or not grammar.symbols:
            raise InputError("grammar must be a Grammar with symbols.")
        self.grammar = grammar
        super().__init__(words, len(grammar.symbols))

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Spans, and splits of spans with their rules."""
        splits = offsets_of(np.maximum(self.lengths - 1, 0))
        rules = (len(self.grammar.rules),)
        nowhere = np.full((int(splits[-1]), 1), -1)
        return {**super().cliques, "rule": Cliques(splits, nowhere, rules, shared=True)}

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some sentences only."""
        return type(self)(self.lengths[require_ids(ids, self.n_instances)], self.grammar)

    def rules(self, outputs: Array) -> Array:
        """Return the rules of trees, n − 1 for n words; −1 where the grammar has no such rule."""
        return np.asarray(self.grammar.chart.rules_of(np.asarray(outputs, dtype=np.int32), self._words))

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of the spans of trees, and the counts of their rules."""
        super().subtract_parts(into, outputs, weights)
        rules = self.rules(outputs)
        if rules.size and rules.min() < 0:
            raise InputError("An output has a rule that the grammar does not have.")
        times = None if weights is None else np.repeat(weights, np.diff(self.cliques["rule"].offsets))
        into["rule"][...] -= np.bincount(rules, times, len(self.grammar.rules))

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every sentence; −inf for rules that the grammar has not, and what is no tree."""
        rules = self._known_rules(np.asarray(outputs))
        with_none = np.append(score_array(scores, "rule", self.shapes["rule"], np.float64), -np.inf)
        sentences = np.repeat(np.arange(self.n_instances), np.diff(self.cliques["rule"].offsets))
        return super().score(scores, outputs) + np.bincount(sentences, with_none[rules], self.n_instances)

    def _known_rules(self, outputs: Array) -> Array:
        """Return the rules of trees; −1 for those of a sentence that has no tree, one span twice say."""
        rows = outputs // self.n_labels
        again = np.zeros(len(rows), dtype=bool)
        again[1:] = np.diff(rows) <= 0
        again[self._outputs[:-1][self.lengths > 0]] = False
        broken = np.zeros(self.n_instances, dtype=bool)
        broken[self.per_output(np.arange(self.n_instances))[again]] = True
        if not broken.any():
            return self.rules(outputs)
        rules = np.full(int(self.cliques["rule"].offsets[-1]), -1)
        kept = np.flatnonzero(~broken)
        rules[rows_of(self.cliques["rule"].offsets, kept)] = self.take(kept).rules(
            self.cut_outputs(outputs, kept)
        )
        return rules

    def argmax(self, scores: Scores) -> Labelling:
        """A chart with maxima, then rules and splits from the top."""
        outputs, value = self.grammar.chart.argmax(*self._arrays(scores))
        require_feasible(value, self.words)
        return Labelling(outputs, value)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """The k best trees: lazy lists for every symbol of every span."""
        longest = int(self.lengths.max(initial=0))
        k = require_best(k, int(self._outputs[-1]), self.n_instances, longest)
        arrays = self._arrays(scores)
        require_feasible(self.grammar.chart.argmax(*arrays)[1], self.words)
        return Labellings(*self.grammar.chart.kbest(*arrays, k))

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by sums over rules and splits of ever longer spans."""
        value = np.asarray(self.grammar.chart.log_partition(*self._arrays(scores)))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """g(θ), the probability of every symbol of every span, and expected numbers of rules."""
        arrays = self._arrays(scores)
        value, span, rule = self.grammar.chart.marginals(*arrays, require_weights(weights, self.n_instances))
        require_feasible(value, self.words)
        return Marginals(value, {"span": span, "rule": rule.astype(arrays[1].dtype)})

    def entropy(self, scores: Scores) -> Array:
        """H(p) = Σ P(span, symbol) H(rule, split | span, symbol), in which nothing is subtracted."""
        value = np.asarray(self.grammar.chart.entropy(*self._arrays(scores)))
        require_feasible(value, self.words)
        return value

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d: the marginals are computed with numbers that carry their derivative along."""
        arrays = self._arrays(scores)
        span, rule, *_ = self._arrays(direction, arrays[0].dtype)
        value, spans, rules = self.grammar.chart.covariance(
            *arrays, span, rule, require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return {"span": spans, "rule": rules.astype(arrays[1].dtype)}

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Draws: rules and splits from the top, each in proportion to its share of the sum."""
        draws = require_draws(count, seed, int(self._outputs[-1]))
        outputs, value = self.grammar.chart.sample(*self._arrays(scores), *draws)
        require_feasible(value, self.words)
        return np.asarray(outputs)

    def _arrays(
        self, scores: Scores, dtype: npt.DTypeLike | None = None
    ) -> tuple[Array, Array, Array, Array]:
        span = score_array(scores, "span", self.shapes["span"], dtype)
        rule = score_array(scores, "rule", self.shapes["rule"], span.dtype)
        return span, rule, self._words, self._spans
