"""Tiny training sets for a sweep and for the textbook."""

import numpy as np
from scipy import sparse

from kernelfields.arrays import offsets_of
from kernelfields.objective import Term
from kernelfields.objective.linear_chain import Offsets
from kernelfields.online import Sweep
from kernelfields.spaces import Boundary, Free, SparseFeatures, WeightPairs
from kernelfields.structures import ChainBatch
from kernelfields.testing.online import candidates

LENGTHS = [4, 1, 3, 5, 2, 1, 4]


class Tiny:
    """One training set, and start weights that leave no ties."""

    def __init__(
        self,
        rng,
        n_labels=3,
        dtype=np.float64,
        binary=False,
        observed=False,
        bias=True,
        boundaries=True,
        forbidden=None,
        penalties=(0.7, 0.3),
        weights=None,
        lengths=LENGTHS,
    ):
        D, L = 6, n_labels
        self.chain = ChainBatch(offsets_of(lengths), L)
        N = self.chain.n_vertices
        X = (rng.random((N, D)) < 0.4) * (1.0 if binary else rng.normal(size=(N, D)))
        self.labels = self._labels(rng, lengths, L, forbidden)
        features = sparse.csr_matrix(X.astype(dtype))
        seen = np.zeros((L, L), bool)
        seen[self.labels[self.chain.edge_tails], self.labels[self.chain.edge_heads]] = True
        pairs = WeightPairs.of(features, L, self.labels if observed else None)
        self.nodes = SparseFeatures(self.chain, "node", features, pairs)
        self.terms = [Term("features", self.nodes, penalties[0])]
        if bias:
            self.terms.append(Term("bias", Free(self.chain, "node"), penalties[0]))
        if boundaries:
            self.terms.append(Term("boundaries", Boundary(self.chain), penalties[0]))
        self.terms.append(
            Term("edges", Free(self.chain, "edge", support=seen if observed else None), penalties[1])
        )
        offset = Offsets(np.zeros((3, L)), np.zeros((L, L)))
        if forbidden is not None:
            offset = Offsets(rng.normal(size=(3, L)).astype(dtype), np.where(forbidden, -np.inf, 0.0))
        self.weights = weights
        self.sweep = Sweep(self.chain, self.terms, self.labels, weights, offset)
        has = np.zeros((D, L))
        has[pairs.feature, pairs.label] = 1
        edges = (seen if observed else np.ones((L, L))).ravel()
        self.mask = np.concatenate([has.ravel(), np.full(L, bias), np.full(2 * L, boundaries), edges]).astype(
            float
        )
        count = len(lengths)
        self.decay = np.concatenate(
            [np.full(len(self.mask) - L * L, penalties[0] / count), np.full(L * L, penalties[1] / count)]
        )
        self.start = rng.normal(size=len(self.mask)) * self.mask
        self.sweep.load(self.element(self.start))
        dense = features.toarray().astype(float)
        self.sequences = [
            candidates(dense[a:b], self.labels[a:b], self.mask, *offset)
            for a, b in zip(self.chain.offsets[:-1], self.chain.offsets[1:], strict=True)
        ]

    @staticmethod
    def _labels(rng, lengths, L, forbidden):
        labels = []
        for length in lengths:
            for t in range(length):
                choice = rng.integers(L)
                while t > 0 and forbidden is not None and forbidden[labels[-1], choice]:
                    choice = rng.integers(L)
                labels.append(choice)
        return np.array(labels, dtype=np.int32)

    def element(self, w):
        """Give the textbook's weights as an element of the spaces."""
        D, L = self.nodes.matrix.shape[1], self.chain.n_labels
        nodes, bias, ends, edges = np.split(w, [D * L, D * L + L, D * L + 3 * L])
        parts = {
            "features": self.nodes.element(nodes.reshape(D, L)),
            "bias": bias,
            "boundaries": ends,
            "edges": edges,
        }
        return np.concatenate([parts[term.name] for term in self.terms])
