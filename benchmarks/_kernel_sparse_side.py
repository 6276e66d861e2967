"""One side of ``kernel_sparse``, alone in a process: seconds of the fit, peak memory, accuracy.

python -m benchmarks._kernel_sparse_side ours|nystroem_logistic RANK SEED [CHAINS]
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from itertools import chain as joined
from typing import Any, NamedTuple

import numpy as np

from ._proteins import GAMMA, PENALTY, Residues, read
from ._train_side import peak_megabytes

GAP = 1e-3
FIRST, LAST, BISECTIONS = 25, 800, 2
"""Limits of iterations: doubled from the first to at most the last, then bisected."""


def ours(train: Residues, blind: Residues, rank: int, seed: int) -> dict[str, Any]:
    """A kernel CRF on so many landmarks, to a certified relative gap of 1e-3."""
    from kernelfields import KernelCRF
    from kernelfields.kernels import RBF
    from kernelfields.metrics import transition_accuracy
    from kernelfields.selection import Nystroem

    model = KernelCRF(RBF(GAMMA), PENALTY, approximation=Nystroem(rank), random_state=seed)
    started = time.perf_counter()
    model.fit(train.X, train.labels, lengths=train.lengths)
    seconds = time.perf_counter() - started
    predicted = model.predict(blind.X, lengths=blind.lengths)
    return {
        "seconds": seconds,
        "iterations": model.n_iter_,
        "gap": model.certificate_.relative_gap,
        "q3": 100 * _q3(predicted, blind),
        "transitions": 100 * transition_accuracy(blind.labels, predicted),
    }


def nystroem_logistic(train: Residues, blind: Residues, rank: int, seed: int) -> dict[str, Any]:
    """Landmarks and logistic regression of scikit-learn, without edges, to a relative gap of 1e-3 as well.

    It has no such stopping rule: limits of iterations are tried, and the least of them that reaches the gap
    is the one whose time counts.
    """
    from sklearn.kernel_approximation import Nystroem

    features = Nystroem(kernel="rbf", gamma=GAMMA, n_components=rank, random_state=seed)
    labels = list(joined.from_iterable(train.labels))
    started = time.perf_counter()
    mapped = features.fit_transform(train.X)
    mapping = time.perf_counter() - started
    few, fit = 0, _logistic(mapped, labels, FIRST)
    while fit.gap > GAP and fit.limit < LAST:
        few, fit = fit.limit, _logistic(mapped, labels, 2 * fit.limit)
    for _ in range(BISECTIONS):
        tried = _logistic(mapped, labels, (few + fit.limit) // 2)
        few, fit = (few, tried) if tried.gap <= GAP else (tried.limit, fit)
    flat = fit.classifier.predict(features.transform(blind.X)).tolist()
    ends = np.cumsum(blind.lengths)
    predicted = [flat[b - n : b] for n, b in zip(blind.lengths, ends, strict=True)]
    return {
        "seconds": mapping + fit.seconds,
        "iterations": int(fit.classifier.n_iter_[0]),
        "gap": fit.gap,
        "q3": 100 * _q3(predicted, blind),
    }


class _Fit(NamedTuple):
    limit: int
    """Of its iterations."""
    classifier: Any
    seconds: float
    gap: float


def _logistic(mapped: Any, labels: list[str], limit: int) -> _Fit:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    classifier = LogisticRegression(C=1 / PENALTY, max_iter=limit, tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        started = time.perf_counter()
        classifier.fit(mapped, labels)
        seconds = time.perf_counter() - started
    return _Fit(limit, classifier, seconds, _logistic_gap(classifier, mapped, labels))


def _logistic_gap(classifier: Any, mapped: Any, labels: list[str]) -> float:
    """The relative gap of a logistic regression by the dual value at its own probabilities.

    Σ entropies − ‖Φᵀ(p − y)‖²/2λ bounds the objective from below, as for ours; what the intercept, which has
    no penalty, leaves of Σ(p − y) is taken for 0.
    """
    scores = mapped @ classifier.coef_.T.astype(mapped.dtype) + classifier.intercept_
    scores = scores - scores.max(axis=1, keepdims=True)
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    p = np.exp(log_p)
    truth = np.searchsorted(classifier.classes_, labels)
    rest = p.copy()
    rest[np.arange(len(p)), truth] -= 1
    loss = -log_p[np.arange(len(p)), truth].sum(dtype=np.float64)
    value = loss + 0.5 * PENALTY * np.square(classifier.coef_).sum()
    mismatch = mapped.T @ rest.astype(mapped.dtype)
    bound = -(p * log_p).sum(dtype=np.float64) - np.square(mismatch, dtype=np.float64).sum() / (2 * PENALTY)
    return float((value - bound) / value)


def _q3(predicted: list[list[Any]], blind: Residues) -> float:
    pairs = zip(joined.from_iterable(predicted), joined.from_iterable(blind.labels), strict=True)
    return float(np.mean([one == other for one, other in pairs]))


def main() -> None:
    side, rank, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chains = int(sys.argv[4]) if len(sys.argv) > 4 else None
    train, blind = read(*range(1, 8), chains=chains), read(0, chains=chains)
    call = {"ours": ours, "nystroem_logistic": nystroem_logistic}[side]
    result = call(train, blind, rank, seed)
    print(json.dumps({**result, "residues": len(train.X), "peak_mb": peak_megabytes()}))


if __name__ == "__main__":
    main()
