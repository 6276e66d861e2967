"""Inner products to kernel values, in place.

Formulas are written in NumPy where the kernels are. Those that N² exponentials wait for have a second
form in the core, registered here; tests hold the two together.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from .. import native
from ..errors import InputError
from ..kernels import RBF, ProductKernel
from ._base import Array
from ._pieces import for_each_piece


@singledispatch
def transform(kernel: ProductKernel, products: Array, left: Array, right: Array) -> None:
    """Overwrite ⟨x_i, y_j⟩ by k(x_i, y_j), on all cores, piece by piece so that pieces stay in the cache."""

    def apply(columns: slice) -> None:
        kernel.apply(products[:, columns], left, right[columns])

    for_each_piece(products, apply)


@transform.register
def _(kernel: RBF, products: Array, left: Array, right: Array) -> None:
    if not 0 <= kernel.gamma < np.inf:
        raise InputError(f"gamma of RBF is {kernel.gamma}, but must be a number that is not negative.")
    native.gaussian_transform(products, left, right, float(kernel.gamma))
