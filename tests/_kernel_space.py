"""A kernel expansion in its plainest form, for tests of what must serve any space."""

from __future__ import annotations

import numpy as np

from kernelfields.spaces import BoundSpace


class PlainKernel(BoundSpace):
    """f(x_t, y) = Σ_s α_{s, y} k(x_s, x_t) on vertices; elements are α (N, L), then Kα."""

    clique = "node"

    def __init__(self, structure, gram):
        self.structure, self.gram = structure, gram
        self.size = 2 * structure.n_vertices * structure.n_labels

    def _halves(self, element):
        return element.reshape(2, self.structure.n_vertices, self.structure.n_labels)

    def add_scores(self, element, into):
        into += self._halves(element)[1]

    def adjoint(self, gradient):
        return (self.gram @ gradient).ravel()

    def representer(self, gradient):
        return np.concatenate([gradient.ravel(), self.adjoint(gradient)])

    def inner(self, left, right):
        return float(np.vdot(self._halves(left)[0], self._halves(right)[1]))

    def refreshed(self, element):
        return self.representer(self._halves(element)[0])

    @property
    def reach(self):
        return float(np.sqrt(np.diag(self.gram)).sum())

    def take(self, structure, ids):
        raise NotImplementedError
