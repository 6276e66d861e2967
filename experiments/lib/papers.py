"""Models of papers that cite each other: of each by itself, and of all together."""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from kernelfields import FreeScores, Parts
from kernelfields.arrays import Array
from kernelfields.datasets import CitationGraph
from kernelfields.estimators import CRF, KernelCRF
from kernelfields.kernels import RBF
from kernelfields.losses import VariationalEM
from kernelfields.structures import Graph, MeanField

FLAT = 10.0
"""An intercept as a feature of this size has hardly a penalty: there are as many labels to learn from of each
field, but not as many papers."""


class Guess(NamedTuple):
    """What a model says of all papers."""

    marginals: Array
    seconds: float
    gap: float


def content(
    features: sparse.csr_matrix, graph: CitationGraph, choice: dict[str, float], tol: float, *, kernel: bool
) -> Guess:
    """Learn from each labelled paper by itself."""
    started = perf_counter()
    rows = _with_intercept(features)
    X, y = [rows[v] for v in graph.train], [[int(graph.labels[v])] for v in graph.train]
    model: Any
    if kernel:
        model = KernelCRF(
            RBF(gamma=choice["gamma"]), penalty=choice["penalty"], parts=Parts(boundaries=None), tol=tol
        )
        X = [x.toarray() for x in X]
    else:
        model = CRF(choice["penalty"], parts=Parts(bias=None, boundaries=None), tol=tol)
    model.fit(X, y)
    whole = rows.toarray() if kernel else rows
    marginals = np.concatenate(model.predict_marginals(whole, lengths=[1] * rows.shape[0]))
    return Guess(marginals, perf_counter() - started, model.certificate_.relative_gap)


def collective(
    features: sparse.csr_matrix,
    graph: CitationGraph,
    choice: dict[str, float],
    tol: float,
    seed: int | None,
) -> Guess:
    """Learn weights of words and of label pairs from all papers, those without a label by beliefs."""
    started = perf_counter()
    em = VariationalEM(
        rounds=int(choice["rounds"]), weight=choice["weight"], temperature=choice["temperature"], seed=seed
    )
    model = CRF(
        choice["penalty"],
        parts=Parts(edges=FreeScores(penalty=choice["edge_penalty"]), bias=None, boundaries=None),
        structure=Graph(inference=MeanField(tol=1e-4)),
        loss=em,
        tol=tol,
    )
    X, y = [(_with_intercept(features), graph.edges)], [graph.known(graph.train)]
    model.fit(X, y)
    marginals = model.predict_marginals(X, allowed=y)[0]
    assert model.certificate_ is not None
    return Guess(marginals, perf_counter() - started, model.certificate_.relative_gap)


def words(words: sparse.csr_matrix, *, rare: bool) -> sparse.csr_matrix:
    """Return words that count by how rare they are, or all alike; rows of length one."""
    if rare:
        found = np.maximum(np.asarray(words.sum(axis=0)).ravel(), 1)
        words = words @ sparse.diags(np.log(words.shape[0] / found))
    length = np.sqrt(np.asarray(words.multiply(words).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.where(length > 0, length, 1)) @ words)


def even(features: Any) -> Any:
    """Return features with rows of length one on average."""
    size = features.multiply(features).sum() if sparse.issparse(features) else np.square(features).sum()
    return features * np.sqrt(features.shape[0] / size)


def pruned(features: Any, least: float) -> sparse.csr_matrix:
    """Return features without those that are small beside the largest of their paper."""
    rows = features.toarray() if sparse.issparse(features) else features
    return sparse.csr_matrix(np.where(rows < least * rows.max(axis=1, keepdims=True), 0.0, rows))


def _with_intercept(features: sparse.csr_matrix) -> sparse.csr_matrix:
    return sparse.hstack([features, np.full((features.shape[0], 1), FLAT)], format="csr")
