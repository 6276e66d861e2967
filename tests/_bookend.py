"""A user's clique type: the first and the last position of a sequence, joined. A recursion and no part."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernelfields.arrays import offsets_of
from kernelfields.structures import (
    ChainBatch,
    Cliques,
    CovarianceOracle,
    LabelledBatch,
    Labelling,
    Marginals,
    MaxOracle,
    SampleOracle,
    Structure,
)


class BookendBatch(LabelledBatch, CovarianceOracle, MaxOracle, SampleOracle):
    """score(y) = that of a chain + bookend[y_1, y_T]: a sum over y_1 of chains whose first label is known."""

    def __init__(self, offsets, n_labels, own=frozenset()):
        self._offsets, self.n_labels, self.own = np.asarray(offsets), n_labels, frozenset(own)
        self.chain = ChainBatch(offsets, n_labels, "edge" not in self.own)
        self.long = np.flatnonzero(np.diff(self._offsets) > 1)
        self.first, self.last = self._offsets[:-1][self.long], self._offsets[1:][self.long] - 1

    @cached_property
    def cliques(self):
        there, ends = offsets_of(np.diff(self._offsets) > 1), np.stack([self.first, self.last]).T
        return {
            **self.chain.cliques,
            "bookend": Cliques(there, ends, (self.n_labels,) * 2, "bookend" not in self.own),
        }

    def take(self, ids):
        return BookendBatch(offsets_of(np.diff(self._offsets)[ids]), self.n_labels, self.own)

    def subtract_parts(self, into, outputs, weights=None):
        self.chain.subtract_parts(into, outputs, weights)
        count = np.ones(self.n_instances) if weights is None else weights
        where = () if into["bookend"].ndim == 2 else (np.arange(len(self.long)),)
        np.subtract.at(into["bookend"], (*where, outputs[self.first], outputs[self.last]), count[self.long])

    def _given(self, scores):
        """Yield the scores of the chain for every label of the first position."""
        table = np.broadcast_to(scores["bookend"], (len(self.long), self.n_labels, self.n_labels))
        for a in range(self.n_labels):
            node = np.array(scores["node"], dtype=np.float64)
            node[self.first] = np.where(np.arange(self.n_labels) == a, node[self.first], -np.inf)
            node[self.last] += table[:, a]
            yield a, {"node": node, "edge": np.asarray(scores["edge"], dtype=np.float64)}

    def score(self, scores, labels):
        result, table = self.chain.score(scores, labels), np.asarray(scores["bookend"], dtype=np.float64)
        where = () if table.ndim == 2 else (np.arange(len(self.long)),)
        result[self.long] += table[(*where, labels[self.first], labels[self.last])]
        return result

    def log_partition(self, scores):
        total = np.logaddexp.reduce([self.chain.log_partition(given) for _, given in self._given(scores)])
        return total - np.log(self.n_labels) * (np.diff(self._offsets) < 2)  # short ones count L times

    def marginals(self, scores, weights=None):
        every = [self.chain.log_partition(given) for _, given in self._given(scores)]
        share = np.exp(np.array(every) - np.logaddexp.reduce(every))
        parts = {name: np.zeros(shape, scores["node"].dtype) for name, shape in self.shapes.items()}
        for a, given in self._given(scores):
            each = self.chain.marginals(given, share[a] * (1 if weights is None else weights)).parts
            parts["node"] += each["node"]
            parts["edge"] += each["edge"]
            mine = each["node"][self.last]
            parts["bookend"][..., a, :] += mine.sum(axis=0) if parts["bookend"].ndim == 2 else mine
        return Marginals(self.log_partition(scores), parts)

    def entropy(self, scores):
        means = []
        for s in range(self.n_instances):
            one, cut = self.take([s]), self.cut(scores, [s])
            means.append(sum(np.vdot(cut[c], part) for c, part in one.marginals(cut).parts.items()))
        return self.log_partition(scores) - np.array(means)

    def covariance(self, scores, direction, weights=None):
        step = 1e-5  # by differences: nobody needs second derivatives to be fast here
        high, low = ({c: scores[c] + sign * step * direction[c] for c in self.cliques} for sign in (1, -1))
        after, before = self.marginals(high, weights).parts, self.marginals(low, weights).parts
        return {c: (after[c] - before[c]) / (2 * step) for c in after}

    def sample(self, scores, count, seed):
        every = np.array([self.chain.log_partition(given) for _, given in self._given(scores)])
        sums = np.cumsum(np.exp(every - np.logaddexp.reduce(every)), axis=0)[:, None]
        chosen = (np.random.default_rng(seed).random((count, self.n_instances)) > sums[:-1]).sum(axis=0)
        draws = np.array([self.chain.sample(given, count, seed + a) for a, given in self._given(scores)])
        which = np.repeat(chosen, np.diff(self._offsets), axis=1)
        return np.take_along_axis(draws, which[None], axis=0)[0]

    def argmax(self, scores):
        found = [self.chain.argmax(given) for _, given in self._given(scores)]
        best = np.argmax([one.value for one in found], axis=0)
        labels = np.array([one.labels for one in found])[self.per_output(best), np.arange(self.n_vertices)]
        return Labelling(labels, np.max([one.value for one in found], axis=0))


@dataclass(frozen=True)
class Bookend(Structure):
    """Sequences whose first and last labels depend on each other."""

    def on(self, offsets, links, n_labels, *, own=frozenset()):
        return BookendBatch(offsets, n_labels, own)
