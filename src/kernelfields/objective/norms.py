"""Norms that are not squared, as penalties of a space: they set parts of an element to zero.

Each is κ N(f) with a weight κ. What certificates and solvers need follows from the dual norm
N°(r) = max {⟨r, f⟩ : N(f) ≤ 1} and its ball: the conjugate of κ N is 0 where N°(r) ≤ κ and infinite
elsewhere, that of (λ/2)‖f‖² + κ N(f) is the squared distance of r to that ball over 2λ, and the proximal
map of κ N takes off what lies inside the ball. In maximum entropy, the ball says how far moments may be
from those observed [altun2006, Theorem 1].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, require_positive
from ..errors import UnsupportedError
from ..spaces import BoundSpace, Euclidean, Grouped
from .certificate import ENTRY


@dataclass(frozen=True)
class Norm(Checked, ABC):
    """A norm of elements of one space, times a weight κ."""

    weight: float
    _checks: ClassVar[Mapping[str, Check]] = {"weight": require_positive}

    @abstractmethod
    def require(self, name: str, space: BoundSpace) -> None:
        """Refuse a space that has no such norm."""

    @abstractmethod
    def of(self, space: BoundSpace, part: Array) -> float:
        """N(f), without the weight."""

    @abstractmethod
    def dual(self, space: BoundSpace, part: Array) -> float:
        """N°(r), of an element."""

    @abstractmethod
    def shrunk(self, space: BoundSpace, part: Array, by: float | Array) -> Array:
        """Return an element less its projection on the dual ball of radius ``by``, a new array.

        An array says the radius of every coordinate, one for all that belong together (`levelled`).
        """

    @abstractmethod
    def levelled(self, space: BoundSpace, numbers: Array) -> Array:
        """Return the largest number of those coordinates that belong together, for every coordinate."""

    @abstractmethod
    def steepest(self, space: BoundSpace, part: Array, gradient: Array, by: float) -> Array:
        """Return the shortest element of gradient + by·∂N(f)."""

    @abstractmethod
    def moving(self, space: BoundSpace, part: Array) -> Any:
        """Return where N is smooth, as a mask of coordinates or one answer for all."""


@dataclass(frozen=True)
class L1Norm(Norm):
    """κ Σ_k |w_k|, of orthonormal coordinates: moments match in a box. Solved by `OWLQN`."""

    def require(self, name: str, space: BoundSpace) -> None:
        """Refuse spaces without orthonormal coordinates."""
        if not isinstance(space, Euclidean):
            raise UnsupportedError(
                f"An ℓ1 norm needs orthonormal coordinates, which {type(space).__name__} "
                f"of {name!r} does not have."
            )

    def of(self, space: BoundSpace, part: Array) -> float:
        """Σ_k |w_k|."""
        return float(np.abs(part).sum(dtype=np.float64))

    def dual(self, space: BoundSpace, part: Array) -> float:
        """max_k |r_k|."""
        return float(np.abs(part).max(initial=0.0))

    def shrunk(self, space: BoundSpace, part: Array, by: float | Array) -> Array:
        """sign(w_k) (|w_k| − by)₊."""
        return np.asarray(part - np.clip(part, -by, by))

    def levelled(self, space: BoundSpace, numbers: Array) -> Array:
        """Return the same."""
        return numbers

    def steepest(self, space: BoundSpace, part: Array, gradient: Array, by: float) -> Array:
        """g_k + by sign(w_k), or g_k shrunk where w_k = 0."""
        return np.where(part == 0, self.shrunk(space, gradient, by), gradient + by * np.sign(part))

    def moving(self, space: BoundSpace, part: Array) -> Any:
        """w_k ≠ 0."""
        return part != 0


@dataclass(frozen=True, eq=False)
class GroupNorm(Norm):
    """κ Σ_g ‖w_g‖ over groups of orthonormal coordinates: a group is zero as a whole, or not at all.

    With the weights of one feature, for all labels, as a group, whole features drop out [altun2006, 1.5].

    Parameters
    ----------
    weight : float
        κ.
    groups : (size,) integers, optional
        The group of every coordinate, counted from 0; if not given, those of the space.
    """

    groups: Array | None = None

    def require(self, name: str, space: BoundSpace) -> None:
        """Refuse spaces without orthonormal coordinates, and groups of others."""
        if not isinstance(space, Euclidean):
            raise UnsupportedError(
                f"A group norm needs orthonormal coordinates, which {type(space).__name__} "
                f"of {name!r} does not have."
            )
        if self.groups is None and not isinstance(space, Grouped):
            raise UnsupportedError(
                f"{type(space).__name__} of {name!r} has no groups; name them in GroupNorm."
            )
        if self.groups is not None and len(self.groups) != space.size:
            raise UnsupportedError(
                f"The groups of {name!r} are {len(self.groups)}; expected one for each of its "
                f"{space.size} weights."
            )

    def _groups(self, space: BoundSpace) -> Array:
        return self.groups if self.groups is not None else space.groups  # type: ignore[attr-defined]

    def _lengths(self, space: BoundSpace, part: Array) -> tuple[Array, Array]:
        """Return ‖w_g‖ of every group, and the group of every coordinate."""
        groups, wide = self._groups(space), part.astype(np.float64, copy=False)
        return np.sqrt(np.bincount(groups, wide * wide)), groups

    def of(self, space: BoundSpace, part: Array) -> float:
        """Σ_g ‖w_g‖."""
        return float(self._lengths(space, part)[0].sum())

    def dual(self, space: BoundSpace, part: Array) -> float:
        """max_g ‖r_g‖."""
        return float(self._lengths(space, part)[0].max(initial=0.0))

    def shrunk(self, space: BoundSpace, part: Array, by: float | Array) -> Array:
        """(1 − by/‖w_g‖)₊ w_g."""
        lengths, groups = self._lengths(space, part)
        if isinstance(by, np.ndarray):
            radius = np.zeros(len(lengths))
            radius[groups] = by
            by = radius
        return part * _kept(lengths, by)[groups].astype(part.dtype)

    def levelled(self, space: BoundSpace, numbers: Array) -> Array:
        """Return the largest of every group."""
        groups = self._groups(space)
        largest = np.full(int(groups.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(largest, groups, numbers)
        return largest[groups].astype(numbers.dtype)

    def steepest(self, space: BoundSpace, part: Array, gradient: Array, by: float) -> Array:
        """g_g + by w_g/‖w_g‖, or g_g shrunk where w_g = 0."""
        lengths, groups = self._lengths(space, part)
        zero = lengths == 0
        inward = by / np.where(zero, 1.0, lengths)
        moved = gradient + inward[groups].astype(part.dtype) * part
        return np.where(zero[groups], self.shrunk(space, gradient, by), moved)

    def moving(self, space: BoundSpace, part: Array) -> Any:
        """w_g ≠ 0."""
        lengths, groups = self._lengths(space, part)
        return (lengths > 0)[groups]


@dataclass(frozen=True)
class SpaceNorm(Norm):
    """ε ‖f‖, the norm of the space itself, for every Hilbert space: moments match up to ε.

        min_f loss(f) + ε‖f‖    is the dual of    max_p entropy(p)  subject to  ‖E_p[Φ] − Φ̃‖ ≤ ε

    [altun2006, Theorem 1]; at an optimum f ≠ 0 the mismatch has the length ε, and f is that of the squared
    penalty with λ = ε/‖f‖. Where ‖mismatch‖ ≤ ε at f = 0, that is the optimum.
    """

    def require(self, name: str, space: BoundSpace) -> None:
        """Take every space."""

    def of(self, space: BoundSpace, part: Array) -> float:
        """‖f‖."""
        return float(np.sqrt(max(space.inner(part, part), 0.0)))

    def dual(self, space: BoundSpace, part: Array) -> float:
        """‖r‖."""
        square = space.inner(part, part)
        return float(np.sqrt(max(square + ENTRY * space.spread(part, square), 0.0)))

    def shrunk(self, space: BoundSpace, part: Array, by: float | Array) -> Array:
        """(1 − by/‖f‖)₊ f."""
        radius = float(np.max(by, initial=0.0))
        return part * float(_kept(np.array([self.of(space, part)]), radius)[0])

    def levelled(self, space: BoundSpace, numbers: Array) -> Array:
        """Return the largest of all."""
        return np.full_like(numbers, numbers.max(initial=0.0))

    def steepest(self, space: BoundSpace, part: Array, gradient: Array, by: float) -> Array:
        """G + by f/‖f‖, or g shrunk where f = 0."""
        length = self.of(space, part)
        return self.shrunk(space, gradient, by) if length == 0 else gradient + (by / length) * part

    def moving(self, space: BoundSpace, part: Array) -> Any:
        """F ≠ 0."""
        return self.of(space, part) > 0


def _kept(lengths: Array, by: float | Array) -> Array:
    """(1 − by/length)₊."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(lengths > by, 1 - by / lengths, 0.0)
