"""Segments: sequences in which every run of one label also scores by its length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of, rows_of
from ..checks import require_ids, require_unmasked, require_weights, shown, whole_numbers
from ..errors import InputError
from ._base import Cliques, Scores, require_feasible
from ._labelled_base import SequenceBatch, require_best, require_draws, require_labels, score_array
from ._oracles import Labelling, Labellings, Marginals
from .chain import ChainBatch
from .segment_candidates import CandidateRuns, read_candidates


class SegmentBatch(SequenceBatch):
    """A batch of semi-Markov chains: a chain, and for every run of one label a score of its length,

        score(y) = Σ_t node[t, y_t] + Σ_t edge[t, y_t, y_{t+1}]
                 + Σ_r (duration[b(d_r), l_r] + segment[c_r, l_r]),

    the last sum over all runs r of one label l_r, d_r positions long, c_r being the candidate that a run may
    be. Lengths are scored in bins b(d), all from the last lower end on alike. With K the last lower end, sums
    over all labellings take O(T L (K + L)) per sequence, for the whole ragged batch in one native call
    on all cores; candidates, C of them, take O(C L) more. Scores of −inf forbid a label, a pair, lengths of a
    label, or a candidate.

    Parameters
    ----------
    offsets : (S + 1,) integers
        Sequence s owns the positions ``offsets[s]`` up to ``offsets[s + 1]``; it may be empty.
    n_labels : int
        L.
    lower_ends : (B,) integers
        The shortest length of every bin, rising from 1.
    shared_edges : bool
        Whether all edges share one (L, L) array of scores; else scores are (E, L, L). Scores of lengths
        are shared, (B, L).
    candidates : (C, 2) or (C, 3) integers, or CandidateRuns, optional
        Runs with scores of their own: first position, the position behind the last, counted over the batch,
        and perhaps a label, −1 for all. They are kept, and scored, by their ends, the shortest first.
    bound : (L,) booleans, optional
        Labels that only candidates can have.
    segment_features : (C, F) array or sparse matrix, optional
        What models see of the candidates as they are given.

    Examples
    --------
    >>> import numpy as np
    >>> batch = SegmentBatch([0, 3], n_labels=2, lower_ends=[1, 2])
    >>> scores = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    >>> scores["duration"][0] = -np.inf  # no run of a single position
    >>> round(float(np.exp(batch.log_partition(scores)[0])))  # 000 and 111
    2
    """

    bound: Array

    featured: ClassVar[tuple[str, ...]] = ("segment",)

    def __init__(
        self,
        offsets: npt.ArrayLike,
        n_labels: int,
        lower_ends: npt.ArrayLike = (1,),
        shared_edges: bool = True,
        candidates: Any = None,
        bound: npt.ArrayLike | None = None,
        segment_features: Any = None,
    ) -> None:
        self._set_shape(offsets, n_labels, shared_edges)
        self.lower_ends = require_lower_ends(lower_ends)
        self.bound = require_bound(bound, self.n_labels, candidates is not None)
        if candidates is not None and not isinstance(candidates, CandidateRuns):
            candidates, order = read_candidates(candidates, self._offsets, self.n_labels)
            segment_features = None if segment_features is None else segment_features[order]
        self.candidates: CandidateRuns | None = candidates
        """In the order of their scores."""
        self._seen = segment_features
        last = int(self.lower_ends[-1])
        if candidates is not None:  # all lengths of candidates are told apart from longer runs
            last = max(last, 1 + candidates.longest(~self.bound))
        self._bins = (np.searchsorted(self.lower_ends, np.arange(1, last + 1), side="right") - 1).astype(
            np.int32
        )

    @cached_property
    def _alike(self) -> AlikeRuns | None:
        """A chain that computes the same, where all lengths score alike."""
        if self.lower_ends[-1] > 1 or self.candidates is not None:
            return None
        return AlikeRuns(ChainBatch(self._offsets, self.n_labels, self.shared_edges))

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Vertices, edges, the lengths of runs, one of which may begin at every position, and candidates."""
        shape, given = (len(self.lower_ends), self.n_labels), self.candidates
        lengths = Cliques(self._offsets, self._vertices, shape, shared=True)
        if given is None:
            return {**self._pairwise(), "duration": lengths}
        places = Cliques(given.offsets, lambda: given.members(self._offsets), (self.n_labels,))
        return {**self._pairwise(), "duration": lengths, "segment": places}

    @property
    def observations(self) -> Mapping[str, Any]:
        """Return the features of candidates, where there are some; of no concern to inference."""
        return {} if self._seen is None else {"segment": self._seen}

    def take(self, ids: npt.ArrayLike) -> SegmentBatch:
        """Return some sequences only."""
        ids = require_ids(ids, self.n_instances)
        offsets = offsets_of(np.diff(self._offsets)[ids])
        ends, shared = self.lower_ends, self.shared_edges
        if self.candidates is None:
            return SegmentBatch(offsets, self.n_labels, ends, shared)
        seen = self._seen
        seen = None if seen is None else seen[rows_of(self.candidates.offsets, ids)]
        return SegmentBatch(offsets, self.n_labels, ends, shared, self.candidates.take(ids), self.bound, seen)

    def runs(self, labels: Array) -> tuple[Array, Array]:
        """Return where the runs of one label begin, and the bins of their lengths."""
        begins = np.ones(self.n_vertices + 1, dtype=bool)
        begins[1:-1] = labels[1:] != labels[:-1]
        begins[self._offsets] = True
        starts = np.flatnonzero(begins)
        longest = np.minimum(np.diff(starts), len(self._bins))
        return starts[:-1], self._bins[longest - 1]

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of a labelling; of shared scores, the counts."""
        labels = require_labels(outputs, self.n_vertices, self.n_labels)
        weights = require_weights(weights, self.n_instances)
        self._subtract_labels(into, labels, weights)
        starts, bins = self.runs(labels)
        counted = None
        if weights is not None:
            counted = np.repeat(weights, np.diff(self._offsets))[starts]
        count = np.bincount(bins * self.n_labels + labels[starts], counted, into["duration"].size)
        into["duration"][...] -= count.reshape(into["duration"].shape)
        if self.candidates is not None:
            mine = self.candidates.realised(self._offsets, labels, starts)
            owner = np.searchsorted(self.candidates.offsets, mine, side="right") - 1
            label = labels[self.cliques["segment"].members[mine, 0]]
            into["segment"][mine, label] -= 1.0 if weights is None else weights[owner]

    def score(self, scores: Scores, labels: Array) -> Array:
        """⟨θ, parts(y)⟩ for every sequence."""
        labels = require_labels(labels, self.n_vertices, self.n_labels)
        return np.asarray(native.segment_score(*self._native(scores), labels))

    def argmax(self, scores: Scores) -> Labelling:
        """Best scores from every boundary on, then runs from the first to the last."""
        if self._alike is not None:
            return self._alike.argmax(scores)
        labels, value = native.segment_argmax(*self._native(scores))
        require_feasible(value, self.words)
        return Labelling(labels, value)

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by sums over what is before every boundary."""
        if self._alike is not None:
            return self._alike.log_partition(scores)
        value = np.asarray(native.segment_log_partition(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """Sums over what is before and what is after every boundary."""
        if self._alike is not None:
            return self._alike.marginals(scores, weights)
        value, *parts = native.segment_marginals(
            *self._native(scores), require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return Marginals(value, self._named(parts))

    def entropy(self, scores: Scores) -> Array:
        """H(p) = g(θ) − ⟨θ, μ(θ)⟩, by the derivative of g along the scores."""
        if self._alike is not None:
            return self._alike.entropy(scores)
        arrays = self._native(scores)
        node, edge, _, duration, _, _, segment = arrays
        along = [np.where(np.isfinite(array), array, 0) for array in (node, edge, duration, segment)]
        slope = np.asarray(native.segment_covariance(*arrays, *along)[0])
        return np.maximum(self.log_partition(scores) - slope, 0.0)

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d by differentiating both sweeps."""
        if self._alike is not None:
            return self._alike.covariance(scores, direction, weights)
        arrays = self._native(scores)
        node, edge, _, duration, _, _, segment = self._native(direction, arrays[0].dtype)
        value, *parts = native.segment_covariance(
            *arrays, node, edge, duration, segment, require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return self._named(parts)

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Sums over what is before every boundary, then runs drawn from the last to the first."""
        if self._alike is not None:
            return self._alike.sample(scores, count, seed)
        draws = require_draws(count, seed, self.n_vertices)
        labels, value = native.segment_sample(*self._native(scores), *draws)
        require_feasible(value, self.words)
        return np.asarray(labels)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """The k best starts and ends of runs at every boundary, merged from the first to the last."""
        if self._alike is not None:
            return self._alike.kbest(scores, k)
        longest = int(np.diff(self._offsets).max(initial=0))
        k = require_best(k, self.n_vertices, self.n_instances, 2 * longest * self.n_labels)
        arrays = self._native(scores)
        require_feasible(native.segment_argmax(*arrays)[1], self.words)
        return Labellings(*native.segment_kbest(*arrays, k))

    def _untied(self, names: list[str]) -> Self:
        if "duration" in names:
            raise InputError("Scores of the lengths of runs are shared by all of them.")
        bound = None if self.candidates is None else self.bound
        given = self.candidates, bound, self._seen
        return type(self)(self._offsets, self.n_labels, self.lower_ends, False, *given)

    def _named(self, parts: Sequence[Array]) -> dict[str, Array]:
        """Return parts by the names of clique types."""
        return dict(zip(self.cliques, parts, strict=False))

    def _native(
        self, scores: Scores, dtype: npt.DTypeLike | None = None
    ) -> tuple[Array, Array, Array, Array, Array, Any, Array]:
        shapes, given = self.shapes, self.candidates
        node = score_array(scores, "node", shapes["node"], dtype)
        edge = score_array(scores, "edge", shapes["edge"], node.dtype)
        duration = score_array(scores, "duration", shapes["duration"], node.dtype)
        if given is None:
            nothing = np.empty((0, self.n_labels), node.dtype)
            return node, edge, self._offsets, duration, self._bins, None, nothing
        segment = score_array(scores, "segment", shapes["segment"], node.dtype)
        return node, edge, self._offsets, duration, self._bins, (*given, self.bound.view(np.uint8)), segment


def require_bound(given: npt.ArrayLike | None, n_labels: int, candidates: bool) -> Array:
    """Return which labels only candidates can have."""
    if given is None:
        return np.zeros(n_labels, dtype=bool)
    require_unmasked(given, "bound", "write False for labels that need no candidates")
    result = np.asarray(given)
    if result.shape != (n_labels,) or result.dtype != bool:
        raise InputError(f"bound is {shown(given)}; it must be {n_labels} booleans, one for every label.")
    if not candidates and result.any():
        raise InputError("bound has labels that only candidates can have, but there are no candidates.")
    return result


def require_lower_ends(given: npt.ArrayLike) -> Array:
    """Return the shortest lengths of bins, rising from 1."""
    result = whole_numbers("lower_ends", given)
    if result.ndim != 1 or len(result) == 0 or result[0] != 1 or (np.diff(result) <= 0).any():
        raise InputError(f"lower_ends is {given!r}; it must be whole numbers that rise from 1.")
    if result[-1] > 2**31 - 1:
        raise InputError(f"lower_ends ends with {result[-1]}, which no sequence is long enough for.")
    return result


class AlikeRuns(NamedTuple):
    """Sums over segmentations with one bin of lengths, at the speed of a chain.

    A run of label j scores duration[j] however long it is, which its first position can pay: as a score of
    the first label of a sequence, and of every pair (i, j) with i ≠ j.
    """

    chain: ChainBatch

    def argmax(self, scores: Scores) -> Labelling:
        """Return the best labelling."""
        return self.chain.argmax(self._scores(scores))

    def log_partition(self, scores: Scores) -> Array:
        """g(θ)."""
        return self.chain.log_partition(self._scores(scores))

    def marginals(self, scores: Scores, weights: Array | None) -> Marginals:
        """g(θ) and its gradient."""
        value, parts = self.chain.marginals(self._scores(scores), weights)
        return Marginals(value, self._with_runs(parts))

    def entropy(self, scores: Scores) -> Array:
        """H(p)."""
        return self.chain.entropy(self._scores(scores))

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None) -> dict[str, Array]:
        """∇²g(θ)·d."""
        return self._with_runs(self.chain.covariance(self._scores(scores), self._scores(direction), weights))

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Return exact draws."""
        return self.chain.sample(self._scores(scores), count, seed)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Return the k best labellings."""
        return self.chain.kbest(self._scores(scores), k)

    def _scores(self, scores: Scores) -> dict[str, Array]:
        """Return those of the chain."""
        L, shapes = self.chain.n_labels, self.chain.shapes
        given = score_array(scores, "node", shapes["node"], None)
        changes = score_array(scores, "edge", shapes["edge"], given.dtype)
        begin = score_array(scores, "duration", (1, L), given.dtype)[0]
        node = given.copy()
        with np.errstate(invalid="ignore"):  # what is NaN afterwards is refused by the chain
            edge = changes + begin
            node[self.chain.first_positions] += begin
        same = np.arange(L)
        edge[..., same, same] = changes[..., same, same]
        return {"node": node, "edge": edge}

    def _with_runs(self, parts: dict[str, Array]) -> dict[str, Array]:
        """Return parts of the chain, and how often runs of each label begin."""
        node, edge = parts["node"], parts["edge"]
        pairs = edge if edge.ndim == 2 else edge.sum(axis=0, dtype=np.float64)
        begins = node[self.chain.first_positions].sum(axis=0, dtype=np.float64)
        begins += pairs.sum(axis=0, dtype=np.float64) - pairs.diagonal()
        return {**parts, "duration": begins.astype(node.dtype)[None]}
