"""A sequence of weight 2 counts as if it were there twice; one of weight 0 as if it were not there."""

import numpy as np
import pytest

from kernelfields import CRF, HMM, Cascade, InputError, KernelCRF, Parts, Run, StructureLearner
from kernelfields.emissions import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    GaussianMixture,
    Multinomial,
    Poisson,
    SphericalGaussian,
    TiedGaussian,
)
from kernelfields.models.clique_types import Boundaries, Edges

WEIGHTS = np.array([2.0, 1.0, 0.0, 1.0, 2.0])
TIMES = [0, 0, 1, 3, 4, 4]
"""The same as numbers of sequences."""

NUMBERS = [DiagonalGaussian(), SphericalGaussian(), FullGaussian(), TiedGaussian(), GaussianMixture(2)]
COUNTS = [Poisson(), Multinomial(), Bernoulli(), Categorical(symbols=3), Categorical(symbols=3, order=1)]


def task(family, rng):
    y = [rng.integers(2, size=n) for n in (7, 5, 6, 4, 6)]
    if family in NUMBERS:
        return [rng.normal(size=(len(one), 2)) + 2 * one[:, None] for one in y], y
    if isinstance(family, Categorical):
        return [((rng.integers(2, size=len(one)) + one) % 3).tolist() for one in y], y
    most = 2 if isinstance(family, Bernoulli) else 5
    return [rng.integers(most, size=(len(one), 3)) for one in y], y


def twice(items):
    return [items[i] for i in TIMES]


def assert_alike(left, right, X):
    np.testing.assert_allclose(left.start_, right.start_, atol=1e-9)
    np.testing.assert_allclose(left.transitions_, right.transitions_, atol=1e-9)
    np.testing.assert_allclose(left.log_probability(X), right.log_probability(X), rtol=1e-8)


@pytest.mark.parametrize(
    "family", [f for f in NUMBERS + COUNTS if not isinstance(f, GaussianMixture)], ids=repr
)
def test_counts(family, rng):
    X, y = task(family, rng)
    weighted = HMM(family).fit(X, y, sample_weight=WEIGHTS)
    assert_alike(weighted, HMM(family).fit(twice(X), twice(y)), X)


@pytest.mark.parametrize("family", NUMBERS + COUNTS, ids=repr)
def test_expectation_maximisation(family, rng):
    """From the same start, step by step; objectives are those of the longer list, too."""
    X, y = task(family, rng)
    start = HMM(family).fit(X, y).emissions_
    model = HMM(start, start=[0.6, 0.4], transitions=[[0.7, 0.3], [0.4, 0.6]], tol=0, max_iter=4)
    weighted = model.fit(X, sample_weight=WEIGHTS)
    objectives = weighted.objectives_
    plain = HMM(**model.get_params(deep=False)).fit(twice(X))
    assert_alike(weighted, plain, X)
    np.testing.assert_allclose(objectives, plain.objectives_, rtol=1e-9)


def test_some_labels(rng):
    X, y = task(NUMBERS[0], rng)
    known = [[None if t % 3 == 1 else int(k) for t, k in enumerate(one)] for one in y]
    settings = {"tol": 0, "max_iter": 3}
    weighted = HMM(NUMBERS[0], **settings).fit(X, known, sample_weight=WEIGHTS)
    assert_alike(weighted, HMM(NUMBERS[0], **settings).fit(twice(X), twice(known)), X)


def test_weights_of_hidden_markov_models_are_checked(rng):
    X, y = task(NUMBERS[0], rng)
    with pytest.raises(InputError, match=r"^sample_weight has shape \(2,\), expected \(5,\): one per seq"):
        HMM().fit(X, y, sample_weight=[1, 1])


def labelled(rng):
    y = [rng.integers(2, size=n) for n in (7, 5, 6, 4, 6)]
    return [rng.normal(size=(len(one), 2)) + one[:, None] for one in y], [list(map(int, one)) for one in y]


def test_cascade(rng):
    """Copies of a sequence are of one group, hence in one fold."""
    X, y = labelled(rng)
    make = CRF(tol=1e-10)
    model = Cascade(make, make, window=3, folds=2, random_state=0)
    weights = np.where(WEIGHTS == 0, 1, WEIGHTS)  # folds are dealt out over all sequences
    times = [0, 0, 1, 2, 3, 4, 4]
    groups = np.arange(5)
    weighted = model.fit(X, y, groups=groups, sample_weight=weights).predict_marginals(X)
    longer = model.fit([X[i] for i in times], [y[i] for i in times], groups=groups[times])
    for found, expected in zip(weighted, longer.predict_marginals(X), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_cascade_of_a_model_without_weights(rng):
    class Unweighted(CRF):
        def fit(self, X, y):
            return super().fit(X, y)

    X, y = labelled(rng)
    with pytest.raises(
        InputError, match=r"^sample_weight cannot be had: Unweighted\.fit does not take it\.$"
    ):
        Cascade(Unweighted(), CRF(), window=3, folds=2).fit(X, y, sample_weight=WEIGHTS)


def test_structure_learner(rng):
    X, y = labelled(rng)
    base = KernelCRF(
        penalty=0.5, parts=Parts(edges=None, boundaries=None), tol=1e-9, run=Run(dtype="float64")
    )
    learner = StructureLearner(base, candidates=[Edges(), Boundaries()], worth=0.0)
    weighted = learner.fit(X, y, sample_weight=WEIGHTS)
    trials, kept, marginals = weighted.trials_, weighted.kept_, weighted.predict_marginals(X)
    longer = learner.fit(twice(X), twice(y))
    assert kept == longer.kept_
    for found, expected in zip(trials, longer.trials_, strict=True):
        assert (found.name, found.kept) == (expected.name, expected.kept)
        np.testing.assert_allclose([found.bound, found.gain], [expected.bound, expected.gain], rtol=1e-4)
    for found, expected in zip(marginals, longer.predict_marginals(X), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-4)
