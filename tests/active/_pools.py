"""Small pools with fitted models, and what enumeration says about them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelfields import CRF, HMM, KernelCRF
from kernelfields.testing import Enumerated

EDGES = [(0, 1), (1, 2), (2, 0), (2, 3)]


class Case(NamedTuple):
    """A fitted model, with items to ask about and what is known of them."""

    model: Any
    X: Any
    known: Any


def items(structure, seed=0, count=6):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 5, count)
    features = [rng.normal(size=(n, 2)) for n in lengths]
    if structure == "tree":
        return [(x, [-1, *(max(0, t - 2) for t in range(1, len(x)))]) for x in features]
    if structure == "graph":
        return [(rng.normal(size=(4, 2)), EDGES) for _ in range(count)]
    return features


def labels_of(X, structure):
    every = [item[0] if structure in ("tree", "graph") else item for item in X]
    return [["abc"[int(np.clip(row[0] + row[1] + 1.5, 0, 2))] for row in x] for x in every]


def case(structure="chain", kernel=False):
    X = items(structure, 1)
    y = labels_of(X, structure)
    kind = KernelCRF("rbf", penalty=0.3, structure=structure) if kernel else CRF(0.3, structure=structure)
    model = kind.fit(X, y)
    pool = items(structure, 2)
    known = [None for _ in pool]
    sizes = [len(item[0]) if structure in ("tree", "graph") else len(item) for item in pool]
    known[1] = ["a", *[None] * (sizes[1] - 1)]
    known[2] = ["b"] * sizes[2]
    return Case(model, pool, known)


def hmm_case():
    X = items("chain", 1)
    model = HMM("gaussian").fit(X, labels_of(X, "chain"))
    return Case(model, items("chain", 2), None)


class Everything:
    """Labellings of every item with their probabilities given what is known, by enumeration."""

    def __init__(self, one: Case) -> None:
        batch, scores = one.model._batch(one.X, None, None)[:2]
        listed = Enumerated(batch, scores)
        classes = one.model.classes_.tolist()
        self.labels, self.proba = [], []
        for s in range(batch.n_instances):
            outputs, proba = listed.outputs(s), listed.probabilities(s)
            known = (one.known or [None] * len(one.X))[s]
            for t, label in enumerate(known or []):
                if label is not None:
                    proba = np.where(outputs[:, t] == classes.index(label), proba, 0.0)
            self.labels.append(outputs)
            self.proba.append(proba / proba.sum())
        self.n_labels = len(classes)

    def marginals(self, s):
        return np.array(
            [[self.proba[s][column == k].sum() for k in range(self.n_labels)] for column in self.labels[s].T]
        )


def entropy(p):
    p = p[p > 0]
    return -float(np.sum(p * np.log(p)))
