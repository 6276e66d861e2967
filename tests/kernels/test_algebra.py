"""Sums, products, multiples, powers, normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import rbf_kernel

import kernelfields.kernels as public
from kernelfields.kernels import (
    RBF,
    Columns,
    Constant,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    Power,
    Product,
    ProductKernel,
    Scaled,
    Sum,
    Tanimoto,
    WindowProduct,
    WindowSum,
)
from kernelfields.kernels import _base as base
from kernelfields.kernels.power import raise_to

LEAVES = st.sampled_from([Linear(), RBF(0.3), Cosine(), Laplacian(0.2), Matern(), Constant(0.5)])
KERNELS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Sum, inner, inner),
        st.builds(Product, inner, inner),
        st.builds(Scaled, inner, st.sampled_from([0.5, 2.0])),
        st.builds(Power, inner, st.integers(1, 3)),
        st.builds(Normalized, inner),
    ),
    max_leaves=4,
)
X = np.random.default_rng(3).normal(size=(7, 4))


def evaluated(kernel: Kernel) -> np.ndarray:
    """The Gram matrix on X by the rules of algebra, from those of the leaves."""
    match kernel:
        case Sum():
            return evaluated(kernel.left) + evaluated(kernel.right)
        case Product():
            return evaluated(kernel.left) * evaluated(kernel.right)
        case Scaled():
            return kernel.factor * evaluated(kernel.kernel)
        case Power():
            return evaluated(kernel.kernel) ** kernel.exponent
        case Normalized():
            K = evaluated(kernel.kernel)
            return K / np.sqrt(np.outer(K.diagonal(), K.diagonal()))
        case _:
            return kernel(X)


def leaves(kernel: Any) -> list[Kernel]:
    parts = getattr(kernel, "parts", ())
    return [leaf for part in parts for leaf in leaves(part)] if parts else [kernel]


@given(KERNELS)
@settings(deadline=None, max_examples=60)
def test_any_expression(kernel: Kernel) -> None:
    expected = evaluated(kernel)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), expected.diagonal(), rtol=1e-9)
    assert isinstance(kernel, ProductKernel) == (not any(isinstance(k, Laplacian) for k in leaves(kernel)))
    again = eval(repr(kernel), vars(public))
    np.testing.assert_allclose(again(X), expected, rtol=1e-9, atol=1e-12)
    copy = clone(kernel)
    assert repr(copy) == repr(kernel)


def test_operators() -> None:
    K, L = RBF(0.3)(X), X @ X.T
    for kernel, expected in [
        (2.0 * RBF(0.3) + Linear() * RBF(0.3), 2 * K + L * K),
        (RBF(0.3) * 2, 2 * K),
        (np.float64(2) * RBF(0.3), 2 * K),
        (np.float32(2) * RBF(0.3), 2 * K),
        (RBF(0.3) + 1, K + 1),
        (1 + RBF(0.3), K + 1),
        (np.int64(1) + RBF(0.3), K + 1),
        (sum([RBF(0.3), Linear(), Linear()]), K + 2 * L),
        ((Linear() + 1.0) ** 3, (L + 1) ** 3),
        (RBF(0.3) + rbf_kernel, K + rbf_kernel(X)),
        (RBF(0.3) * gp.DotProduct(), K * (L + 1)),
    ]:
        assert isinstance(kernel, Kernel)
        np.testing.assert_allclose(kernel(X), expected, rtol=1e-10)
    assert RBF() + 0 is not None
    with pytest.raises(ValueError, match="kernel=None must be a Kernel, a name or a function"):
        RBF() + None
    with pytest.raises(ValueError, match=r"kernel=array.* must be a Kernel, a name or a function"):
        np.ones(2) * RBF()


@pytest.mark.parametrize(
    "text",
    [
        "2.0 * RBF() + Linear() * RBF(gamma=0.5)",
        "(RBF() + Linear()) * Cosine()",
        "(RBF() * Linear()) ** 2",
        "(2.0 * Linear()) ** 3",
        "2.0 * (RBF() + Linear())",
        "((Linear() + Constant()) ** 2) ** 3",
        "Normalized(RBF() + Linear())",
        "WindowSum(RBF() * Linear(), width=5)",
        "WindowProduct(RBF(), width=2)",
        "Columns(RBF() + Linear(), slice(0, 3, None))",
        "Columns(RBF(), [0, 2])",
        "Matern(length_scale=2.0, nu=2.5)",
    ],
)
def test_repr_is_what_was_written(text: str) -> None:
    assert repr(eval(text, vars(public))) == text


def test_parameters_are_reached_through_any_depth() -> None:
    kernel = 2.0 * RBF(0.3) + Normalized(Polynomial(3)) * Columns(WindowSum(RBF(0.1), 2), [0, 1])
    found = kernel.get_params()
    assert found["left__factor"] == 2.0
    assert found["left__kernel__gamma"] == 0.3
    assert found["right__left__kernel__degree"] == 3
    kernel.set_params(
        left__kernel__gamma=0.7, right__left__kernel__degree=2, right__right__kernel__kernel__gamma=0.9
    )
    expected = 2 * RBF(0.7)(X) + Normalized(Polynomial(2))(X) * WindowSum(RBF(0.9), 2)(X[:, :2])
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


class Estimator(BaseEstimator):
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel


def test_parameters_are_reached_through_an_estimator() -> None:
    original = Estimator(RBF() + Linear())
    other = clone(original).set_params(kernel__left__gamma=5.0)
    assert other.get_params()["kernel__left__gamma"] == 5.0
    assert original.kernel.left.gamma == 1.0


def test_exchanging_a_part_changes_what_a_composite_is() -> None:
    kernel = Normalized(RBF() + Linear())
    assert isinstance(kernel, ProductKernel)
    kernel.set_params(kernel__left=Laplacian())
    assert not isinstance(kernel, ProductKernel)
    assert isinstance(kernel, Normalized)
    np.testing.assert_allclose(kernel(X), Normalized(Laplacian() + Linear())(X))
    with pytest.raises(
        TypeError, match=r"^Laplacian\(\) \+ Linear\(\) is not a function of inner products\.$"
    ):
        kernel.apply(X @ X.T, np.ones(7), np.ones(7))
    kernel.set_params(kernel__left=Cosine())
    assert isinstance(kernel, ProductKernel)


def test_only_functions_of_inner_products_are_such() -> None:
    assert not isinstance(Laplacian(), ProductKernel)
    assert not isinstance(Columns(RBF(), [0]), ProductKernel)
    assert not isinstance(WindowSum(RBF(), 2) + RBF(), ProductKernel)
    assert not isinstance("rbf", ProductKernel)
    assert isinstance(RBF() + RBF(), Kernel)
    assert not isinstance(RBF() + RBF(), RBF)


def test_inner_products_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = base.inner_products
    monkeypatch.setattr(base, "inner_products", lambda a, b: calls.append(1) or original(a, b))
    kernel = 2.0 * Normalized(RBF() + Linear()) * Tanimoto() + Polynomial() ** 2
    kernel(X)
    assert len(calls) == 1


@pytest.mark.parametrize("exponent", range(1, 20))
def test_whole_powers(exponent: int, rng: np.random.Generator) -> None:
    values = rng.normal(size=(3, 4))
    expected = np.power(values, exponent)
    assert raise_to(values, exponent) is values
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_zero_vectors_are_like_no_other() -> None:
    Z = np.array([[0.0, 0.0], [1.0, 2.0]])
    for kernel in (Cosine(), Normalized(Linear()), Normalized(Columns(Linear(), slice(None)))):
        np.testing.assert_allclose(kernel(Z), [[0, 0], [0, 1]])
        np.testing.assert_allclose(kernel.diagonal(Z), [0, 1])


def test_universal() -> None:
    assert all(k.universal for k in (RBF(), Matern(), Laplacian(), public.ExponentialChiSquare()))
    assert not any(k.universal for k in (Linear(), Polynomial(9), Cosine(), Tanimoto(), Constant()))
    assert (RBF() + Linear()).universal
    assert (Linear() + RBF()).universal
    assert not (Linear() + Polynomial()).universal
    assert not (RBF() * Linear()).universal
    assert (RBF() * Laplacian()).universal
    assert (2.0 * RBF()).universal
    assert not (0.0 * RBF()).universal
    assert (RBF() ** 2).universal
    assert Normalized(RBF() + Linear()).universal
    assert not Columns(RBF(), [0]).universal
    assert WindowProduct(RBF(), 2).universal
    assert not WindowSum(RBF(), 2).universal
