"""A user's clique type: the first and the last position of a sequence, joined. A recursion and no part."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernelfields.arrays import offsets_of
from kernelfields.structures import ChainBatch, Cliques, Labelling, Marginals, MaxOracle, Structure, SumBatch


class BookendBatch(SumBatch, MaxOracle):
    """score(y) = that of a chain + bookend[y_1, y_T]: the pairs (y_1, y_t) are a chain of L² labels."""

    def __init__(self, offsets, n_labels, own=frozenset()):
        super().__init__(offsets, n_labels, own)
        self.chain = ChainBatch(offsets, n_labels, "edge" not in self.own)
        self.pairs = ChainBatch(offsets, n_labels**2, "edge" not in self.own)
        self.long = np.diff(self.offsets) > 1
        self.ends = np.stack([self.offsets[:-1][self.long], self.offsets[1:][self.long] - 1]).T

    @cached_property
    def cliques(self):
        values, shared = (self.n_labels, self.n_labels), "bookend" not in self.own
        return {**self.chain.cliques, "bookend": Cliques(offsets_of(self.long), self.ends, values, shared)}

    def _of_pairs(self, scores):
        """Return scores of (y_1, y_t): both are one label where a sequence starts, and y_1 never changes."""
        L, same = self.n_labels, np.where(np.eye(self.n_labels), 0, -np.inf)
        node = np.repeat(scores["node"][:, None], L, axis=1)
        node[self.chain.first_positions] += same
        node[self.ends[:, 1]] += scores["bookend"]
        edge = scores["edge"][..., None, :, None, :] + same[:, None, :, None]
        return {"node": node.reshape(-1, L**2), "edge": edge.reshape(self.pairs.shapes["edge"])}

    def marginals(self, scores, weights=None):
        L, (value, parts) = self.n_labels, self.pairs.marginals(self._of_pairs(scores), weights)
        node, edge = parts["node"].reshape(-1, L, L), parts["edge"].reshape(-1, L, L, L, L)
        edge = np.einsum("eabac->ebc", edge).reshape(self.shapes["edge"])
        last = node[self.ends[:, 1]]
        bookend = last if "bookend" in self.own else last.sum(axis=0)
        return Marginals(value, {"node": node.sum(axis=1), "edge": edge, "bookend": bookend})

    def argmax(self, scores):
        labels, value = self.pairs.argmax(self._of_pairs(scores))
        return Labelling(labels % self.n_labels, value)


@dataclass(frozen=True)
class Bookend(Structure):
    """Sequences whose first and last labels depend on each other."""

    def on(self, offsets, links, n_labels, *, own=frozenset()):
        return BookendBatch(offsets, n_labels).untied(own)
