"""Matérn kernels."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ._base import ProductKernel, positive
from .data_kernel import refuse
from .observations import Observations, distances, euclidean, median_distance, require_rule

POLYNOMIALS: Mapping[float, tuple[float, ...]] = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1.0, 1.0, 1 / 3)}
"""Coefficients of q_ν, from the constant on."""


class Matern(ProductKernel):
    """k(x, x′) = q_ν(r) exp(−r) with r = √(2ν) ‖x − x′‖ / ℓ.

    q_½ = 1, q_{3/2} = 1 + r, q_{5/2} = 1 + r + r²/3 [rasmussen2006, (4.14), (4.17)]. Universal; its
    functions are rougher than those of the Gaussian kernel, which is the limit of large ν:
    differentiable 0, 1 and 2 times for ν = ½, 3/2 and 5/2.

    Parameters
    ----------
    length_scale : float or "median"
        ℓ > 0; or the median of ‖x − x′‖ over pairs of different observations of a training set, up to 1,000
        of them, which stands behind the name "matern". That is 1 if all observations are equal.
    nu : {0.5, 1.5, 2.5}
        ν.

    Examples
    --------
    >>> Matern(nu=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    universal = True

    def __init__(self, length_scale: float | str = 1.0, nu: float = 1.5) -> None:
        self.length_scale = length_scale
        self.nu = nu

    @property
    def looks_first(self) -> bool:
        """Whether observations decide about ℓ."""
        return isinstance(self.length_scale, str)

    def on(self, observations: Observations) -> Matern:
        """Return the kernel with ℓ as a number."""
        if not self.looks_first:
            return self
        require_rule("length_scale", self.length_scale)
        return Matern(median_distance(observations, euclidean), self.nu)

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x, x′⟩ by q_ν(r) exp(−r)."""
        if self.looks_first:
            refuse(self)
        if not isinstance(self.nu, Real) or self.nu not in POLYNOMIALS:
            raise InputError(f"Matern needs a nu of 0.5, 1.5 or 2.5, not {self.nu!r}.")
        scale = float(np.sqrt(2 * self.nu)) / positive(self, "length_scale")
        distances(products, left, right)
        products *= scale
        polynomial = _horner(POLYNOMIALS[self.nu], products)
        np.negative(products, out=products)
        np.exp(products, out=products)
        products *= polynomial


def _horner(coefficients: tuple[float, ...], r: Array) -> Array | float:
    """Return q(r)."""
    value: Array | float = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = value * r + coefficient
    return value
