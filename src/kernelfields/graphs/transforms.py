"""Functions ρ of the eigenvalues of a Laplacian: not negative and never increasing [smola2003].

A kernel Σ ρ(e_i) v_i v_iᵀ is smooth on the graph because ρ gives less to eigenvectors that vary fast.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_not_negative, require_positive, require_whole, shown
from ..errors import InputError
from ..parameters import Parameterised

ROUNDING = 1e-9
"""How much of its largest value a transform may increase by without being refused."""


class SpectralTransform(Parameterised, ABC):
    """ρ(e)."""

    @abstractmethod
    def __call__(self, e: Array) -> Array:
        """Return ρ of eigenvalues."""


class Regularised(SpectralTransform):
    """ρ(e) = 1/(e + ε): the inverse of the Laplacian plus ε.

    Parameters
    ----------
    epsilon : float
        ε > 0. The smaller it is, the more a function is the same all over a component.

    Examples
    --------
    >>> import numpy as np
    >>> Regularised(epsilon=0.5)(np.array([0.0, 0.5]))
    array([2., 1.])
    """

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    def __call__(self, e: Array) -> Array:
        """Return 1/(e + ε)."""
        return 1 / (e + require_positive("epsilon of Regularised", self.epsilon))


class Diffusion(SpectralTransform):
    """ρ(e) = exp(−s e/2): heat that has spread over the graph for a time.

    Parameters
    ----------
    time : float
        s ≥ 0; at 0 every vertex is alone.
    """

    def __init__(self, time: float = 10.0) -> None:
        self.time = time

    def __call__(self, e: Array) -> Array:
        """Return exp(−s e/2)."""
        return np.exp(-0.5 * require_not_negative("time of Diffusion", self.time) * e)


class RandomWalk(SpectralTransform):
    """ρ(e) = (a − e)^p: walks of p steps that may stay where they are.

    Parameters
    ----------
    steps : int
        p ≥ 1.
    a : float
        At least the largest eigenvalue; 2 suffices for normalised Laplacians.
    """

    def __init__(self, steps: int = 3, a: float = 2.0) -> None:
        self.steps = steps
        self.a = a

    def __call__(self, e: Array) -> Array:
        """Return (a − e)^p."""
        a = require_positive("a of RandomWalk", self.a)
        if len(e) and e.max() > a * (1 + ROUNDING):
            raise InputError(
                f"a of RandomWalk is {shown(self.a)}; there is an eigenvalue {e.max():.6g} above it."
            )
        return np.maximum(a - e, 0.0) ** require_whole("steps of RandomWalk", self.steps, most=1000)


class InverseCosine(SpectralTransform):
    """ρ(e) = cos(e π/4), for normalised Laplacians, whose eigenvalues are at most 2."""

    def __call__(self, e: Array) -> Array:
        """Return cos(e π/4)."""
        if len(e) and e.max() > 2 * (1 + ROUNDING):
            raise InputError(
                f"InverseCosine needs eigenvalues of a normalised Laplacian, up to 2; there is {e.max():.6g}."
            )
        return np.maximum(np.cos(np.minimum(e, 2.0) * np.pi / 4), 0.0)


class Truncated(SpectralTransform):
    """ρ₁(e) up to a largest eigenvalue, 0 beyond.

    Parameters
    ----------
    transform : SpectralTransform or callable
        ρ₁.
    largest : float
        The last eigenvalue that counts.
    """

    def __init__(self, transform: SpectralTransform | Callable[[Array], Array], largest: float) -> None:
        self.transform = transform
        self.largest = largest

    def __call__(self, e: Array) -> Array:
        """Return ρ₁(e) where e is at most the largest that counts, else 0."""
        largest = require_not_negative("largest of Truncated", self.largest)
        return np.where(e <= largest, self.transform(e), 0.0)


def transformed(transform: Callable[[Array], Array], e: Array) -> Array:
    """Return ρ(e) of rising eigenvalues; refuse values that are negative or not finite, or that increase."""
    if not callable(transform):
        raise InputError(f"transform is {shown(transform)}; it must be a function of eigenvalues.")
    found: Any = np.asarray(transform(e), dtype=np.float64)
    if found.shape != e.shape:
        raise InputError(f"transform returns shape {found.shape} for eigenvalues of shape {e.shape}.")
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(bad):
        value = found[bad[0]]
        raise InputError(
            f"transform is {value} at the eigenvalue {e[bad[0]]:.6g}; it must be finite and not negative."
        )
    rises = np.flatnonzero(np.diff(found) > ROUNDING * np.abs(found).max(initial=0.0))
    if len(rises):
        i = rises[0]
        raise InputError(
            f"transform increases from {found[i]:.6g} at the eigenvalue {e[i]:.6g} "
            f"to {found[i + 1]:.6g} at {e[i + 1]:.6g}; it must not."
        )
    return found
