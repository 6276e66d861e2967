"""Sequences of which a few have labels, with a graph over the observations of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kernelfields.arrays import Array, offsets_of
from kernelfields.graphs import Regularised, SparseGraph, laplacian, lowest_eigenpairs
from kernelfields.kernels import RBF, Columns, Kernel, Linear

TOLERANCE = 1e-4
"""Of eigenpairs: far below what settings are chosen between."""


@dataclass(frozen=True, eq=False)
class SequencePool:
    """Sequences to label; which of them have labels differs from trial to trial.

    A graph kernel is linear in its features √ρ(e_i) v_i(x), and these are computed once for all trials: they
    stand behind the given columns of an observation, one group for every ε.
    """

    given: list[Array]
    y: list[list[Any]]
    graph: SparseGraph
    """Over all observations, in their order."""
    n_eigenpairs: int
    epsilons: list[float]

    @cached_property
    def sequences(self) -> list[Array]:
        """All sequences with the features of graph kernels."""
        whole = np.hstack([np.concatenate(self.given), *self._features()]).astype(np.float32)
        return np.split(whole, self.offsets[1:-1])

    def _features(self) -> list[Array]:
        pairs = lowest_eigenpairs(laplacian(self.graph), self.n_eigenpairs, TOLERANCE)
        found = []
        for epsilon in self.epsilons:
            basis = pairs.vectors * np.sqrt(Regularised(epsilon)(pairs.values))
            # As `GraphKernel` does: kernel values of 1 in the mean.
            found.append((basis / np.sqrt(np.square(basis).sum() / self.graph.size))[self.graph.inverse])
        return found

    @cached_property
    def offsets(self) -> Array:
        """Where sequences begin in the rows of all."""
        return offsets_of([len(y) for y in self.y])

    @cached_property
    def classes(self) -> list[Any]:
        """All labels, sorted."""
        return sorted({label for y in self.y for label in y})

    def equal_share(self) -> float:
        """Return the share of edges between observations with equal labels, were all of them known."""
        labels = np.empty(self.graph.size, dtype=np.int64)
        labels[self.graph.inverse] = self.labels(range(len(self.y)))
        edges = self.graph.adjacency.tocoo()
        return float(np.mean(labels[edges.row] == labels[edges.col]))

    def rows(self, ids: Iterable[int] | Array) -> Array:
        """Return the numbers of the observations of some sequences."""
        return np.concatenate([np.arange(self.offsets[i], self.offsets[i + 1]) for i in ids])

    def labels(self, ids: Iterable[int] | Array) -> Array:
        """Return the labels of the observations of some sequences, as numbers."""
        return np.searchsorted(self.classes, np.concatenate([self.y[i] for i in ids]))

    def divided(self, labels: Array, ids: Array) -> list[list[Any]]:
        """Return the labels of every sequence, from numbers for all their observations."""
        ends = np.cumsum([len(self.y[i]) for i in ids])[:-1]
        return [np.asarray(self.classes)[part].tolist() for part in np.split(labels, ends)]

    def radial(self, gamma: float) -> Kernel:
        """Return an RBF kernel on the given columns."""
        return Columns(RBF(gamma), slice(0, self.given[0].shape[1]))

    def graph_kernel(self, epsilon: float) -> Kernel:
        """Return the graph kernel with one of the ε."""
        width = min(self.n_eigenpairs, self.graph.size)
        start = self.given[0].shape[1] + self.epsilons.index(epsilon) * width
        return Columns(Linear(), slice(start, start + width))
