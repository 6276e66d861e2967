"""Learning from few labels in one graph: pseudo-likelihood in turn with beliefs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from kernelfields import CRF, FreeScores, InputError, KernelCRF, Parts, load
from kernelfields.losses import PseudoLikelihoodLoss, VariationalEM
from kernelfields.structures import GraphBatch
from tests.estimators.test_local_losses import Shape

L, D = 3, 2


def community(rng, size=12, known=0.4):
    """One graph of three groups, most edges inside them; few labels, features that say little."""
    labels = np.repeat(np.arange(L), size)
    n = len(labels)
    likely = np.where(labels[:, None] == labels, 0.25, 0.03)
    edges = np.argwhere(np.triu(rng.random((n, n)) < likely, 1))
    features = np.eye(L)[labels][:, :D] + 0.8 * rng.normal(size=(n, D))
    seen = rng.random(n) < known
    return features, edges, labels, seen


def both_ways(edges):
    return np.concatenate([edges, edges[:, ::-1]])


def given(labels, seen):
    return [[int(k) if s else None for k, s in zip(labels, seen, strict=True)]]


def by_hand(features, edges, labels, seen, em, penalty, edge_penalty):
    """EM written out with dense arrays and SciPy's BFGS; returns weights and beliefs."""
    n, A = len(labels), np.zeros((len(labels), len(labels)))
    np.add.at(A, tuple(edges.T), 1.0)  # A[u, v]: edges from u to v

    def scores(w, q, linked):
        coef, bias, pairs = w[: L * D].reshape(L, D), w[L * D : L * D + L], w[L * D + L :].reshape(L, L)
        return features @ coef.T + bias + linked @ q @ pairs.T + linked.T @ q @ pairs

    def m_step(q, kappa, linked, start):
        def value(w):
            penal = (
                0.5 * penalty * (w[: L * D + L] ** 2).sum() + 0.5 * edge_penalty * (w[L * D + L :] ** 2).sum()
            )
            return penal - (kappa[:, None] * q * log_softmax(scores(w, q, linked), axis=1)).sum()

        return minimize(value, start, method="BFGS", options={"gtol": 1e-6}).x

    sure = np.where(seen[:, None], np.eye(L)[labels], 0.0)
    w = m_step(sure, seen.astype(float), A * np.outer(seen, seen), np.zeros(L * D + L + L * L))
    q = np.where(seen[:, None], sure, softmax(scores(w, np.zeros((n, L)), A) / em.temperature, axis=1))
    for _ in range(em.rounds):
        w = m_step(q, np.where(seen, 1.0, em.weight), A, w)
        for _ in range(em.sweeps):
            q = np.where(seen[:, None], sure, softmax(scores(w, q, A) / em.temperature, axis=1))
    return w, q


def test_it_is_em_written_out(rng):
    features, edges, labels, seen = community(rng, 6)
    edges = both_ways(edges)
    em = VariationalEM(rounds=2, weight=0.5, temperature=0.7, sweeps=3, tol=0.0)
    wanted, _ = by_hand(features, edges, labels, seen, em, 0.5, 2.0)
    model = CRF(
        0.5, parts=Parts(edges=FreeScores(penalty=2.0), boundaries=None), structure=Shape(), loss=em, tol=1e-8
    )
    model.fit([(features, edges)], given(labels, seen))
    found = np.concatenate([model.coef_.ravel(), model.intercept_, model.transitions_.ravel()])
    np.testing.assert_allclose(found, wanted, atol=2e-3)
    assert model.certificate_.relative_gap <= 1e-8


@pytest.mark.parametrize("make", [CRF, lambda penalty, **more: KernelCRF("rbf", penalty=penalty, **more)])
def test_couplings_are_learnt_from_vertices_without_labels(make, rng):
    features, edges, labels, seen = community(rng, 20, 0.2)
    edges = edges[~seen[edges].all(axis=1)]  # no two vertices with a label are neighbours
    X, y = [(features, both_ways(edges))], given(labels, seen)
    settings = {"parts": Parts(edges=FreeScores(penalty=5.0), boundaries=None), "structure": Shape()}
    alone = make(1.0, loss="pseudo", **settings).fit(X, y)
    em = make(1.0, loss=VariationalEM(rounds=3, weight=1.0, temperature=0.5), **settings).fit(X, y)

    def attraction(model):
        return np.diag(model.transitions_).mean() - model.transitions_.mean()

    assert attraction(alone) == 0
    assert attraction(em) > 0.1


def test_without_rounds_or_without_gaps_it_is_the_pseudo_likelihood(rng):
    features, edges, labels, seen = community(rng, 6)
    X, settings = [(features, edges)], {"structure": Shape(), "parts": Parts(boundaries=None), "tol": 1e-7}
    for y, em in ((given(labels, seen), VariationalEM(rounds=0)), (given(labels, labels >= 0), "pseudo-em")):
        plain, one = (CRF(0.5, loss=loss, **settings).fit(X, y) for loss in ("pseudo", em))
        np.testing.assert_allclose(one.transitions_, plain.transitions_, atol=1e-4)


def test_beliefs_are_a_fixed_point_and_certain_where_observed(rng):
    graph = GraphBatch([0, 5], [[0, 1], [1, 2], [2, 3], [3, 0], [3, 4]], L)
    scores = {"node": rng.normal(size=(5, L)), "edge": 0.5 * rng.normal(size=(L, L))}
    observed = PseudoLikelihoodLoss(graph, np.array([1, -1, -1, 0, -1]))
    em = VariationalEM(sweeps=500, tol=1e-12, step=0.5)
    q = em.beliefs(observed, scores, em.first(observed, scores))
    np.testing.assert_allclose(q[[0, 3]], np.eye(L)[[1, 0]])
    around = scores["node"].copy()
    for a, b in graph.edges:
        around[a] += scores["edge"] @ q[b]
        around[b] += scores["edge"].T @ q[a]
    np.testing.assert_allclose(q[[1, 2, 4]], softmax(around, axis=1)[[1, 2, 4]], atol=1e-8)


def test_a_seed_draws_the_first_labels(rng):
    graph = GraphBatch([0, 2000], np.empty((0, 2), dtype=int), L)
    scores = {"node": np.tile([0.0, 1.0, -1.0], (2000, 1)), "edge": np.zeros((L, L))}
    observed = PseudoLikelihoodLoss(graph, np.full(2000, -1))
    first, again, other = (VariationalEM(seed=seed).first(observed, scores) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert ((first == 0) | (first == 1)).all()
    # five standard deviations of a share of 2,000 draws
    np.testing.assert_allclose(first.mean(axis=0), softmax([0.0, 1.0, -1.0]), atol=5 * 0.5 / np.sqrt(2000))


def test_what_cannot_be_is_refused(rng):
    features, edges, labels, _ = community(rng, 4)
    with pytest.raises(InputError, match="constraints do not go with VariationalEM"):
        CRF(loss="pseudo-em", structure=Shape(), constraints="iob2").fit(
            [(features, edges)], [["O" if k else "B-x" for k in labels]]
        )
    with pytest.raises(InputError, match="temperature is 0"):
        VariationalEM(temperature=0.0)


def test_it_is_saved_with_the_model(rng, tmp_path):
    X = [rng.normal(size=(4, D)) for _ in range(3)]
    model = CRF(loss=VariationalEM(rounds=1, seed=3)).fit(X, [[0, None, 1, None]] * 3)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.loss == model.loss
    np.testing.assert_array_equal(again.transitions_, model.transitions_)
