"""Kernels on edges that see both ends: the optimum, its certificate, scores by hand, files, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelfields import InputError, KernelCRF, KernelScores, Parts, Run, load
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF, Linear
from kernelfields.selection import SGPS
from kernelfields.testing import labelled_sequences

VIEWS = {
    "all": lambda x: np.hstack([x[:-1], x[1:]]),
    "first": lambda x: x[:-1],
    "difference": lambda x: x[1:] - x[:-1],
    "mean": lambda x: (x[1:] + x[:-1]) / 2,
}


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[Any]]:
    """Labels that say whether a position differs from the one before it: no single position knows."""
    rng = np.random.default_rng(0)
    X = [rng.integers(0, 2, size=(n, 1)).astype(float) for n in rng.integers(3, 9, size=30)]
    y = [
        ["same", *("same" if a == b else "other" for a, b in zip(x[:-1, 0], x[1:, 0], strict=True))]
        for x in X
    ]
    return X, y


def pairs(kernel: Any, view: str = "all", penalty: float = 0.1) -> Parts:
    """A function of label pairs and what their positions see."""
    return Parts(pairs=KernelScores(kernel, on="edge", view=view, penalty=penalty))


@pytest.mark.parametrize("view", VIEWS)
def test_marginals_are_those_of_the_scores(view: str, data: Any) -> None:
    X, y = data
    parts = pairs(RBF(1.0), view=view, penalty=0.2)
    model = KernelCRF(Linear(), penalty=0.5, parts=parts, run=Run(dtype="float64"), tol=1e-6).fit(X, y)
    part = model.parts_["pairs"]
    assert model.certificate_.relative_gap <= 1e-6
    for x, found in zip(X[:5], model.predict_marginals(X[:5]), strict=True):
        k = np.exp(-np.square(VIEWS[view](x)[:, None] - part.basis[None]).sum(axis=2))
        edge = model.transitions_ + np.tensordot(k, part.coef, axes=1)
        node = (x @ model.basis_.T) @ model.dual_coef_ + model.intercept_
        node[0] += model.start_
        node[-1] += model.end_
        np.testing.assert_allclose(found, _marginals(node, edge), atol=1e-8)


def _marginals(node: Any, edge: Any) -> Any:
    """By enumeration."""
    total, T = np.zeros_like(node), len(node)
    for number in range(2**T):
        labels = [(number >> t) & 1 for t in range(T)]
        pairs = sum(edge[t, labels[t], labels[t + 1]] for t in range(T - 1))
        total[np.arange(T), labels] += np.exp(node[np.arange(T), labels].sum() + pairs)
    return total / total.sum(axis=1, keepdims=True)


def test_both_ends_know_what_one_does_not(data: Any) -> None:
    X, y = data
    held = slice(20, None)

    def score(**settings: Any) -> float:
        return (
            KernelCRF(RBF(1.0), penalty=0.1, decoder="viterbi", **settings)
            .fit(X[:20], y[:20])
            .score(X[held], y[held])
        )

    assert score(parts=pairs(RBF(1.0))) == 1.0
    assert score(parts=Parts(edge_kernel=KernelScores())) < 0.95


@pytest.mark.parametrize("penalty", [None, 0.1, 3.0])
def test_first_is_the_kernel_on_edges(penalty: float | None, data: Any) -> None:
    X, y = data
    common = {"run": Run(dtype="float64"), "tol": 1e-9}
    one = KernelCRF(
        RBF(1.0), penalty=0.5, parts=Parts(edge_kernel=KernelScores(RBF(2.0), penalty=penalty)), **common
    )
    one.fit(X, y)
    parts = pairs(RBF(2.0), view="first", penalty=0.5 if penalty is None else penalty)
    other = KernelCRF(RBF(1.0), penalty=0.5, parts=parts, **common).fit(X, y)
    assert other.certificate_.value == pytest.approx(one.certificate_.value, rel=1e-8)
    for a, b in zip(one.predict_marginals(X), other.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_held_out_sequences_see_the_same_model(data: Any) -> None:
    X, y = data
    model = KernelCRF(RBF(1.0), penalty=0.1, parts=pairs(RBF(1.0)), run=Run(patience=1000))
    model.fit(X[:20], y[:20], X_dev=X[20:], y_dev=y[20:])
    assert model.score(X[20:], y[20:]) == 1.0


def test_approximations_are_those_of_all_kernels(rng: np.random.Generator) -> None:
    """Of full rank they change nothing; of a lower one, every basis has that many observations."""
    X = [rng.normal(size=(n, 2)) for n in (4, 3, 5)]
    y = [["a", "b", "b", "a"], ["b", "a", "a"], ["a", "a", "b", "b", "a"]]
    single = KernelScores(RBF(2.0), on="node", view="all", penalty=1.0)
    parts = Parts({**pairs(RBF(0.5), penalty=0.3), "single": single})
    common = {"penalty": 0.5, "parts": parts, "run": Run(dtype="float64"), "tol": 1e-9}
    dense = KernelCRF(RBF(1.0), **common).fit(X, y)
    full = KernelCRF(RBF(1.0), basis=Nystroem(100), **common).fit(X, y)
    assert full.certificate_.value == pytest.approx(dense.certificate_.value, rel=1e-8)
    for a, b in zip(full.predict_marginals(X), dense.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    low = KernelCRF(RBF(1.0), basis=Nystroem(4), **common)
    low.fit(X, y, X_dev=X[:2], y_dev=y[:2])
    assert [len(one.basis) for one in low.parts_.values()] == [4, 4] == [len(low.basis_)] * 2
    assert low.certificate_.value > dense.certificate_.value * (1 + 1e-4)


@pytest.mark.parametrize("structure", ["tree", "chain2"])
def test_other_structures_and_files(structure: str, data: Any, tmp_path: Path) -> None:
    X, y = data
    if structure == "tree":
        X = [(x, [-1, *range(len(x) - 1)]) for x in X]
    parts = pairs(RBF(1.0), view="difference")
    model = KernelCRF(RBF(1.0), penalty=0.1, parts=parts, structure=structure).fit(X, y)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    for a, b in zip(model.predict_marginals(X), again.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"parts": "rbf"}, r"parts is 'rbf'; it must be Parts\(\.\.\.\)"),
        (
            {"parts": Parts(arcs=KernelScores("rbf", on="arc"))},
            "ChainBatch has no clique type 'arc'; it has 'node', 'edge'",
        ),
        (
            {"parts": pairs("rbf"), "basis": SGPS()},
            "SGPS is for label pairs without input, and for no triples; use GreedyCliques",
        ),
    ],
)
def test_refusals(settings: dict[str, Any], words: str, rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=words):
        KernelCRF("rbf", **settings).fit(*labelled_sequences(rng))
    with pytest.raises(InputError, match="view='last' is not known"):
        KernelScores(view="last")
