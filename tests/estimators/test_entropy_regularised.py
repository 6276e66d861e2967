"""Entropy regularisation: what a fit ends with is a stationary point of the formula, by enumeration."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import CRF, KernelCRF, load
from kernelfields.errors import InputError
from kernelfields.kernels import Linear
from kernelfields.losses import EntropyRegularised
from kernelfields.structures import BeliefPropagation, Graph

LINKS = {"chain": None, "chain2": None, "tree": [1, -1, 1], "graph": [(0, 1), (1, 2), (0, 2)]}


def data(rng, structure="chain", n=6):
    """Two sequences with labels, others without."""
    X = [rng.normal(size=(3, 2)) for _ in range(n)]
    y = [["a" if row[0] + 0.3 * row[1] > 0 else "b" for row in x] for x in X]
    y = [labels if s < 2 else [None] * 3 for s, labels in enumerate(y)]
    y[0], y[1] = ["a", "b", "a"], ["b", "b", "a"]
    links = LINKS[structure]
    return (X if links is None else [(x, links) for x in X]), y


def objective(model, X, y, gamma):
    """The formula, its probabilities by listing all labellings."""
    total = 0.0
    for x, labels in zip(X, y, strict=True):
        every = list(product("ab", repeat=3))
        log_p = model.sequence_log_proba([x] * len(every), every)
        known = [log_p[every.index(tuple(labels))]] if None not in labels else []
        total += -known[0] if known else -gamma * float(np.exp(log_p) @ log_p)
    parts = [model.coef_, model.intercept_, model.start_, model.end_, model.transitions_]
    parts += [model.second_order_] if model.structure == "chain2" else []
    return total + 0.5 * model.penalty * sum(float((part**2).sum()) for part in parts)


@pytest.mark.parametrize("structure", list(LINKS))
def test_a_stationary_point_of_the_formula(structure, rng):
    X, y = data(rng, structure)
    loss = EntropyRegularised(0.4)
    model = CRF(penalty=0.3, structure=structure, loss=loss, tol=1e-8, max_iter=5000).fit(X, y)
    assert model.certificate_ is None
    alone = CRF(penalty=0.3, structure=structure).fit(X[:2], y[:2])
    assert objective(model, X, y, 0.4) < objective(alone, X, y, 0.4) - 1e-4
    for name in ("coef_", "transitions_"):
        kept = getattr(model, name)
        direction = rng.normal(size=kept.shape)
        values = []
        for step in (1e-4, -1e-4):
            setattr(model, name, kept + step * direction)
            values.append(objective(model, X, y, 0.4))
        setattr(model, name, kept)
        assert abs(values[0] - values[1]) / 2e-4 < 1e-5


def test_surer_where_nobody_told_the_labels(rng):
    X, y = data(rng, n=20)
    sure = [
        np.mean(
            np.concatenate(CRF(penalty=0.3, loss=EntropyRegularised(g)).fit(X, y).predict_marginals(X)).max(1)
        )
        for g in (0.0, 0.2, 1.0)
    ]
    assert sure[0] < sure[1] < sure[2]


def test_a_weight_of_zero_and_no_sequence_without_labels_are_the_log_loss(rng):
    X, y = data(rng)
    settings = {"penalty": 0.3, "tol": 1e-7}
    alone = CRF(**settings).fit(X[:2], y[:2])
    none = CRF(**settings, loss=EntropyRegularised(0.0)).fit(X, y)
    np.testing.assert_allclose(none.coef_, alone.coef_, atol=1e-4)
    same = CRF(**settings, loss="entropy").fit(X[:2], y[:2])
    assert same.certificate_ is not None
    np.testing.assert_array_equal(same.coef_, alone.coef_)


def test_linear_kernel_is_linear(rng):
    X, y = data(rng)
    settings = {"penalty": 0.3, "loss": EntropyRegularised(0.3), "tol": 1e-8, "max_iter": 5000}
    linear, kernel = CRF(**settings).fit(X, y), KernelCRF(Linear(), **settings).fit(X, y)
    for ours, theirs in zip(linear.predict_marginals(X), kernel.predict_marginals(X), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_weights_count_sequences(rng):
    X, y = data(rng)
    settings = {"penalty": 0.3, "loss": EntropyRegularised(0.3), "tol": 1e-8, "max_iter": 5000}
    weighted = CRF(**settings).fit(X, y, sample_weight=[1, 1, 2, 1, 0, 1])
    twice = CRF(**settings).fit([*X[:4], X[2], X[5]], [*y[:4], y[2], y[5]])
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-5)


@pytest.mark.parametrize("make", [CRF, KernelCRF])
def test_ways_to_give_sequences_without_labels(make, rng):
    X, y = data(rng)
    model = make(penalty=0.3, loss=EntropyRegularised(0.3))
    wanted = model.fit(X, y).predict_marginals(X)
    for found in (model.fit(X, [*y[:2], *[None] * 4]), model.fit(X[:2], y[:2], X_unlabelled=X[2:])):
        for ours, theirs in zip(found.predict_marginals(X), wanted, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(InputError, match="X_unlabelled is for"):
        make(penalty=0.3).fit(X[:2], y[:2], X_unlabelled=X[2:])


def test_constraints_and_words(rng, tmp_path):
    X = [["Ana", "Diaz", "went"], ["the", "Luis"], ["Ana", "went"], ["Luis", "Diaz", "saw", "Ana"]]
    y = [["B-PER", "I-PER", "O"], ["O", "B-PER"], [None, None], [None] * 4]
    model = CRF(features="pos", constraints="iob2", loss=EntropyRegularised(0.2)).fit(X, y)
    assert model.predict(X)[0] == y[0]
    model.save(tmp_path / "m.kf")
    again = load(tmp_path / "m.kf")
    assert again.loss == clone(model).loss == EntropyRegularised(0.2)
    assert again.predict(X) == model.predict(X)


def test_what_is_refused(rng):
    X, y = data(rng, "graph")
    with pytest.raises(InputError, match="weight is -1"):
        EntropyRegularised(-1.0)
    with pytest.raises(TypeError, match="needs exact sums"):
        CRF(structure=Graph(inference=BeliefPropagation()), loss="entropy").fit(X, y)
