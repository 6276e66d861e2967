"""What a kernel is: a positive semi-definite function of two observations.

Formulas live here and in the files beside this one; how Gram matrices are computed, stored and
multiplied is the business of ``gram``. Settings are constructor arguments and plain attributes, as in
scikit-learn, so that ``get_params`` and ``set_params`` reach them through an estimator
(``kernel__gamma``, ``kernel__left__gamma``); they are checked when they are used.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_not_negative, require_positive, require_whole, shown
from ..parameters import Parameterised, alike
from .observations import Observations, inner_products, squared_norms

__all__ = [
    "Array",
    "Composite",
    "Kernel",
    "Observations",
    "Pointwise",
    "ProductKernel",
    "inner_products",
    "of_products",
    "product_block",
    "product_diagonal",
    "squared_norms",
    "tiled_diagonal",
]

TILE = 64
"""Observations per square when a diagonal is cut out of blocks."""


class _KernelType(ABCMeta):
    """Lets ``isinstance(kernel, ProductKernel)`` ask a composite for its parts.

    Whether a sum of kernels is a function of inner products depends on its parts, which
    ``set_params`` may change at any time; a class chosen at construction could not follow.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        if super().__instancecheck__(instance):
            return True
        if cls is not ProductKernel or not isinstance(instance, Composite):
            return False
        return all(isinstance(part, ProductKernel) for part in instance.parts)


class Kernel(Parameterised, metaclass=_KernelType):
    """A kernel k(x, x′).

    Kernels add, multiply, scale and take integer powers: ``2.0 * RBF() + Linear() * RBF()`` is a kernel.
    """

    universal: bool = False
    """Whether its functions come arbitrarily close to every continuous function on a compact set,
    and the model to every bounded continuous density [altun2006, Prop. 3]."""

    @property
    def looks_first(self) -> bool:
        """Whether it has to look at observations before it compares any, or a part of it has: see `on`."""
        return any(part.looks_first for part in self._kernels())

    @property
    def uses_unlabelled(self) -> bool:
        """Whether observations without labels are for it to look at, too, or for a part of it."""
        return any(part.uses_unlabelled for part in self._kernels())

    @property
    def takes_missing(self) -> bool:
        """Whether NaN is a missing number to it; to a kernel of kernels, if it is that to all of them."""
        parts = self._kernels()
        return bool(parts) and all(part.takes_missing for part in parts)

    def _kernels(self) -> list[Kernel]:
        """Return the kernels among its settings."""
        settings = self.get_params(deep=False).values()
        several = (part for one in settings for part in (one if isinstance(one, list | tuple) else [one]))
        return [part for part in several if isinstance(part, Kernel)]

    __array_ufunc__ = None  # else ``array * kernel`` would be an array of kernels

    @abstractmethod
    def block(self, X: Observations, Y: Observations) -> Array:
        """Return k(x_i, y_j) for all pairs, (n, m), a new array in the precision of the observations."""

    @abstractmethod
    def diagonal(self, X: Observations) -> Array:
        """Return k(x_i, x_i), (n,), a new array."""

    def on(self, observations: Observations) -> Kernel:
        """Return the kernel as it is on these observations: itself, unless it has to look at them first.

        Estimators call this with all observations that they are given, labelled or not, repeated ones as
        often as they occur, in the precision in which kernel values will be asked for. What is returned
        depends on its two arguments only, as every kernel does.
        """
        found = {name: settled(value, observations) for name, value in self.get_params(deep=False).items()}
        return with_parts(self, found)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and alike(self, other)

    def __hash__(self) -> int:
        return hash(type(self))  # settings may change

    def __call__(self, X: Observations, Y: Observations | None = None) -> Array:
        """Return the Gram matrix of X with Y, or with itself."""
        return self.block(X, X if Y is None else Y)

    # The algebra is built on this file, hence its imports wait until they are needed.

    def __add__(self, other: Any) -> Kernel:
        """Return k + k′, or k + c for a number c ≥ 0."""
        from .algebra import add

        return add(self, other)

    def __radd__(self, other: Any) -> Kernel:
        """Return c + k."""
        from .algebra import add

        return add(other, self)

    def __mul__(self, other: Any) -> Kernel:
        """Return k · k′, or c · k for a number c ≥ 0."""
        from .algebra import multiply

        return multiply(self, other)

    def __rmul__(self, other: Any) -> Kernel:
        """Return c · k."""
        from .algebra import multiply

        return multiply(other, self)

    def __pow__(self, exponent: int) -> Kernel:
        """Return k^d."""
        from .power import Power

        return Power(self, exponent)


class ProductKernel(Kernel):
    """A function of inner products: k(x, x′) = κ(⟨x, x′⟩, ‖x‖², ‖x′‖²).

    A subclass defines κ only, which is applied in place to a block of inner products, which the Gram engine
    computes by BLAS, or in the core where observations are sparse. Sums, products, powers, multiples
    and normalisations of such kernels are such kernels too, and share one block of inner products.
    """

    @property
    def takes_missing(self) -> bool:
        """It does not: no inner product is known of vectors that are not."""
        return False

    @abstractmethod
    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x_i, y_j⟩ by k(x_i, y_j); ``left`` holds ‖x_i‖² (n,), ``right`` ‖y_j‖² (m,)."""

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return k(x_i, y_j)."""
        return product_block(self, X, Y)

    def diagonal(self, X: Observations) -> Array:
        """Return κ(‖x‖², ‖x‖², ‖x‖²)."""
        return product_diagonal(self, squared_norms(X))


class Composite(Kernel):
    """A kernel made of kernels, which is a `ProductKernel` if all of its parts are."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that this kernel is made of."""

    @abstractmethod
    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite inner products by kernel values; a TypeError if a part is not a `ProductKernel`."""


class Pointwise(Composite):
    """k(x, x′) = m(k₁(x, x′), …): the values of its parts, merged pair by pair."""

    @abstractmethod
    def merge(self, values: list[Array]) -> Array:
        """Overwrite the first array by the merged values, and return it."""

    def block(self, X: Observations, Y: Observations) -> Array:
        """Merge the blocks of the parts, from one block of inner products where that is possible."""
        if isinstance(self, ProductKernel):
            return product_block(self, X, Y)
        return self.merge([part.block(X, Y) for part in self.parts])

    def diagonal(self, X: Observations) -> Array:
        """Merge the diagonals of the parts."""
        return self.merge([part.diagonal(X) for part in self.parts])

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Apply every part, all but the first to a copy of the inner products, and merge the values."""
        values = [products, *(products.copy() for _ in self.parts[1:])]
        for part, value in zip(self.parts, values, strict=True):
            of_products(part).apply(value, left, right)
        self.merge(values)


def settled(setting: Any, observations: Observations) -> Any:
    """Return a setting with the kernels in it as they are on these observations."""
    if isinstance(setting, Kernel):
        return setting.on(observations)
    if isinstance(setting, list | tuple) and any(isinstance(value, Kernel) for value in setting):
        found = [settled(value, observations) for value in setting]
        same = all(new is old for new, old in zip(found, setting, strict=True))
        return setting if same else type(setting)(found)
    return setting


def with_parts(kernel: Kernel, settings: dict[str, Any]) -> Kernel:
    """Return the same kernel with other settings; the very object where they are the ones it has."""
    present = kernel.get_params(deep=False)
    if all(value is present[name] for name, value in settings.items()):
        return kernel
    return type(kernel)(**{**present, **settings})


def of_products(kernel: Kernel) -> ProductKernel:
    """Require a function of inner products."""
    if not isinstance(kernel, ProductKernel):
        raise TypeError(f"{shown(kernel)} is not a function of inner products.")
    return kernel


def product_block(kernel: ProductKernel, X: Observations, Y: Observations) -> Array:
    """Return κ on a block of inner products."""
    products = inner_products(X, Y)
    kernel.apply(products, squared_norms(X), squared_norms(Y))
    return products


def product_diagonal(kernel: ProductKernel, squares: Array) -> Array:
    """Return κ(s, s, s) for squared norms s: the diagonals of small squares, because κ takes pairs.

    Off the diagonal, the smaller of two squared norms stands for the inner product: vectors
    with that product exist.
    """
    result = np.empty_like(squares)
    for start in range(0, len(squares), TILE):
        some = squares[start : start + TILE]
        tile = np.minimum(some[:, None], some[None, :])
        kernel.apply(tile, some, some)
        result[start : start + TILE] = tile.diagonal()
    return result


def tiled_diagonal(kernel: Kernel, X: Observations, size: int) -> Array:
    """Compute the diagonal of n observations from small blocks, for kernels without a formula for it."""
    tiles = [X[start : start + TILE] for start in range(0, size, TILE)]
    return np.concatenate([kernel.block(tile, tile).diagonal() for tile in tiles]) if tiles else np.empty(0)


def positive(kernel: Any, name: str) -> float:
    """Return a parameter that must be a number above zero; they are checked on use, as in scikit-learn."""
    return require_positive(_named(kernel, name), getattr(kernel, name))


def not_negative(kernel: Any, name: str) -> float:
    """Return a parameter that must be a number of at least zero."""
    return require_not_negative(_named(kernel, name), getattr(kernel, name))


def at_least_one(kernel: Any, name: str) -> int:
    """Return a parameter that must be a whole number of at least one."""
    return require_whole(_named(kernel, name), getattr(kernel, name), most=2**31 - 1)


def _named(kernel: Any, name: str) -> str:
    return f"{name} of {type(kernel).__name__}"
