"""A training set of tokens, and fits of many kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelfields import (
    CRF,
    HMM,
    MEMM,
    GPSequenceClassifier,
    KernelCRF,
    LinearScores,
    Parts,
    Run,
    StructuredSVM,
)
from kernelfields.approximation import Nystroem
from kernelfields.emissions import FullGaussian, GaussianMixture
from kernelfields.losses import Log
from kernelfields.selection import GreedyCliques
from kernelfields.structures import Dependency, Segments


def sentences(count: int = 40) -> tuple[list[Any], list[Any]]:
    """Words, of which every sentence has some that no other has, and labels."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for s in range(count):
        words = [f"w{i}" for i in rng.integers(0, 30, 3 + s % 5)] + [f"own{s}"]
        X.append([(word, word[-1]) for word in words])
        inside = [word[-1] < "5" for word in words]
        begins = [one and not (k and inside[k - 1]) for k, one in enumerate(inside)]
        y.append(["B-x" if b else "I-x" if i else "O" for b, i in zip(begins, inside, strict=True)])
    return X, y


def numbers(dtype: Any = np.float64) -> tuple[list[Any], list[Any]]:
    """Rows of numbers, and labels."""
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(4 + s % 3, 3)).astype(dtype) for s in range(12)]
    return X, [["ab"[int(row[0] + 0.5 * row[1] > 0)] for row in x] for x in X]


def trees() -> tuple[list[Any], list[Any]]:
    """Sentences with heads."""
    X, _ = sentences(8)
    return X, [[0, *range(1, len(x))] for x in X]


KERNEL = {"tol": 1e-6, "run": Run(dtype="float64"), "random_state": 0}
TOKENS = {"features": "chunking", "tol": 1e-7}
FITS: dict[str, tuple[Any, Any]] = {
    "tokens": (CRF(0.3, **TOKENS), sentences),
    "l1": (CRF(0.3, l1=0.05, **TOKENS), sentences),
    "newton": (CRF(0.3, solver="newton-cg", **TOKENS), sentences),
    "observed only": (CRF(0.3, observed_only=True, **TOKENS), sentences),
    "rules": (CRF(0.3, constraints="iob2", **TOKENS), sentences),
    "class weights": (CRF(0.3, loss=Log(class_weight="balanced"), **TOKENS), sentences),
    "segments": (CRF(0.3, structure=Segments(4), **TOKENS), sentences),
    "second order": (CRF(0.3, structure="chain2", **TOKENS), sentences),
    "dependencies": (CRF(0.3, structure=Dependency(), features="arcs", tol=1e-7), trees),
    "numbers": (CRF(0.3, tol=1e-7), numbers),
    "single precision": (CRF(0.3, tol=1e-5), lambda: numbers(np.float32)),
    "edge features": (CRF(0.3, parts=Parts(edge_features=LinearScores()), tol=1e-7), numbers),
    "pseudo": (CRF(0.3, loss="pseudo", tol=1e-7), numbers),
    "memm": (MEMM(0.3, tol=1e-7), numbers),
    "kernel": (KernelCRF("rbf", penalty=0.3, **KERNEL), numbers),
    "landmarks": (
        KernelCRF("rbf", penalty=0.3, basis=Nystroem(8), **KERNEL),
        numbers,
    ),
    "selected": (
        KernelCRF("rbf", penalty=0.3, basis=GreedyCliques(6), **KERNEL),
        numbers,
    ),
    "margin": (StructuredSVM(penalty=0.3, features="chunking", tol=1e-6), sentences),
    "kernel margin": (StructuredSVM("rbf", penalty=0.3, tol=1e-6, run=Run(dtype="float64")), numbers),
    "gaussian process": (GPSequenceClassifier("rbf", tol=1e-6), numbers),
}


def _hmms() -> dict[str, tuple[Any, Any, Any]]:
    rows, _ = numbers()
    counts = [np.abs(np.round(3 * x)) for x in rows]
    gaps = [np.where(np.arange(x.size).reshape(x.shape) % 7 == 3, np.nan, x) for x in rows]
    words = [[f"w{int(n) % 4}" for n in x[:, 0]] for x in counts]
    weight = np.linspace(0.5, 2, len(rows))
    settings: dict[str, Any] = {"n_states": 2, "max_iter": 6, "tol": 0, "random_state": 0}

    def model(emissions: Any) -> HMM:
        return HMM(emissions, **settings)

    return {
        "gaussian": (model("gaussian"), rows, None),
        "weights": (model("gaussian"), rows, weight),
        "full": (model(FullGaussian()), rows, None),
        "gaps in some shards": (model("gaussian"), [*rows[:8], *gaps[8:]], None),
        "mixture": (model(GaussianMixture(2)), rows, None),
        "symbols": (model("categorical"), words, None),
        "symbols with weights": (model("categorical"), words, weight),
        "counts": (model("poisson"), counts, None),
        "multinomial": (model("multinomial"), counts, None),
        "yes and no": (model("bernoulli"), [np.minimum(x, 1) for x in counts], None),
    }


HMMS = _hmms()
