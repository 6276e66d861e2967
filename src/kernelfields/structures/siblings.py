"""Projective dependency trees in which neighbouring words of one head have scores of their own."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import count, pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of, rows_of
from ..checks import require_ids, require_weights
from ..errors import InfeasibleError, InputError
from ._base import Cliques, Scores, require_feasible
from ._labelled_base import require_best, require_draws, score_array
from ._oracles import Labelling, Labellings, Marginals
from .dependency import DependencyBatch
from .sibling_rows import every_sibling, require_siblings, siblings_of


class SiblingDependencyBatch(DependencyBatch):
    """Projective trees of second order [mcdonald2006online],

        score(y) = Σ_m arc[m, h_m, r_m] + Σ_m sibling[h_m, i_m, m],

    where i_m is the word before m on the way from its head h_m that has the same head, on the same side; h_m
    itself if there is none. Arcs are rows as in `DependencyBatch`, siblings are the rows of `siblings`. What
    is not among these scores 0. Exact, in time n³ and in numbers without bounds; k best by splitting what is
    left of all trees [lawler1972procedure].

    Parameters
    ----------
    words, n_labels, single_root, allowed
        As in `DependencyBatch`.
    siblings : (C, 3) integers, optional
        Head, inner and outer word of every row, sorted by head, outer and inner word within a sentence; all
        that there can be if not given, n³/3 where all arcs are allowed.
    sibling_offsets : (S + 1,) integers, optional
        Where the rows of each sentence begin.
    sibling_features : (C, F) array or sparse matrix, optional
        What models look at in siblings.

    Examples
    --------
    >>> import numpy as np
    >>> batch = SiblingDependencyBatch([2], single_root=False)
    >>> batch.siblings[:3].tolist()  # the first word of the root, and the second with and without the first
    [[0, 0, 1], [0, 0, 2], [0, 1, 2]]
    >>> scores = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    >>> round(float(np.exp(batch.log_partition(scores)[0])))
    3
    """

    featured: ClassVar[tuple[str, ...]] = ("sibling",)

    def __init__(
        self,
        words: npt.ArrayLike,
        n_labels: int | None = None,
        single_root: bool = True,
        allowed: npt.ArrayLike | None = None,
        siblings: npt.ArrayLike | None = None,
        sibling_offsets: npt.ArrayLike | None = None,
        sibling_features: Any = None,
    ) -> None:
        super().__init__(words, n_labels, True, single_root, allowed)
        if (siblings is None) != (sibling_offsets is None):
            raise InputError("siblings and sibling_offsets must be given together.")
        if siblings is None or sibling_offsets is None:
            self.siblings, self.sibling_offsets = every_sibling(self.lengths, self.allowed)
        else:
            self.siblings, self.sibling_offsets = require_siblings(siblings, sibling_offsets, self.lengths)
        if sibling_features is not None and sibling_features.shape[0] != len(self.siblings):
            given = f"sibling_features have {sibling_features.shape[0]} rows"
            raise InputError(f"{given}, expected {len(self.siblings)}.")
        self._features = sibling_features
        self._feature_rows: Array | None = None

    @property
    def observations(self) -> Mapping[str, Any]:
        """Return the features of siblings, where there are some."""
        if self._features is None:
            return {}
        rows = self._feature_rows  # those of single sentences, which nobody may ask for, are not copied
        return {"sibling": self._features if rows is None else self._features[rows]}

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Arcs, and rows of siblings, whose members are the arcs to the inner and the outer word."""
        return {**super().cliques, "sibling": Cliques(self.sibling_offsets, self._members, ())}

    def _members(self) -> Array:
        """Arcs to the inner word, −1 where there is none, and to the outer one."""
        s = np.repeat(np.arange(self.n_instances), np.diff(self.sibling_offsets))
        head, inner, outer = self.siblings.T.astype(np.int64)
        first, width = self._arcs[s], self.lengths[s] + 1
        before = np.where(inner == head, -1, first + (inner - 1) * width + head)
        return np.stack([before, first + (outer - 1) * width + head], axis=1)

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some sentences only."""
        ids = require_ids(ids, self.n_instances)
        allowed = None if self.allowed is None else self.allowed[rows_of(self._arcs, ids)]
        rows = rows_of(self.sibling_offsets, ids)
        offsets = offsets_of(np.diff(self.sibling_offsets)[ids])
        given = allowed, self.siblings[rows], offsets
        taken = type(self)(self.lengths[ids], self.n_labels, self.single_root, *given)
        taken._features = self._features
        taken._feature_rows = rows if self._feature_rows is None else self._feature_rows[rows]
        return taken

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of the arcs and siblings of trees."""
        super().subtract_parts(into, outputs, weights)
        weights = require_weights(weights, self.n_instances)
        rows, words = self._rows_of(outputs)
        into["sibling"][rows] -= 1.0 if weights is None else self.per_output(weights)[words]

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every sentence."""
        rows, words = self._rows_of(outputs)
        sentences = self.per_output(np.arange(self.n_instances))[words]
        chosen = score_array(scores, "sibling", self.shapes["sibling"], np.float64)[rows]
        return super().score(scores, outputs) + np.bincount(sentences, chosen, self.n_instances)

    def argmax(self, scores: Scores) -> Labelling:
        """The best tree, relations chosen arc by arc."""
        heads, value = native.sibling_argmax(*self._reduced(scores, np.maximum))
        require_feasible(value, self.words)
        return Labelling(self._labelled(scores, heads), value)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """The best tree, then the best of those without it, and so on."""
        k = require_best(k, int(self._words[-1]), self.n_instances, int(self.lengths.max(initial=0)))
        outputs = np.full((k, int(self._words[-1])), -1, dtype=np.int32)
        values = np.full((self.n_instances, k), -np.inf)
        for s in range(self.n_instances):
            here = slice(self._words[s], self._words[s + 1])
            one = self.take([s])
            for r, (tree, value) in zip(range(k), trees_in_order(one, self._only(scores, s)), strict=False):
                outputs[r, here], values[s, r] = tree, value
            if values[s, 0] == -np.inf:
                raise InfeasibleError(f"{self.words.name(s)} has no allowed {self.words.output}.")
        return Labellings(outputs, values)

    def log_partition(self, scores: Scores) -> Array:
        """g(θ)."""
        value = np.asarray(native.sibling_log_partition(*self._reduced(scores, np.logaddexp)))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """g(θ), and the probability of every arc and row of siblings by its derivative."""
        weights = require_weights(weights, self.n_instances)
        value, arc, sibling = native.sibling_marginals(*self._reduced(scores, np.logaddexp), weights)
        require_feasible(value, self.words)
        dtype = np.asarray(scores["arc"]).dtype
        parts = {"arc": self._shared_out(scores, arc), "sibling": np.asarray(sibling)}
        return Marginals(value, {name: part.astype(dtype, copy=False) for name, part in parts.items()})

    def entropy(self, scores: Scores) -> Array:
        """H(p) = g(θ) − ⟨θ, μ⟩, with scores shifted such that every word of the best tree has 0."""
        best = self.argmax(scores).labels
        own = np.asarray(scores["arc"], dtype=np.float64)[self._places(best)]
        rows, words = self._rows_of(best)
        own[words] += np.asarray(scores["sibling"], dtype=np.float64)[rows]
        shape = (self.shapes["arc"][0],) + (1,) * (len(self.shapes["arc"]) - 1)
        heads = self.per_output(self.lengths + 1)
        shifted = {
            "arc": np.asarray(scores["arc"], dtype=np.float64) - np.repeat(own, heads).reshape(shape),
            "sibling": np.asarray(scores["sibling"], dtype=np.float64),
        }
        value, parts = self.marginals(shifted)
        for name, offsets in (("arc", self._arcs), ("sibling", self.sibling_offsets)):
            theta, mass = shifted[name], parts[name]
            terms = np.where(mass > 0, mass * np.where(mass > 0, theta, 0.0), 0.0)
            terms = terms.sum(axis=tuple(range(1, terms.ndim)))
            value = value - np.bincount(
                np.repeat(np.arange(self.n_instances), np.diff(offsets)), terms, self.n_instances
            )
        return np.maximum(value, 0.0)

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d: the marginals are computed with numbers that carry their derivative along."""
        weights = require_weights(weights, self.n_instances)
        arrays = self._reduced(scores, np.logaddexp)
        share = self._shares(scores)
        along = score_array(direction, "arc", self.shapes["arc"], np.float64).reshape(share.shape)
        mean = (share * along).sum(axis=1)
        towards = score_array(direction, "sibling", self.shapes["sibling"], np.float64)
        value, arc, sibling = native.sibling_covariance(*arrays, mean, towards, weights)
        require_feasible(value, self.words)
        probability = np.asarray(native.sibling_marginals(*arrays, weights)[1])
        change = share * (np.asarray(arc)[:, None] + probability[:, None] * (along - mean[:, None]))
        dtype = np.asarray(scores["arc"]).dtype
        parts = {"arc": self._shaped(change), "sibling": np.asarray(sibling)}
        return {name: part.astype(dtype, copy=False) for name, part in parts.items()}

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Draws: terms of the chart from the top, then relations."""
        draws = require_draws(count, seed, int(self._words[-1]))
        heads, value = native.sibling_sample(*self._reduced(scores, np.logaddexp), *draws)
        require_feasible(value, self.words)
        if self.n_labels is None:
            return np.asarray(heads)
        share = self._shares(scores)[self._first + np.asarray(heads)]
        uniform = np.random.default_rng(seed).random(share.shape[:-1])
        relation = (share.cumsum(axis=-1) <= uniform[..., None] * share.sum(axis=-1, keepdims=True)).sum(
            axis=-1
        )
        return np.asarray(heads * self.n_labels + np.minimum(relation, self.n_labels - 1), dtype=np.int32)

    def _reduced(
        self, scores: Scores, join: np.ufunc
    ) -> tuple[Array, Array, Array, Array, Array, Array, bool]:
        """Return scores of arcs with any relation, and of siblings, as the core wants them."""
        arc, sibling = self._doubles(scores)
        with np.errstate(invalid="ignore", divide="ignore"):
            every = arc[:, 0] if arc.shape[1] == 1 else join.reduce(arc, axis=1)
        if self.allowed is not None:
            every = np.where(self.allowed, every, -np.inf)
        arrays = (np.ascontiguousarray(every), self._words, self._arcs, self.siblings, self.sibling_offsets)
        return (*arrays, sibling, self.single_root)

    def _doubles(self, scores: Scores) -> tuple[Array, Array]:
        arc = score_array(scores, "arc", self.shapes["arc"], np.float64).reshape(-1, self.n_labels or 1)
        return arc, score_array(scores, "sibling", self.shapes["sibling"], np.float64)

    def _shares(self, scores: Scores) -> Array:
        """Return the shares of relations of every arc; even where it has none."""
        arc = self._doubles(scores)[0]
        if arc.shape[1] == 1:
            return np.ones_like(arc)
        top = arc.max(axis=1, keepdims=True)
        weight = np.exp(np.where(np.isfinite(top), arc - np.where(np.isfinite(top), top, 0.0), 0.0))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def _shared_out(self, scores: Scores, arc: Array) -> Array:
        return self._shaped(self._shares(scores) * np.asarray(arc)[:, None])

    def _labelled(self, scores: Scores, heads: Array) -> Array:
        """Return outputs: heads with the best relation of each arc."""
        if self.n_labels is None:
            return np.asarray(heads)
        relation = self._doubles(scores)[0][self._first + heads].argmax(axis=1)
        return np.asarray(heads * self.n_labels + relation, dtype=np.int32)

    def _rows_of(self, outputs: Array) -> tuple[Array, Array]:
        """Return the rows of siblings of trees, and the words that they are for."""
        heads = np.asarray(outputs) // (self.n_labels or 1)
        ends = self._words.tolist()
        each = [siblings_of(heads[a:b].tolist()) for a, b in pairwise(ends)]
        head, inner = np.array([pair for pairs in each for pair in pairs], dtype=np.int64).reshape(-1, 2).T
        outer = np.arange(1, len(head) + 1) - self.per_output(self._words[:-1])
        wanted = self._keys(self.per_output(np.arange(self.n_instances)), head, inner, outer)
        place = np.searchsorted(self._row_keys, wanted)
        found = np.append(self._row_keys, -1)[place] == wanted
        return place[found], np.flatnonzero(found)

    def _keys(self, s: Array, head: Array, inner: Array, outer: Array) -> Array:
        """Return a number for every row, rising as rows do."""
        width = int(self.lengths.max(initial=0)) + 1
        return ((s * width + head) * width + outer) * width + inner

    @cached_property
    def _row_keys(self) -> Array:
        s = np.repeat(np.arange(self.n_instances), np.diff(self.sibling_offsets))
        return self._keys(s, *self.siblings.T.astype(np.int64))

    def _only(self, scores: Scores, s: int) -> dict[str, Array]:
        """Return the scores of one sentence."""
        arcs, rows = self._arcs[s : s + 2], self.sibling_offsets[s : s + 2]
        return {"arc": scores["arc"][slice(*arcs)], "sibling": scores["sibling"][slice(*rows)]}


def trees_in_order(sentence: DependencyBatch, scores: Scores) -> Iterator[tuple[Array, float]]:
    """Yield the trees of a single sentence by falling score.

    What is left are sets of trees: the first words as in a tree that was found, the next one not so.
    """
    n, L = int(sentence.lengths[0]), sentence.n_labels or 1
    arc = np.array(scores["arc"], dtype=np.float64).reshape(n, (n + 1) * L)
    heap: list[tuple[float, int, list[int], int, frozenset[int]]] = []
    numbers = count()

    def push(fixed: list[int], barred: frozenset[int]) -> None:
        given = arc.copy()
        for m, output in enumerate(fixed):
            given[m] = -np.inf
            given[m, output] = arc[m, output]
        if barred:
            given[len(fixed), sorted(barred)] = -np.inf
        try:
            best = sentence.argmax({**scores, "arc": given.reshape(sentence.shapes["arc"])})
        except InfeasibleError:
            return
        entry = (-float(best.value[0]), next(numbers), best.labels.tolist(), len(fixed), barred)
        heapq.heappush(heap, entry)

    push([], frozenset())
    while heap:
        value, _, tree, known, barred = heapq.heappop(heap)
        yield np.array(tree, dtype=np.int32), -value
        for m in range(known, n):
            push(tree[:m], (barred if m == known else frozenset()) | {tree[m]})
