"""Dependency trees: every word of a sentence has a head, another word or the root."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of, rows_of
from ..checks import (
    require_flag,
    require_ids,
    require_unmasked,
    require_weights,
    require_whole,
    whole_numbers,
)
from ..errors import InputError
from ._base import Cliques, Scores, require_feasible
from ._labelled_base import require_best, require_draws, score_array
from ._oracles import CovarianceOracle, KBestOracle, Labelling, Labellings, Marginals, MaxOracle, SampleOracle
from .words import SENTENCES, Words

MOST_WORDS = 2**15
"""More arcs than its square, and numbers of relations besides, would not fit into 32 bits."""


class DependencyBatch(MaxOracle, CovarianceOracle, SampleOracle, KBestOracle):
    """A batch of sentences with all their dependency trees,

        score(y) = Σ_m arc[m, h_m, r_m],   h_m the head of word m, r_m the relation of the arc.

    Words are 1 … n and 0 is the root. The arc from h to m of a sentence is row (m − 1)(n + 1) + h of its
    n(n + 1) rows: all heads 0 … n of the first word, then those of the second, and so on. Arcs from a word to
    itself are rows, too, and are never looked at. An output is the head of every word; with relations,
    ``head * n_labels + relation``.

    Projective trees, drawn above the sentence without crossing arcs, by Eisner's chart in time n³
    [eisner1996three], k best lazily [huang2005better]. All trees: sums by the matrix-tree theorem in time n³
    [koo2007structured], by an elimination that subtracts nothing, so that no scores are too far apart for it;
    the best tree by Edmonds' algorithm in time n², with a single root word in the same run
    [stanojevic2021root]; draws by Wilson's walks [wilson1996generating]. All are exact, in doubles or, where
    those might underflow or overflow, in numbers without such bounds; the whole ragged batch is one native
    call on all cores. Scores of −inf forbid an arc or a relation.

    Parameters
    ----------
    words : (S,) integers
        Number of words of each sentence; 0 is allowed.
    n_labels : int, optional
        L, the number of relations: scores are (arcs, L); (arcs,) without.
    projective : bool
        Whether arcs must not cross; the root is to the left of all words.
    single_root : bool
        Whether exactly one word has the root as its head.
    allowed : (arcs,) booleans, optional
        Which arcs trees may have, whatever their scores; all if not given.

    Examples
    --------
    >>> import numpy as np
    >>> scores = {"arc": np.zeros(3 * 4)}
    >>> round(float(np.exp(DependencyBatch([3]).log_partition(scores)[0])))
    7
    >>> round(float(np.exp(DependencyBatch([3], projective=False).log_partition(scores)[0])))
    9
    """

    answer: ClassVar[str] = "arc"
    words: Words = SENTENCES

    def __init__(
        self,
        words: npt.ArrayLike,
        n_labels: int | None = None,
        projective: bool = True,
        single_root: bool = True,
        allowed: npt.ArrayLike | None = None,
    ) -> None:
        self.lengths = _require_lengths(words)
        self.n_labels = None if n_labels is None else require_whole("n_labels", n_labels, 1, 2**15)
        self.projective = require_flag("projective", projective)
        self.single_root = require_flag("single_root", single_root)
        self._words = offsets_of(self.lengths)
        self._arcs = offsets_of(self.lengths * (self.lengths + 1))
        self.allowed = None if allowed is None else _require_allowed(allowed, int(self._arcs[-1]))

    @property
    def offsets(self) -> Array:
        """Where the arcs of each sentence start: rows of X are arcs."""
        return self._arcs

    @property
    def output_offsets(self) -> Array:
        """Where the words of each sentence start."""
        return self._words

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Arcs."""
        values = () if self.n_labels is None else (self.n_labels,)
        return {"arc": Cliques(self._arcs, lambda: np.arange(self._arcs[-1])[:, None], values)}

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some sentences only."""
        ids = require_ids(ids, self.n_instances)
        allowed = None if self.allowed is None else self.allowed[rows_of(self._arcs, ids)]
        return type(self)(self.lengths[ids], self.n_labels, self.projective, self.single_root, allowed)

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of the arcs of trees."""
        weights = require_weights(weights, self.n_instances)
        into["arc"][self._places(outputs)] -= 1.0 if weights is None else self.per_output(weights)

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every sentence."""
        sentences = self.per_output(np.arange(self.n_instances))
        places = self._places(outputs)
        chosen = score_array(scores, "arc", self.shapes["arc"], np.float64)[places]
        if self.allowed is not None:
            chosen = np.where(self.allowed[places[0]], chosen, -np.inf)
        # of no words NumPy makes whole numbers
        return np.bincount(sentences, chosen, self.n_instances).astype(np.float64, copy=False)

    def argmax(self, scores: Scores) -> Labelling:
        """Eisner's chart with maxima, or Edmonds' algorithm."""
        outputs, value = native.dependency_argmax(*self._native(scores))
        require_feasible(value, self.words)
        return Labelling(outputs, value)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """The k best trees: lazy lists for every item of the chart, or ever smaller sets of trees."""
        longest = int(self.lengths.max(initial=0))
        k = require_best(k, int(self._words[-1]), self.n_instances, longest)
        arrays = self._native(scores)
        require_feasible(native.dependency_argmax(*arrays)[1], self.words)
        return Labellings(*native.dependency_kbest(*arrays, k))

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by Eisner's chart or the matrix-tree theorem."""
        value = np.asarray(native.dependency_log_partition(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """g(θ), and the probability of every arc by its derivative."""
        value, arc = native.dependency_marginals(
            *self._native(scores), require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return Marginals(value, {"arc": self._shaped(arc)})

    def entropy(self, scores: Scores) -> Array:
        """H(p), with scores shifted such that those of the best tree are zero."""
        arrays = self._native(scores)
        best, value = native.dependency_argmax(*arrays)
        require_feasible(value, self.words)
        return np.asarray(native.dependency_entropy(*arrays, best))

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d: the marginals are computed with numbers that carry their derivative along."""
        arrays = self._native(scores)
        along = self._array(direction, arrays[0].dtype)
        value, arc = native.dependency_covariance(*arrays, along, require_weights(weights, self.n_instances))
        require_feasible(value, self.words)
        return {"arc": self._shaped(arc)}

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Draws: splits of Eisner's chart from the top, or Wilson's walks."""
        draws = require_draws(count, seed, int(self._words[-1]))
        outputs, value = native.dependency_sample(*self._native(scores), *draws)
        require_feasible(value, self.words)
        return np.asarray(outputs)

    def _native(self, scores: Scores) -> tuple[Array, Array, Array, bool, bool]:
        theta = self._array(scores, None)
        if self.allowed is not None:
            theta = np.where(self.allowed[:, None], theta, theta.dtype.type(-np.inf))
        return theta, self._words, self._arcs, self.single_root, self.projective

    def _array(self, scores: Scores, dtype: npt.DTypeLike | None) -> Array:
        """Return scores, (arcs, L) also where there are no relations."""
        return score_array(scores, "arc", self.shapes["arc"], dtype).reshape(-1, self.n_labels or 1)

    def _shaped(self, arc: Array) -> Array:
        return np.asarray(arc).reshape(self.shapes["arc"])

    @cached_property
    def _first(self) -> Array:
        """The arc from the root to every word."""
        heads = self.per_output(self.lengths + 1)
        return np.cumsum(heads) - heads

    def _places(self, outputs: Array) -> tuple[Array, ...]:
        """Where the arcs of an output are among all scores."""
        outputs = np.asarray(outputs)
        if self.n_labels is None:
            return (self._first + outputs,)
        return self._first + outputs // self.n_labels, outputs % self.n_labels


def _require_allowed(allowed: npt.ArrayLike, arcs: int) -> Array:
    """Return a vector of booleans."""
    require_unmasked(allowed, "allowed", "write False for arcs that are not allowed")
    given = np.asarray(allowed)
    if given.dtype != bool or given.shape != (arcs,):
        shape = f"{given.dtype} of shape {given.shape}"
        raise InputError(f"allowed is {shape}, expected booleans of shape ({arcs},).")
    return given


def _require_lengths(words: npt.ArrayLike) -> Array:
    """Return numbers of words as int64."""
    lengths = whole_numbers("words", words)
    if lengths.ndim != 1 or (lengths.size and not 0 <= lengths.min() <= lengths.max() <= MOST_WORDS):
        raise InputError(f"words must be a vector of whole numbers from 0 to {MOST_WORDS}.")
    return np.asarray(lengths, dtype=np.int64)
