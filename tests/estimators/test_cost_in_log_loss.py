"""A task cost inside the log loss: the objective by enumeration, label pairs, refusals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from kernelfields import CRF, InputError, KernelCRF, Run
from kernelfields.losses import Log

LABELS = ("a", "b")


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (3, 4, 2, 4)]
    return X, [["a" if v > 0 else "b" for v in x[:, 0] + 0.7 * rng.normal(size=len(x))] for x in X]


def pairs_cost() -> Any:
    table = np.random.default_rng(1).uniform(0.5, 2.0, size=(2, 2, 2, 2))
    table.reshape(4, 4)[np.arange(4), np.arange(4)] = 0
    return table


COSTS: dict[str, tuple[Any, Any]] = {
    "hamming": ("hamming", lambda y, z: sum(a != b for a, b in zip(y, z, strict=True))),
    "labels": (
        {"b": 3.0},
        lambda y, z: sum((3.0 if a else 1.0) * (a != b) for a, b in zip(y, z, strict=True)),
    ),
    "table": (
        np.array([[0.0, 2.0], [0.5, 0.0]]),
        lambda y, z: sum([[0.0, 2.0], [0.5, 0.0]][a][b] for a, b in zip(y, z, strict=True)),
    ),
    "pairs": (
        pairs_cost(),
        lambda y, z: sum(pairs_cost()[y[t], y[t + 1], z[t], z[t + 1]] for t in range(len(y) - 1)),
    ),
}


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize(
    "make", [CRF, lambda penalty, **k: KernelCRF("linear", penalty=penalty, run=Run(dtype="float64"), **k)]
)
def test_value_is_that_of_the_definition(name: str, make: Any, data: Any) -> None:
    X, y = data
    cost, by_hand = COSTS[name]
    model = make(0.5, loss=Log(cost), tol=1e-9).fit(X, y)
    total, squares = 0.0, 0.0
    for x, labels in zip(X, y, strict=True):
        right = [LABELS.index(label) for label in labels]
        every = list(itertools.product(range(2), repeat=len(x)))
        named = [[LABELS[k] for k in z] for z in every]
        log_p = np.concatenate([model.sequence_log_proba([x], [names]) for names in named])
        delta = np.array([by_hand(right, z) for z in every])
        total += np.log(np.exp(log_p + delta).sum()) - log_p[every.index(tuple(right))]
    for part in ("intercept_", "start_", "end_", "transitions_"):
        squares += 0.25 * np.square(getattr(model, part)).sum()
    coef = model.coef_ if hasattr(model, "coef_") else (model.basis_.T @ model.dual_coef_).T
    assert model.certificate_.value == pytest.approx(total + squares + 0.25 * np.square(coef).sum(), rel=1e-8)
    assert model.certificate_.relative_gap <= 1e-9


def test_a_table_of_labels_is_a_class_weight(data: Any) -> None:
    one = CRF(0.5, loss=Log(class_weight={"b": 3.0}), tol=1e-9).fit(*data)
    other = CRF(0.5, loss=Log({"b": 3.0}), tol=1e-9).fit(*data)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cost": "zero-one"}, "inside the log loss it must be 'hamming'"),
        ({"cost": len}, "inside the log loss it must be 'hamming'"),
        ({"cost": {"c": 1.0}}, "cost has the unknown label 'c'"),
        ({"cost": np.ones((2, 2))}, "what is right must cost nothing"),
        ({"cost": "hamming", "class_weight": "balanced"}, "give one of class_weight and cost"),
    ],
)
def test_refusals(settings: dict[str, Any], words: str, data: Any) -> None:
    with pytest.raises(InputError, match=words):
        CRF(loss=Log(**settings)).fit(*data)
    X, y = data
    with pytest.raises(InputError, match="cost needs every label to be observed"):
        CRF(loss=Log("hamming")).fit(X, [[None, *labels[1:]] for labels in y])
