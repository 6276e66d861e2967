"""Several labels for every row by scikit-learn: independent of each other, in chains, and chains averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.svm import SVC

from kernelfields.arrays import Array
from kernelfields.datasets import Scenes

from .folds import Fold


class Judged(NamedTuple):
    """What was predicted for test rows, and how likely their labels were taken to be."""

    name: str
    labels: Array
    log_likelihood: Array
    """log p(y|x) of every row."""


@dataclass(frozen=True)
class Base:
    """A classifier for a single label, with values to choose its settings from."""

    name: str
    make: Callable[..., Any]
    """From some numbers to a classifier with probabilities."""
    choices: Sequence[tuple[float, ...]]


def logistic(costs: Sequence[float]) -> Base:
    """Return logistic regression, by its C."""
    return Base(
        "logistic regression", lambda C: LogisticRegression(C=C, max_iter=5000), [(C,) for C in costs]
    )


def machine(
    name: str, kernel: Callable[[float], Any], costs: Sequence[float], gammas: Sequence[float]
) -> Base:
    """Return an SVM by C and the γ of its kernel; its probabilities are a sigmoid of its decisions."""
    return Base(
        f"SVC, {name}",
        lambda C, gamma: CalibratedClassifierCV(SVC(C=C, kernel=kernel(gamma)), ensemble=False),
        [(C, gamma) for C in costs for gamma in gammas],
    )


def settled(base: Base, train: Scenes, folds: Sequence[Fold]) -> Any:
    """Return the classifier whose settings get the fewest single labels wrong in cross-validation."""
    X, y = train.features, train.labels

    def wrong(choice: tuple[float, ...]) -> float:
        model = MultiOutputClassifier(base.make(*choice))
        errors = [model.fit(X[f.train], y[f.train]).predict(X[f.test]) != y[f.test] for f in folds]
        return float(np.concatenate(errors).mean())

    few = base.choices if len(base.choices) == 1 else [min(base.choices, key=wrong)]
    return base.make(*few[0])


def rivals(name: str, classifier: Any, train: Scenes, test: Scenes, n_chains: int) -> Iterator[Judged]:
    """Fit independent labels, chains in random orders if any, and the average of the latter."""
    X, y = train.features, train.labels
    single = MultiOutputClassifier(clone(classifier)).fit(X, y)
    likely = sum(
        _log_p(p, labels)
        for p, labels in zip(single.predict_proba(test.features), test.labels.T, strict=True)
    )
    yield Judged(f"independent, {name}", single.predict(test.features), np.asarray(likely))
    shares, joint = [], []
    for seed in range(n_chains):
        chain = ClassifierChain(clone(classifier), order="random", random_state=seed).fit(X, y)
        shares.append(chain.predict_proba(test.features))
        joint.append(_chain_log_p(chain, test))
        yield Judged(f"chain {seed + 1}, {name}", chain.predict(test.features).astype(int), joint[-1])
    if not joint:
        return
    mixture = np.logaddexp.reduce(joint, axis=0) - np.log(n_chains)
    yield Judged(f"average of chains, {name}", (np.mean(shares, axis=0) > 0.5).astype(int), mixture)


def _chain_log_p(chain: Any, test: Scenes) -> Array:
    """Return log p(y|x): every label given the features and the labels before it in the chain."""
    seen, result = test.features, np.zeros(len(test.labels))
    for k, one in zip(chain.order_, chain.estimators_, strict=True):
        result += _log_p(one.predict_proba(seen), test.labels[:, k])
        seen = np.column_stack([seen, test.labels[:, k]])
    return result


def _log_p(probabilities: Array, labels: Array) -> Array:
    """Return the logarithm of the probability of what was observed."""
    chosen = probabilities[np.arange(len(labels)), labels]
    result: Array = np.log(np.maximum(chosen, np.finfo(float).tiny))
    return result
