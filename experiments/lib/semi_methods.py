"""Methods that label many sequences from a few: with a kernel, with a graph alone, with both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np

from kernelfields import FreeScores, Parts
from kernelfields.arrays import Array
from kernelfields.estimators import KernelCRF, StructuredSVM
from kernelfields.kernels import Kernel

from .few_labels import Candidate
from .folds import pick
from .semi_pool import SequencePool


class SemiMethod(Protocol):
    """Learns from some sequences of a pool and labels others."""

    @property
    def choices(self) -> Sequence[Any]:
        """Settings to choose from, those that smooth most first."""
        ...

    def label(self, choice: Any, few: Array, others: Array) -> list[Any]:
        """Return the labels of other sequences."""
        ...


@dataclass
class FieldMethod:
    """A kernel CRF."""

    pool: SequencePool
    choices: Sequence[Candidate]
    edge_penalty: float
    tol: float
    gap: float = 0.0
    """Largest relative gap so far."""

    def label(self, choice: Candidate, few: Array, others: Array) -> list[Any]:
        """Decide label by label."""
        model = KernelCRF(
            choice.kernel,
            penalty=choice.penalty,
            parts=Parts(edges=FreeScores(penalty=self.edge_penalty), bias=None, boundaries=None),
            classes=self.pool.classes,
            decoder="posterior",
            tol=self.tol,
        ).fit(pick(self.pool.sequences, few), pick(self.pool.y, few))
        assert model.certificate_ is not None
        self.gap = max(self.gap, model.certificate_.relative_gap)
        return model.predict(pick(self.pool.sequences, others))


def field_methods(
    pool: SequencePool,
    kernels: Mapping[str, Sequence[Kernel]],
    penalties: Sequence[float],
    edge_penalty: float,
    tol: float,
) -> dict[str, FieldMethod]:
    """Return a kernel CRF for each name, which chooses among its kernels and all penalties."""
    return {
        name: FieldMethod(
            pool,
            [Candidate(kernel, penalty) for penalty, kernel in product(penalties, some)],
            edge_penalty,
            tol,
        )
        for name, some in kernels.items()
    }


@dataclass(frozen=True)
class MarginMethod:
    """A structured SVM."""

    pool: SequencePool
    choices: Sequence[Candidate]
    tol: float

    def label(self, choice: Candidate, few: Array, others: Array) -> list[Any]:
        """Return the best labelling of every sequence."""
        model = StructuredSVM(
            kernel=choice.kernel,
            penalty=choice.penalty,
            parts=Parts(bias=None, boundaries=None),
            classes=self.pool.classes,
            tol=self.tol,
        ).fit(pick(self.pool.sequences, few), pick(self.pool.y, few))
        return model.predict(pick(self.pool.sequences, others))


@dataclass(frozen=True)
class SingleMargin:
    """Support vector machines of scikit-learn, for single observations."""

    pool: SequencePool
    choices: Sequence[Candidate]

    def label(self, choice: Candidate, few: Array, others: Array) -> list[Any]:
        """Label every observation by itself; C is 1/λ."""
        from sklearn.svm import SVC

        known, rest = (np.concatenate(pick(self.pool.sequences, ids)) for ids in (few, others))
        model = SVC(C=1 / choice.penalty, kernel="precomputed")
        model.fit(choice.kernel.block(known, known), self.pool.labels(few))
        return self.pool.divided(model.predict(choice.kernel.block(rest, known)), others)


Spreading = Callable[[Array, Any], Array]
"""From labels of vertices, −1 for none, and settings to scores, NaN where no label gets to: a (V, l) array
with columns up to the last label that is known, or all."""


@dataclass(frozen=True)
class GraphMethod:
    """A method that knows the graph and no sequences."""

    pool: SequencePool
    choices: Sequence[Any]
    spreading: Spreading

    def label(self, choice: Any, few: Array, others: Array) -> list[Any]:
        """Take the best label of every vertex; where there is none, the commonest of all."""
        vertices, labels = self.pool.graph.inverse[self.pool.rows(few)], self.pool.labels(few)
        known = np.full(self.pool.graph.size, -1)
        known[vertices[::-1]] = labels[::-1]  # the first of equal observations counts
        found = self.spreading(known, choice)[self.pool.graph.inverse[self.pool.rows(others)]]
        more = len(self.pool.classes) - found.shape[1]
        found = np.pad(found, ((0, 0), (0, more)), constant_values=-np.inf)
        lost = np.isnan(found).any(axis=1)
        found[lost] = np.bincount(labels, minlength=found.shape[1])[: found.shape[1]]
        return self.pool.divided(found.argmax(axis=1), others)
