"""Several labels for every row: against all 2^K of them, written out."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from kernelfields import CRF, InputError, KernelCRF, StructuredSVM, load
from kernelfields.structures import Hierarchy, MultiLabel
from kernelfields.structures.multi_label import chow_liu_tree, mutual_information


def rows(rng, n=40, K=3, D=2):
    """Labels that depend on features and on each other."""
    X = rng.normal(size=(n, D))
    y = np.zeros((n, K), dtype=int)
    for k in range(K):
        push = X[:, k % D] + (1.5 * (2 * y[:, k - 1] - 1) if k else 0)
        y[:, k] = rng.random(n) < 1 / (1 + np.exp(-push))
    return X, y


def written_out(X, y, pairs, penalty, allowed=lambda z: True):
    """Minimise the log loss over all 2^K labellings; return p(y_k = 1|x), the value, and log p of y."""
    K, D = y.shape[1], X.shape[1]
    every = np.array([z for z in itertools.product((0, 1), repeat=K) if allowed(z)])
    ones = np.stack([1 - every, every], axis=2)  # (M, K, 2)
    pair = np.array(
        [[[(z[a], z[b]) == v for v in itertools.product((0, 1), repeat=2)] for a, b in pairs] for z in every]
    )
    pair = pair.reshape(len(every), -1).astype(float)
    right = [int(np.flatnonzero((every == row).all(axis=1))[0]) for row in y]

    def scores(w):
        W, b = w[: 2 * K * D].reshape(K, 2, D), w[2 * K * D : 2 * K * (D + 1)].reshape(K, 2)
        node = np.einsum("kvd,nd->nkv", W, X) + b
        return np.einsum("nkv,mkv->nm", node, ones) + pair @ w[2 * K * (D + 1) :]

    def objective(w):
        s = scores(w)
        top = s.max(axis=1, keepdims=True)
        log_z = top[:, 0] + np.log(np.exp(s - top).sum(axis=1))
        p = np.exp(s - log_z[:, None])
        p[np.arange(len(X)), right] -= 1
        node = np.einsum("nm,mkv->nkv", p, ones)
        gradient = np.concatenate(
            [np.einsum("nkv,nd->kvd", node, X).ravel(), node.sum(axis=0).ravel(), (p @ pair).sum(axis=0)]
        )
        value = (log_z - s[np.arange(len(X)), right]).sum() + 0.5 * penalty * w @ w
        return value, gradient + penalty * w

    size = 2 * K * (D + 1) + 4 * len(pairs)
    found = minimize(
        objective,
        np.zeros(size),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000},
    )
    s = scores(found.x)
    p = np.exp(s - s.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p @ every, found.fun, np.log(p[np.arange(len(X)), right])


EDGES = {"full": [(0, 1), (0, 2), (1, 2)], "list": [(0, 2)], "none": []}


@pytest.mark.parametrize("name", list(EDGES))
def test_optimum(name, rng, tmp_path):
    X, y = rows(rng)
    marginals, value, log_p = written_out(X, y, EDGES[name], 0.7)
    edges = "full" if name == "full" else EDGES[name]
    model = CRF(0.7, structure=MultiLabel(edges), tol=1e-9).fit(X, y)
    assert model.certificate_.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.predict_marginals(X), marginals, atol=1e-4)
    np.testing.assert_allclose(model.sequence_log_proba(X, y), log_p, atol=1e-3)
    assert model.predict(X).shape == y.shape
    model.save(tmp_path / "labels.kf")
    for other in (load(tmp_path / "labels.kf"), pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_array_equal(other.predict_marginals(X), model.predict_marginals(X))


def test_hierarchy(rng, tmp_path):
    """No label without its parent, in training or in prediction; all else as written out."""
    X, y = rows(rng, K=4)
    parents = [-1, 0, 1, 0]
    for k in (1, 2, 3):
        y[:, k] &= y[:, parents[k]]
    pairs = [(0, 1), (0, 3), (1, 2)]
    marginals, value, log_p = written_out(X, y, pairs, 0.7, lambda z: all(z[p] or not z[k] for p, k in pairs))
    model = CRF(0.7, structure=Hierarchy(parents), tol=1e-9).fit(X, y)
    assert model.certificate_.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.predict_marginals(X), marginals, atol=1e-4)
    np.testing.assert_allclose(model.sequence_log_proba(X, y), log_p, atol=1e-3)
    found = model.predict(3 * X)
    for p, k in pairs:
        assert (found[:, k] <= found[:, p]).all()
    assert found.any()
    frame = pd.DataFrame(y, columns=["animal", "dog", "puppy", "cat"])
    named = CRF(0.7, structure=Hierarchy({"dog": "animal", "puppy": "dog", "cat": "animal"}), tol=1e-9).fit(
        X, frame
    )
    np.testing.assert_allclose(named.predict_marginals(X), model.predict_marginals(X), atol=1e-9)
    assert named.classes_.tolist()[:2] == [("animal", 0), ("animal", 1)]


def trees(K):
    """All spanning trees of K vertices."""
    pairs = list(itertools.combinations(range(K), 2))
    for chosen in itertools.combinations(pairs, K - 1):
        group = list(range(K))
        for a, b in chosen:
            if group[a] == group[b]:
                break
            group = [group[a] if g == group[b] else g for g in group]
        else:
            yield chosen


def likelihood(y, tree):
    """Log-likelihood of rows under the best distribution that factorises along a tree."""

    def entropy(columns):
        _, count = np.unique(y[:, list(columns)], axis=0, return_counts=True)
        return -(count / len(y)) @ np.log(count / len(y))

    single = [entropy([k]) for k in range(y.shape[1])]
    return -sum(single) - sum(entropy(pair) - single[pair[0]] - single[pair[1]] for pair in tree)


def test_chow_liu_is_the_most_likely_tree(rng):
    for _ in range(20):
        y = rows(rng, n=60, K=5)[1][:, rng.permutation(5)]
        best = max(likelihood(y, tree) for tree in trees(5))
        assert likelihood(y, chow_liu_tree(y.tolist())) == pytest.approx(best, abs=1e-12)


def test_mutual_information_leaves_out_what_was_not_observed(rng):
    y = rows(rng, n=30)[1]
    holes = [*y.tolist(), [None, 1, 0], [1, None, None]]
    assert mutual_information(holes)[0, 1] == pytest.approx(mutual_information(y.tolist())[0, 1], abs=1e-12)
    assert mutual_information(holes)[0, 2] == pytest.approx(mutual_information(y.tolist())[0, 2], abs=1e-12)


def test_tree_of_labels(rng):
    X, y = rows(rng, K=4)
    tree = chow_liu_tree(y.tolist())
    model = CRF(0.7, structure=MultiLabel("tree"), tol=1e-9).fit(X, y)
    assert model.structure_.pairs == tree
    np.testing.assert_allclose(model.predict_marginals(X), written_out(X, y, tree, 0.7)[0], atol=1e-4)


def test_what_else_can_be_asked(rng):
    X, y = rows(rng)
    frame = pd.DataFrame(y, columns=["a", "b", "c"])
    model = CRF(structure=MultiLabel([("a", "c")])).fit(pd.DataFrame(X, columns=["u", "v"]), frame)
    assert model.structure_.pairs == ((0, 2),)
    known = [[None, None, 1 - y[s, 2]] for s in range(len(X))]
    found = model.predict(X, allowed=known)
    assert (found[:, 2] == 1 - y[:, 2]).all()
    assert model.score(X, y) == pytest.approx((model.predict(X) == y).mean())
    hidden = y.astype(float)
    hidden[rng.random(y.shape) < 0.3] = np.nan
    partly = CRF(structure=MultiLabel()).fit(X, hidden, X_dev=X, y_dev=y)
    assert partly.score(X, y) > 0.5
    assert partly.score(X, hidden) != partly.score(X, y)
    for other in (KernelCRF("rbf", structure=MultiLabel()), StructuredSVM(structure=MultiLabel())):
        assert other.fit(X, y).score(X, y) > 0.6
    assert (model.predict(X, abstain=1.0) == None).all()  # noqa: E711
    best = model.predict_kbest(X[:3], 2)
    np.testing.assert_array_equal(best[0][0][0], model.predict(X[:1])[0])


@pytest.mark.parametrize(
    ("structure", "y", "message"),
    [
        (MultiLabel(), [0, 1], "y has shape (2,), expected (n, K): 0 or 1 for each of K labels."),
        (MultiLabel(), [[0, 2], [1, 0]], "Row 0 of y has 2 in column 1, expected 0, 1 or None."),
        (MultiLabel(), [[0, 1]], "X has 2 rows, but y has 1."),
        (MultiLabel([(0, 5)]), [[0, 1], [1, 0]], "edges[0] is (0, 5); it must be two of the 2 labels."),
        (MultiLabel([(0, 1), (1, 0)]), [[0, 1], [1, 0]], "edges[1] is (1, 0), which is there before."),
        (Hierarchy([-1]), [[0, 1], [1, 0]], "parents has 1 numbers for 2 labels."),
        (Hierarchy([1, 0]), [[0, 1], [1, 0]], "parents make 0 its own ancestor."),
        (Hierarchy({"a": "b"}), [[0, 1], [1, 0]], "parents has 'b', which is none of the 2 labels."),
        (
            Hierarchy([-1, 0]),
            [[1, 1], [0, 1]],
            "Row 1 has the forbidden label pair (0, 0) → (1, 1) at label 1.",
        ),
    ],
)
def test_bad_labels(structure, y, message):
    with pytest.raises(InputError) as error:
        CRF(structure=structure).fit(np.eye(2), y)
    assert str(error.value) == message


@pytest.mark.parametrize("make", [lambda: MultiLabel("all"), lambda: MultiLabel(3), lambda: Hierarchy(3)])
def test_bad_settings(make):
    with pytest.raises(InputError, match=r"^(edges|parents) is .*; it must be .*\.$"):
        make()
