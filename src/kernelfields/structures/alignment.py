"""Alignments by a Markov chain: every column has one row or none, depending on the column before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array, offsets_of
from ..checks import require_ids, require_whole
from ..errors import InfeasibleError, ScoreError
from ._base import Cliques, Scores
from ._labelled_base import require_best, require_draws, score_array
from ._oracles import CovarianceOracle, KBestOracle, Labelling, Labellings, Marginals, MaxOracle, SampleOracle
from ._pairs_base import MOST_WORDS, PairBatch
from .chain import ChainBatch

Answer = TypeVar("Answer")


class AlignmentBatch(PairBatch, MaxOracle, CovarianceOracle, SampleOracle, KBestOracle):
    """A batch of items in which every column is in one pair at most, rows in any number,

        score(y) = Σ_j pair[a_j, j] + Σ_j jump[a_j − a_{j−1}],   a_j the row of column j, or none,

    the alignment model of [vogel1996hmm] without its probabilities: a chain of n positions with m + 1 labels,
    and all its oracles, exact. A column in no pair scores nothing as such. Jumps have 2K + 3 scores, shared
    by all items: −K … K rows forward, the outermost also for all beyond, then to no row and from no row.
    Items with equally many rows are one batch of chains.

    Parameters
    ----------
    shapes : (S, 2) integers
        Rows and columns of each item; 0 is allowed.
    max_jump : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> scores = {"pair": np.zeros(6), "jump": np.zeros(13)}
    >>> round(float(np.exp(AlignmentBatch([[2, 3]]).log_partition(scores)[0])))  # (2 + 1)³
    27
    """

    named_cliques = ("jump",)
    """The clique types besides pairs whose scores are learnt."""

    def __init__(self, shapes: npt.ArrayLike, max_jump: int = 5) -> None:
        self._set_shapes(shapes)
        self.max_jump = require_whole("max_jump", max_jump, 0, MOST_WORDS)

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Pairs, and the steps between neighbouring columns."""
        steps = np.maximum(self.item_shapes[:, 1] - 1, 0)
        none = np.full((int(steps.sum()), 1), -1)
        return {**super().cliques, "jump": Cliques(offsets_of(steps), none, (2 * self.max_jump + 3,), True)}

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some items only."""
        return type(self)(self.item_shapes[require_ids(ids, self.n_instances)], self.max_jump)

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of pairs and the number of jumps."""
        super().subtract_parts(into, outputs, weights)
        for group in self._groups:
            bins, items = group.jumps(outputs)
            each = None if weights is None else np.asarray(weights)[group.items[items]]
            into["jump"][...] -= np.bincount(bins, each, 2 * self.max_jump + 3)

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every item."""
        result = super().score(scores, outputs)
        table = score_array(scores, "jump", self.shapes["jump"], np.float64)
        for group in self._groups:
            bins, items = group.jumps(outputs)
            result[group.items] += np.bincount(items, table[bins], len(group.items))
        return result

    def argmax(self, scores: Scores) -> Labelling:
        """Viterbi's algorithm."""
        outputs, value = np.zeros(int(self._offsets[-1]), np.int32), np.zeros(self.n_instances)
        for group, theta in self._chains(scores):
            best = self._asked(group, theta, lambda batch, theta: batch.argmax(theta))
            group.write(outputs, best.labels)
            value[group.items] = best.value
        return Labelling(outputs, value)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """List Viterbi."""
        k = require_best(k, int(self._offsets[-1]), self.n_instances, int(self.item_shapes.max(initial=0)))
        outputs = np.zeros((k, int(self._offsets[-1])), np.int32)
        value = np.full((self.n_instances, k), -np.inf)
        for group, theta in self._chains(scores):
            best = self._asked(group, theta, lambda batch, theta: batch.kbest(theta, k))
            value[group.items] = best.value
            for rank, labels in enumerate(best.labels):
                group.write(outputs[rank], labels)
        missing = np.isneginf(value)
        for rank in range(k):
            outputs[rank][self.per_output(missing[:, rank])] = -1
        return Labellings(outputs, value)

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), forwards."""
        return self._each(scores, lambda batch, theta: batch.log_partition(theta))

    def entropy(self, scores: Scores) -> Array:
        """H(p)."""
        return self._each(scores, lambda batch, theta: batch.entropy(theta))

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """g(θ), and its derivatives forwards and backwards."""
        value, parts = np.zeros(self.n_instances), self._zeros(scores)
        for group, theta in self._chains(scores):
            ask = partial(_marginals, weights=_of_group(weights, group))
            found = self._asked(group, theta, ask)
            value[group.items] = found.log_partition
            group.gather(found.parts, parts)
        return Marginals(value, parts)

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d."""
        parts = self._zeros(scores)
        along = {name: np.asarray(values, parts[name].dtype) for name, values in direction.items()}
        for (group, theta), (_, way) in zip(self._chains(scores), self._chains(along), strict=True):
            ask = partial(_covariance, direction=way, weights=_of_group(weights, group))
            group.gather(self._asked(group, theta, ask), parts)
        return parts

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Draws, backwards."""
        draws, seed = require_draws(count, seed, int(self._offsets[-1]))
        outputs = np.zeros((draws, int(self._offsets[-1])), np.int32)
        for number, (group, theta) in enumerate(self._chains(scores)):
            # Groups must not share their random numbers.
            own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
            drawn = self._asked(group, theta, partial(_sample, count=draws, seed=own))
            for row, labels in zip(outputs, drawn, strict=True):
                group.write(row, labels)
        return outputs

    @cached_property
    def _groups(self) -> list[_Group]:
        """Items by their number of rows."""
        counts = np.unique(self.item_shapes[:, 0])
        return [self._group(int(m), np.flatnonzero(self.item_shapes[:, 0] == m)) for m in counts]

    def _group(self, m: int, items: Array) -> _Group:
        lengths = self.item_shapes[items, 1]
        first, n = (np.repeat(values, lengths) for values in (self._offsets[items], lengths))
        column = np.arange(len(first)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        places = (first + column)[:, None] + np.arange(m) * n[:, None]
        step = np.clip(np.arange(m) - np.arange(m)[:, None], -self.max_jump, self.max_jump) + self.max_jump
        bins = np.full((m + 1, m + 1), 2 * self.max_jump + 1)  # from any row to none
        bins[:m, :m], bins[m, :m] = step, 2 * self.max_jump + 2
        return _Group(items, ChainBatch(offsets_of(lengths), m + 1), places, bins)

    def _chains(self, scores: Scores) -> Iterator[tuple[_Group, dict[str, Array]]]:
        pair = score_array(scores, "pair", self.shapes["pair"], None)
        jump = score_array(scores, "jump", self.shapes["jump"], pair.dtype)
        for group in self._groups:
            node = np.full((len(group.places), group.places.shape[1] + 1), 0.0, pair.dtype)
            node[:, :-1] = pair[group.places]
            yield group, {"node": node, "edge": jump[group.bins]}

    def _each(self, scores: Scores, ask: Callable[[ChainBatch, Any], Array]) -> Array:
        result = np.zeros(self.n_instances)
        for group, theta in self._chains(scores):
            result[group.items] = self._asked(group, theta, ask)
        return result

    def _asked(self, group: _Group, theta: Any, ask: Callable[[ChainBatch, Any], Answer]) -> Answer:
        """Ask chains; what they refuse is named by the number of the item."""
        try:
            return ask(group.batch, theta)
        except (InfeasibleError, ScoreError) as error:
            for k, item in enumerate(group.items.tolist()):
                try:
                    group.batch.take([k]).argmax(group.batch.cut(theta, [k]))
                except (InfeasibleError, ScoreError):
                    message = str(error).replace("labelling", "alignment")
                    raise type(error)(message.replace(f"Sequence {k} ", f"Item {item} ")) from None
            raise

    def _zeros(self, scores: Scores) -> dict[str, Array]:
        dtype = score_array(scores, "pair", self.shapes["pair"], None).dtype
        return {name: np.zeros(shape, dtype) for name, shape in self.shapes.items()}


class _Group(NamedTuple):
    """Items with equally many rows."""

    items: Array
    batch: ChainBatch
    places: Array
    """(positions, m): the number of the pair of each column and row."""
    bins: Array
    """(m + 1, m + 1): which jump score belongs to two neighbours' labels."""

    def write(self, outputs: Array, labels: Array) -> None:
        """Write labels as pairs."""
        there = np.flatnonzero((labels >= 0) & (labels < self.places.shape[1]))
        outputs[self.places[there, labels[there]]] = 1

    def jumps(self, outputs: Array) -> tuple[Array, Array]:
        """Return the jump scores of an output, and which of the items each belongs to."""
        table = outputs[self.places]
        labels = np.where(table.any(axis=1), table.argmax(axis=1) if table.shape[1] else 0, table.shape[1])
        tails, heads = self.batch.edge_tails, self.batch.edge_heads
        items = np.searchsorted(self.batch.offsets, heads, side="right") - 1
        return self.bins[labels[tails], labels[heads]], items

    def gather(self, chain_parts: Scores, into: dict[str, Array]) -> None:
        """Add parts of chains to those of pairs and jumps."""
        into["pair"][self.places] = chain_parts["node"][:, :-1]
        counts = np.bincount(self.bins.ravel(), chain_parts["edge"].ravel(), len(into["jump"]))
        into["jump"] += counts.astype(into["jump"].dtype)


def _of_group(weights: Array | None, group: _Group) -> Array | None:
    return None if weights is None else np.asarray(weights)[group.items]


def _marginals(batch: ChainBatch, theta: Scores, weights: Array | None) -> Marginals:
    return batch.marginals(theta, weights)


def _covariance(
    batch: ChainBatch, theta: Scores, direction: Scores, weights: Array | None
) -> dict[str, Array]:
    return batch.covariance(theta, direction, weights)


def _sample(batch: ChainBatch, theta: Scores, count: int, seed: int) -> Array:
    return batch.sample(theta, count, seed)
