"""Kernels that look at observations first, and those that do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelfields.errors import InputError
from kernelfields.gram import gram_of
from kernelfields.kernels import (
    RBF,
    Columns,
    DataKernel,
    FeatureMapKernel,
    Kernel,
    Linear,
    Normalized,
    Power,
    Rescaled,
    Standardized,
    WindowProduct,
    WindowSum,
    check_gram,
)
from tests._names import shown

from ._tables import CASES, Case

X = np.random.default_rng(3).normal(size=(12, 4)) * [1.0, 2.0, 3.0, 4.0]


class Means(DataKernel):
    """The constant kernel of the mean entry."""

    def on(self, observations: Any) -> Kernel:
        return abs(float(np.mean(observations))) * Linear()


class Moments(FeatureMapKernel):
    """φ(x) = (x, x²)."""

    def features(self, X: Any) -> Any:
        return np.concatenate([X, np.square(X)], axis=1)


@pytest.mark.parametrize("case", CASES, ids=shown)
def test_other_kernels_stay_the_object_that_they_are(case: Case, rng: np.random.Generator) -> None:
    assert case.kernel.on(case.draw(rng, 8)) is case.kernel


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, np.float32], ids=["dense", "sparse", "single"])
def test_the_scale_is_that_of_scikit_learn(make: Any) -> None:
    some = make(X * (np.abs(X) > 1))
    rival = SVC(gamma="scale").fit(some, np.arange(12) % 2)
    settled = RBF("scale").on(some)
    assert settled.gamma == pytest.approx(rival._gamma, rel=1e-5 if make is np.float32 else 1e-12)
    assert type(settled) is RBF


def test_the_scale_of_equal_or_no_observations_is_one() -> None:
    assert RBF("scale").on(np.full((3, 2), 7.0)).gamma == 1.0
    assert RBF("scale").on(np.zeros((0, 2))).gamma == 1.0


def test_composites_settle_their_parts() -> None:
    gamma = RBF("scale").on(X).gamma
    given = Normalized(2.0 * RBF("scale") + Power(Linear(), 2) * RBF("scale"))
    expected = Normalized(2.0 * RBF(gamma) + Power(Linear(), 2) * RBF(gamma))
    np.testing.assert_array_equal(given.on(X)(X), expected(X))
    assert given.kernel.left.kernel.gamma == "scale"  # what was given is as it was


def test_columns_and_windows_show_their_part_what_it_will_see() -> None:
    assert Columns(RBF("scale"), [1, 3]).on(X).kernel.gamma == RBF("scale").on(X[:, [1, 3]]).gamma
    below = np.concatenate([X[:, :2], X[:, 2:]])
    for kind in (WindowSum, WindowProduct):
        for some in (X, sp.csr_matrix(X)):
            settled = kind(RBF("scale"), width=2).on(some)
            assert settled.kernel.gamma == pytest.approx(RBF("scale").on(below).gamma, rel=1e-12)
            assert settled.width == 2


@pytest.mark.parametrize(
    "kernel", [Means(), RBF("scale"), Linear() + Means(), RBF("scale") * Linear()], ids=repr
)
def test_values_before_on_are_refused_in_a_sentence(kernel: Kernel) -> None:
    for ask in (lambda: kernel(X), lambda: kernel.diagonal(X), lambda: gram_of(kernel, X)):
        with pytest.raises(InputError, match=r"has to look at observations first: use kernel\.on"):
            ask()


def test_a_settled_kernel_is_one() -> None:
    check_gram((Means() + RBF("scale")).on(X), X)


def test_settings_are_clonable() -> None:
    assert clone(RBF("scale")).gamma == "scale"
    assert (Means() + RBF("scale")).set_params(right__gamma=2.0).right.gamma == 2.0


def test_a_feature_map_makes_a_kernel() -> None:
    features = np.hstack([X, X**2])
    np.testing.assert_allclose(Moments()(X), features @ features.T)
    np.testing.assert_allclose(Moments()(X, X[:3]), features @ features[:3].T)
    np.testing.assert_allclose(Moments().diagonal(X), (features**2).sum(axis=1))
    check_gram(Moments(), X)


@pytest.mark.parametrize("make", [np.asarray, np.float32], ids=["double", "single"])
def test_standardising_is_that_of_scikit_learn(make: Any) -> None:
    some = make(np.hstack([X, np.full((12, 1), 7.0)]))  # the last feature never varies
    scaler = StandardScaler().fit(some)
    settled, others = Standardized(RBF(0.3)).on(some), make(X[:3].repeat(2, axis=1)[:, :5])
    expected = RBF(0.3)(scaler.transform(others), scaler.transform(some))
    np.testing.assert_allclose(settled(others, some), expected, rtol=1e-4 if make is np.float32 else 1e-10)
    assert settled(others).dtype == some.dtype
    check_gram(settled, some)


def test_sparse_observations_are_only_rescaled() -> None:
    some = sp.csr_matrix(X * (np.abs(X) > 1))
    settled = Standardized(Linear(), centre=False).on(some)
    scaler = StandardScaler(with_mean=False).fit(some)
    expected = Linear()(scaler.transform(some))
    np.testing.assert_allclose(settled(some), expected, rtol=1e-10)
    np.testing.assert_allclose(settled(some.toarray()), expected, rtol=1e-10)
    with pytest.raises(InputError, match="does not take sparse observations: set centre=False"):
        Standardized(Linear()).on(some)


def test_the_inner_kernel_looks_at_standardised_observations() -> None:
    settled = Standardized(RBF("scale")).on(X)
    assert settled.kernel.gamma == pytest.approx(0.25, rel=1e-12)  # four features of variance 1
    assert Standardized(RBF("scale"), scale=False).on(X).scale is None


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Rescaled(Linear(), [0.0]), r"centre of Rescaled has shape \(1,\), expected \(4,\)"),
        (
            Rescaled(Linear(), scale=[1.0, 0.0, 1.0, 1.0]),
            "scale of Rescaled has numbers that are not above 0",
        ),
    ],
)
def test_wrong_settings_of_rescaling_are_refused(kernel: Kernel, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kernel(X)
