"""One side of ``kernel_sparse``, alone in a process: seconds of the fit, peak memory, accuracy.

python -m benchmarks._kernel_sparse_side ours|nystroem_logistic|nystroem_sgd RANK SEED [CHAINS]
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

DISTANCE = 1e-3
"""Relative, from the minimum of the objective: ours is certified to be so close."""
LIMITS = (25, 50, 100, 200, 400)
"""Of the rival's iterations; what the last one reaches stands for its minimum, to its advantage."""
BISECTIONS = 2


def ours(train: Residues, blind: Residues, rank: int, seed: int) -> dict[str, Any]:
    """A kernel CRF on so many landmarks, to a certified relative gap of 1e-3."""
    from kernelfields import KernelCRF, Parts
    from kernelfields.approximation import Nystroem
    from kernelfields.kernels import RBF
    from kernelfields.metrics import transition_accuracy

    model = KernelCRF(
        RBF(GAMMA),
        penalty=PENALTY,
        basis=Nystroem(rank),
        random_state=seed,
        parts=Parts(bias=None),
        decoder="posterior",
    )
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
    """Landmarks and logistic regression of scikit-learn, without edges, as close to its own minimum.

    It has no such stopping rule: limits of iterations are tried, and the least of them that comes so close
    is the one whose time counts.
    """
    from sklearn.kernel_approximation import Nystroem

    features = Nystroem(kernel="rbf", gamma=GAMMA, n_components=rank, random_state=seed)
    labels = list(joined.from_iterable(train.labels))
    started = time.perf_counter()
    mapped = features.fit_transform(train.X)
    mapping = time.perf_counter() - started
    fits = [_logistic(mapped, labels, limit) for limit in LIMITS]
    least = min(fit.value for fit in fits)
    close = [fit.value <= (1 + DISTANCE) * least for fit in fits].index(True)
    few, fit = (0, *LIMITS)[close], fits[close]
    for _ in range(BISECTIONS):
        tried = _logistic(mapped, labels, (few + fit.limit) // 2)
        few, fit = (few, tried) if tried.value <= (1 + DISTANCE) * least else (tried.limit, fit)
    predicted = _cut(fit.classifier.predict(features.transform(blind.X)).tolist(), blind)
    return {
        "seconds": mapping + fit.seconds,
        "iterations": int(fit.classifier.n_iter_[0]),
        "distance": fit.value / least - 1,
        "q3": 100 * _q3(predicted, blind),
    }


def nystroem_sgd(train: Residues, blind: Residues, rank: int, seed: int) -> dict[str, Any]:
    """The same landmarks, and stochastic gradient descent until its own rule ends it."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier

    features = Nystroem(kernel="rbf", gamma=GAMMA, n_components=rank, random_state=seed)
    labels = list(joined.from_iterable(train.labels))
    classifier = SGDClassifier(loss="log_loss", alpha=PENALTY / len(labels), random_state=seed)
    started = time.perf_counter()
    classifier.fit(features.fit_transform(train.X), labels)
    seconds = time.perf_counter() - started
    predicted = _cut(classifier.predict(features.transform(blind.X)).tolist(), blind)
    return {"seconds": seconds, "iterations": int(classifier.n_iter_), "q3": 100 * _q3(predicted, blind)}


class _Fit(NamedTuple):
    limit: int
    """Of its iterations."""
    classifier: Any
    seconds: float
    value: float


def _logistic(mapped: Any, labels: list[str], limit: int) -> _Fit:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    classifier = LogisticRegression(C=1 / PENALTY, max_iter=limit, tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        started = time.perf_counter()
        classifier.fit(mapped, labels)
        seconds = time.perf_counter() - started
    return _Fit(limit, classifier, seconds, _logistic_value(classifier, mapped, labels))


def _logistic_value(classifier: Any, mapped: Any, labels: list[str]) -> float:
    """The objective of a logistic regression: log loss and λ‖w‖²/2."""
    scores = mapped @ classifier.coef_.T.astype(mapped.dtype) + classifier.intercept_
    scores = scores - scores.max(axis=1, keepdims=True)
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    truth = np.searchsorted(classifier.classes_, labels)
    loss = -log_p[np.arange(len(truth)), truth].sum(dtype=np.float64)
    return float(loss + 0.5 * PENALTY * np.square(classifier.coef_).sum(dtype=np.float64))


def _cut(flat: list[Any], blind: Residues) -> list[list[Any]]:
    """Labels of all residues, chain by chain."""
    ends = np.cumsum(blind.lengths)
    return [flat[b - n : b] for n, b in zip(blind.lengths, ends, strict=True)]


def _q3(predicted: list[list[Any]], blind: Residues) -> float:
    pairs = zip(joined.from_iterable(predicted), joined.from_iterable(blind.labels), strict=True)
    return float(np.mean([one == other for one, other in pairs]))


def main() -> None:
    side, rank, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chains = int(sys.argv[4]) if len(sys.argv) > 4 else None
    train, blind = read(*range(1, 8), chains=chains), read(0, chains=chains)
    call = {"ours": ours, "nystroem_logistic": nystroem_logistic, "nystroem_sgd": nystroem_sgd}[side]
    result = call(train, blind, rank, seed)
    print(json.dumps({**result, "residues": len(train.X), "peak_mb": peak_megabytes()}))


if __name__ == "__main__":
    main()
