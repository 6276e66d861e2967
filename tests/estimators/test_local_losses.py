"""Models that are learnt without sums over labellings: pseudo-likelihood and piecewise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from kernelfields import CRF, FreeScores, KernelCRF, KernelScores, Parts, Run
from kernelfields.losses import Piecewise, PseudoLikelihood
from kernelfields.structures import GraphBatch, Structure

L, D = 3, 2
LOCAL = pytest.mark.parametrize("loss", ["pseudo", "piecewise"])


@dataclass(frozen=True)
class Shape(Structure):
    """Graphs without any way to sum or to maximise; an item of X is (features, edges)."""

    linked: ClassVar[bool] = True

    def split(self, X, lengths=None):
        return [item[0] for item in X], [item[1] for item in X]

    def links(self, parts, offsets):
        return np.concatenate(
            [
                np.reshape(edges, (-1, 2)).astype(int) + start
                for edges, start in zip(parts, offsets, strict=False)
            ]
        )

    def on(self, offsets, links, n_labels, *, own=frozenset()):
        return GraphBatch(offsets, links, n_labels, shared_edges="edge" not in own)


def graphs(rng, count=4):
    """Random graphs with cycles; labels follow the features and each other."""
    X, y = [], []
    for _ in range(count):
        n = int(rng.integers(3, 9))
        features = rng.normal(size=(n, D))
        edges = np.array(
            [(a, b) for a in range(n) for b in range(n) if a != b and rng.random() < 0.4] + [(0, 1)]
        )
        X.append((features, edges))
        y.append(np.digitize(features[:, 0] + 0.5 * rng.normal(size=n), [-0.4, 0.4]).tolist())
    return X, y


def chains(rng, count=12):
    X = [rng.normal(size=(int(rng.integers(1, 7)), D)) for _ in range(count)]
    return X, [np.digitize(x[:, 0] + 0.5 * rng.normal(size=len(x)), [-0.4, 0.4]).tolist() for x in X]


def objective(loss, X, y, penalty, edge_penalty, weight):
    """The regularised loss and a start, written down vertex by vertex, edge by edge."""

    def value(w):
        coef, bias, pairs = w[: L * D].reshape(L, D), w[L * D : L * D + L], w[L * D + L :].reshape(L, L)
        total = 0.5 * penalty * (w[: L * D + L] ** 2).sum() + 0.5 * edge_penalty * (pairs**2).sum()
        for (features, edges), labels in zip(X, y, strict=True):
            node = features @ coef.T + bias
            around = node.copy()
            for a, b in edges:
                around[a] += pairs[:, labels[b]]
                around[b] += pairs[labels[a]]
            log_p = log_softmax(around if loss == "pseudo" else node, axis=1)
            total -= sum(weight[k] * log_p[v, k] for v, k in enumerate(labels))
            if loss == "piecewise":
                log_pairs = pairs - logsumexp(pairs)
                for a, b in edges:
                    share = (weight[labels[a]] + weight[labels[b]]) / 2
                    total -= share * log_pairs[labels[a], labels[b]]
        return total

    return value, np.zeros(L * D + L + L * L)


def as_graphs(X):
    return [(x, [(t, t + 1) for t in range(len(x) - 1)]) for x in X]


@LOCAL
@pytest.mark.parametrize("weights", [None, {0: 3.0, 2: 0.5}])
def test_certificates_hold_for_another_solver(loss, weights, rng):
    X, y = graphs(rng)
    kind = {"pseudo": PseudoLikelihood, "piecewise": Piecewise}[loss]
    model = CRF(
        0.7,
        parts=Parts(edges=FreeScores(penalty=1.3), boundaries=None),
        structure=Shape(),
        loss=kind(class_weight=weights),
        tol=1e-6,
    ).fit(X, y)
    value, start = objective(loss, X, y, 0.7, 1.3, [(weights or {}).get(k, 1.0) for k in range(L)])
    found = minimize(value, start, method="BFGS", options={"gtol": 1e-5})
    certificate = model.certificate_
    assert certificate.relative_gap <= 1e-6
    assert certificate.lower_bound <= found.fun * (1 + 1e-12)
    assert certificate.value <= found.fun * (1 + 1e-6)
    mine = np.concatenate([model.coef_.ravel(), model.intercept_, model.transitions_.ravel()])
    np.testing.assert_allclose(value(mine), certificate.value, rtol=1e-10)
    np.testing.assert_allclose(mine, found.x, atol=2e-3)


@LOCAL
@pytest.mark.parametrize("structure", ["chain", "tree"])
def test_sequences_and_trees_are_graphs(loss, structure, rng):
    X, y = chains(rng)
    settings = {"loss": loss, "tol": 1e-8, "parts": Parts(boundaries=None)}
    graph = CRF(0.5, structure=Shape(), **settings).fit(as_graphs(X), y)
    items = X if structure == "chain" else [(x, np.arange(len(x)) - 1) for x in X]
    path = CRF(0.5, structure=structure, **settings).fit(items, y)
    np.testing.assert_allclose(path.transitions_, graph.transitions_, atol=1e-3)
    np.testing.assert_allclose(path.coef_, graph.coef_, atol=1e-3)
    assert path.score(items, y) > 0.6


@LOCAL
def test_linear_kernel_is_the_linear_model(loss, rng):
    X, y = graphs(rng)
    settings = {"structure": Shape(), "loss": loss, "tol": 1e-7}
    linear = CRF(0.5, parts=Parts(boundaries=None), **settings).fit(X, y)
    parts = Parts(boundaries=None, kernel=KernelScores(labels=np.eye(L)))
    kernel = KernelCRF(
        "linear",
        penalty=0.5,
        run=Run(dtype="float64"),
        parts=parts,
        **settings,
    ).fit(X, y)
    np.testing.assert_allclose(kernel.certificate_.value, linear.certificate_.value, rtol=1e-6)
    np.testing.assert_allclose(kernel.transitions_, linear.transitions_, atol=1e-3)


@LOCAL
@pytest.mark.parametrize("solver", ["newton-cg", "block-jacobi", "subspace", "conjugate-gradients"])
def test_all_solvers_reach_the_same_value(loss, solver, rng):
    X, y = chains(rng)
    values = [
        CRF(0.5, loss=loss, solver=name, tol=1e-6).fit(X, y).certificate_.value for name in ("lbfgs", solver)
    ]
    np.testing.assert_allclose(values[1], values[0], rtol=2e-6)


@LOCAL
@pytest.mark.parametrize("make", [CRF, lambda penalty, **more: KernelCRF("rbf", penalty=penalty, **more)])
def test_single_positions_are_the_log_loss(loss, make, rng):
    X = [rng.normal(size=(1, D)) for _ in range(40)]
    y = [[int(x[0, 0] > 0)] for x in X]
    whole, each = (make(0.5, tol=1e-6, loss=name).fit(X, y) for name in ("log", loss))
    np.testing.assert_allclose(each.certificate_.value, whole.certificate_.value, rtol=2e-6)
    np.testing.assert_allclose(
        np.concatenate(each.predict_marginals(X)), np.concatenate(whole.predict_marginals(X)), atol=5e-3
    )


def test_pseudo_likelihood_finds_what_the_likelihood_finds_in_many_labels(rng):
    truth = CRF().fit(*chains(rng))
    truth.coef_, truth.transitions_ = rng.normal(size=(L, D)), 1.5 * rng.normal(size=(L, L))
    X = [rng.normal(size=(6, D)) for _ in range(1500)]
    y = truth.set_params(random_state=0).sample(X)[0]
    pairs = []
    for loss in ("log", "pseudo", "piecewise"):
        found = CRF(0.1, loss=loss, tol=1e-5).fit(X, y).transitions_
        pairs.append(found - found.mean(axis=0) - found.mean(axis=1)[:, None] + found.mean())
    assert np.abs(pairs[1] - pairs[0]).max() < 0.12
    assert np.abs(pairs[0]).max() > 0.5


@LOCAL
def test_unobserved_labels_and_held_out_data(loss, rng):
    X, y = chains(rng, 30)
    holes = [[None, *labels[1:]] for labels in y]
    model = CRF(0.5, loss=loss).fit(X, holes)
    assert model.certificate_ is not None
    assert model.score(X, y) > 0.6
    whole = CRF(1e-3, loss=loss).fit(X[:20], y[:20])
    stopped = CRF(1e-3, loss=loss, run=Run(patience=1)).fit(X[:20], y[:20], X_dev=X[20:], y_dev=y[20:])
    assert stopped.n_iter_ < whole.n_iter_
