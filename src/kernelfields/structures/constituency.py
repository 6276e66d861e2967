"""Constituency trees: labelled spans of a sentence, one within the other."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of
from ..checks import require_flag, require_ids, require_weights, require_whole, whole_numbers
from ..errors import InputError
from ._base import Cliques, Scores, require_feasible
from ._labelled_base import require_best, require_draws, score_array
from ._oracles import CovarianceOracle, KBestOracle, Labelling, Labellings, Marginals, MaxOracle, SampleOracle
from .words import PARSES, Words

MOST_WORDS = 2**12
"""Charts of longer sentences, and the depth of their trees, would fill the memory."""


class ConstituencyBatch(MaxOracle, CovarianceOracle, SampleOracle, KBestOracle):
    """A batch of sentences with all their labelled binary trees,

        score(y) = Σ_{(i, j, l) ∈ y} span[(i, j), l],

    the sum over all spans of a tree: from word i up to word j, 0 ≤ i < j ≤ n, with label l. A tree has the
    whole sentence, every single word, and of each span of several words the two parts that it is split into,
    2n − 1 spans. Span (i, j) of a sentence is row i(2n − i − 1)/2 + j − 1 of its n(n + 1)/2 rows: those that
    begin with the first word, from the shortest on, then those that begin with the second, and so on. An
    output is ``row * n_labels + label`` of every span of the tree, rising.

    With an empty label, number 0, trees stand for those with any number of children: X over a, b and c is
    X over a and an empty span over b and c. Such a span is the right part of another one, never the left, and
    never the whole sentence; single words may be empty anywhere. Then no tree is counted twice: sums are over
    trees with labels, not over ways to make them binary.

    Sums by the chart of Cocke, Kasami and Younger [kasami1965efficient, younger1967recognition]; labels are
    summed over first, so that they take time n²L + n³. k best lazily [huang2005better]. All are exact up to
    rounding, whatever the scores: in doubles where a bound on all that could underflow is far below Z, else
    in numbers that neither underflow nor overflow. The whole ragged batch is one native call on all cores.
    Scores of −inf forbid a label of a span.

    Parameters
    ----------
    words : (S,) integers
        Number of words of each sentence; 0 is allowed.
    n_labels : int
        L, the number of labels: scores are (spans, L).
    empty : bool
        Whether label 0 is the empty one.

    Examples
    --------
    >>> import numpy as np
    >>> scores = {"span": np.zeros((6, 2))}
    >>> round(float(np.exp(ConstituencyBatch([3], 2).log_partition(scores)[0])))  # 2 trees, 2⁵ labellings
    64
    >>> round(float(np.exp(ConstituencyBatch([3], 2, empty=True).log_partition(scores)[0])))
    24
    """

    answer: ClassVar[str] = "span"
    words: Words = PARSES

    def __init__(self, words: npt.ArrayLike, n_labels: int, empty: bool = False) -> None:
        self.lengths = _require_lengths(words)
        self.n_labels = require_whole("n_labels", n_labels, 1, 2**31 - 1)
        self.empty = require_flag("empty", empty)
        rows = self.lengths * (self.lengths + 1) // 2
        if rows.max(initial=0) * self.n_labels > 2**31 - 1:
            raise InputError(
                f"A sentence of {self.lengths.max()} words with {self.n_labels} labels has more labelled "
                "spans than 2³¹ − 1."
            )
        self._words = offsets_of(self.lengths)
        self._spans = offsets_of(rows)
        self._outputs = offsets_of(np.maximum(2 * self.lengths - 1, 0))

    @property
    def offsets(self) -> Array:
        """Where the spans of each sentence start: rows of X are spans."""
        return self._spans

    @property
    def output_offsets(self) -> Array:
        """Where the spans of the tree of each sentence start."""
        return self._outputs

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Spans."""
        return {"span": Cliques(self._spans, lambda: np.arange(self._spans[-1])[:, None], (self.n_labels,))}

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some sentences only."""
        return type(self)(self.lengths[require_ids(ids, self.n_instances)], self.n_labels, self.empty)

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of the labelled spans of trees."""
        weights = require_weights(weights, self.n_instances)
        into["span"][self._places(outputs)] -= 1.0 if weights is None else self.per_output(weights)

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every sentence."""
        sentences = self.per_output(np.arange(self.n_instances))
        chosen = score_array(scores, "span", self.shapes["span"], np.float64)[self._places(outputs)]
        # of no words NumPy makes whole numbers
        return np.bincount(sentences, chosen, self.n_instances).astype(np.float64, copy=False)

    def agree(self, outputs: Array, others: Array) -> Array:
        """Return which labelled spans of trees are also in other trees."""
        first = self.per_output(self._spans[:-1]) * self.n_labels
        outputs, others = np.asarray(outputs, np.int64), np.asarray(others, np.int64)
        return np.asarray(np.isin(first + outputs, (first + others)[others >= 0]) & (outputs >= 0))

    def argmax(self, scores: Scores) -> Labelling:
        """A chart with maxima, then splits from the top."""
        outputs, value = native.constituency_argmax(*self._native(scores))
        require_feasible(value, self.words)
        return Labelling(outputs, value)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """The k best trees: lazy lists for every item of the chart."""
        longest = int(self.lengths.max(initial=0))
        k = require_best(k, int(self._outputs[-1]), self.n_instances, longest)
        arrays = self._native(scores)
        require_feasible(native.constituency_argmax(*arrays)[1], self.words)
        return Labellings(*native.constituency_kbest(*arrays, k))

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by sums over splits of ever longer spans."""
        value = np.asarray(native.constituency_log_partition(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """g(θ), and the probability of every labelled span by its derivative."""
        value, span = native.constituency_marginals(
            *self._native(scores), require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return Marginals(value, {"span": span})

    def entropy(self, scores: Scores) -> Array:
        """H(p) = Σ P(span) (H(split | span) + H(label | span)), in which nothing is subtracted."""
        value = np.asarray(native.constituency_entropy(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d: the marginals are computed with numbers that carry their derivative along."""
        arrays = self._native(scores)
        along = score_array(direction, "span", self.shapes["span"], arrays[0].dtype)
        value, span = native.constituency_covariance(
            *arrays, along, require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return {"span": span}

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Draws: splits from the top, each in proportion to its share of the sum."""
        draws = require_draws(count, seed, int(self._outputs[-1]))
        outputs, value = native.constituency_sample(*self._native(scores), *draws)
        require_feasible(value, self.words)
        return np.asarray(outputs)

    def _native(self, scores: Scores) -> tuple[Array, Array, Array, bool]:
        return score_array(scores, "span", self.shapes["span"], None), self._words, self._spans, self.empty

    def _places(self, outputs: Array) -> tuple[Array, Array]:
        """Where the labelled spans of an output are among all scores."""
        rows, labels = np.divmod(np.asarray(outputs), self.n_labels)
        return self.per_output(self._spans[:-1]) + rows, labels


def _require_lengths(words: npt.ArrayLike) -> Array:
    """Return numbers of words as int64."""
    lengths = whole_numbers("words", words)
    if lengths.ndim != 1 or (lengths.size and not 0 <= lengths.min() <= lengths.max() <= MOST_WORDS):
        raise InputError(f"words must be a vector of whole numbers from 0 to {MOST_WORDS}.")
    return np.asarray(lengths, dtype=np.int64)
