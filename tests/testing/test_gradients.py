"""Numerical derivatives find right ones right and wrong ones wrong."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields.testing import check_derivative, check_gradient, check_hessian

AT = {"node": np.array([0.3, -1.2]), "edge": np.array([[2.0]])}
ALONG = {"node": np.array([1.0, 0.5]), "edge": np.array([[-2.0]])}


def value(point) -> float:
    return float(np.exp(point["node"]).sum() + (point["edge"] ** 3).sum())


def gradient(point) -> dict[str, np.ndarray]:
    return {"node": np.exp(point["node"]), "edge": 3 * point["edge"] ** 2}


def product(point, along) -> dict[str, np.ndarray]:
    return {"node": np.exp(point["node"]) * along["node"], "edge": 6 * point["edge"] * along["edge"]}


def test_right() -> None:
    check_gradient(value, gradient, AT, ALONG, tolerance=1e-11)
    check_derivative(gradient, product, AT, ALONG, tolerance=1e-10)
    check_hessian(
        gradient, product, AT, ALONG, {name: array + 1 for name, array in ALONG.items()}, tolerance=1e-10
    )


def test_wrong_gradient() -> None:
    with pytest.raises(AssertionError, match="derivative of the value is given as"):
        check_gradient(value, lambda w: {**gradient(w), "edge": 3.0001 * w["edge"] ** 2}, AT, ALONG)


def test_wrong_derivative_is_named() -> None:
    def wrong(point, along):
        right = product(point, along)
        return {**right, "node": right["node"] + [0, 1e-5]}

    with pytest.raises(AssertionError, match=r"derivative \(node\) at \(1,\) is given as"):
        check_derivative(gradient, wrong, AT, ALONG)


def test_nan_and_shapes_are_errors() -> None:
    with pytest.raises(AssertionError, match="nan"):
        check_gradient(lambda w: (w**2).sum(), lambda w: np.nan * w, np.ones(2), np.ones(2))
    with pytest.raises(AssertionError, match=r"has shape \(1,\), expected \(2,\)"):
        check_derivative(lambda w: w**2, lambda w, d: (2 * w * d)[:1], np.ones(2), np.ones(2))


def test_other_inner_products() -> None:
    """With ⟨u, v⟩ = uᵀKv the gradient of wᵀKw/2 is w, not Kw."""
    K = np.array([[2.0, 1.0], [1.0, 3.0]])
    w, d, e = np.array([1.0, -2.0]), np.array([0.5, 1.5]), np.array([1.0, 1.0])
    check_gradient(lambda u: u @ K @ u / 2, lambda u: u, w, d, inner=lambda u, v: u @ K @ v)
    check_hessian(lambda u: u, lambda u, v: v, w, d, e, inner=lambda u, v: u @ K @ v)
    with pytest.raises(AssertionError):
        check_gradient(lambda u: u @ K @ u / 2, lambda u: u, w, d)


def test_a_product_that_is_not_self_adjoint() -> None:
    A = np.array([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(AssertionError, match="transposed Hessian product"):
        check_hessian(
            lambda w: A @ w, lambda w, d: A @ d, np.ones(2), np.array([1.0, 0.0]), np.array([0.0, 1.0])
        )


class Element:
    """Something that can only be added and scaled, as the elements of a space."""

    def __init__(self, number: float) -> None:
        self.number = number

    def __add__(self, other: Element) -> Element:
        return Element(self.number + other.number)

    def __mul__(self, factor: float) -> Element:
        return Element(self.number * factor)


def test_elements() -> None:
    pair = lambda u, v: u.number * v.number  # noqa: E731
    check_gradient(lambda w: w.number**2, lambda w: w * 2, Element(3.0), Element(-1.0), inner=pair)
