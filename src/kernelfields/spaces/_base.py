"""Where scores come from.

A *scorer*, bound to the inputs of a batch, gives clique scores; prediction needs no more. A *space*
is a scorer whose functions form a Hilbert space: it knows the inner product, and the Riesz
representer of a gradient in the scores. Solvers take both from here and never write ``w @ w``.

An element is a flat array: its coordinates and, for spaces whose scores are expensive (kernel
expansions), its image, that is its scores on the bound inputs, behind them. Elements are added and
scaled as arrays, images along with coordinates.

Which observation a clique sees is data: a `RowMap`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..arrays import Array, rows_of
from ..errors import UnsupportedError
from ..native import score_dot, score_dots
from ..structures import Scores, StructureBatch


class BoundScorer(ABC):
    """A scorer on the inputs of one batch."""

    clique: str
    """The clique type whose scores it feeds."""
    structure: StructureBatch
    size: int
    """Length of an element."""

    @abstractmethod
    def add_scores(self, element: Array, into: Array) -> None:
        """Add the scores of an element to the clique scores ``into``, in place."""

    def scores(self, element: Array) -> Array:
        """Scores of an element, in the shape of its clique type."""
        result = np.zeros(self.structure.shapes[self.clique])
        self.add_scores(element, result)
        return result


class BoundSpace(BoundScorer):
    """A Hilbert space on the inputs of one batch."""

    @abstractmethod
    def adjoint(self, gradient: Array) -> Array:
        """Return the derivative of ⟨gradient, scores(w)⟩ in the coordinates of w."""

    @abstractmethod
    def representer(self, gradient: Array) -> Array:
        """Return the element r with inner(r, v) = ⟨gradient, scores(v)⟩ for every v."""

    @abstractmethod
    def inner(self, left: Array, right: Array) -> float:
        """Inner product of two elements, without the penalty's weight."""

    def inners(self, left: Sequence[Array], right: Array) -> Array:
        """Inner products of several elements with one."""
        return np.array([self.inner(one, right) for one in left])

    @abstractmethod
    def refreshed(self, element: Array) -> Array:
        """Return the same element, its image computed anew: sums of images gather rounding errors."""

    @property
    def precision(self) -> np.dtype[Any]:
        """The precision of products with the inputs."""
        return np.dtype(np.float64)

    @property
    @abstractmethod
    def reach(self) -> float:
        """At least Σ_c ‖φ(x_c)‖ over all cliques: what rounding in a gradient can add up to, per unit."""

    def spread(self, element: Array, square: float) -> float:
        """At least what ⟨r, r⟩ (computed as ``square``) would be without cancellation: its error."""
        return square

    def precise(self) -> BoundSpace:
        """Return the same with products in double precision; itself, where it has no others."""
        return self

    @abstractmethod
    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> BoundSpace:
        """Return the same space on some instances only; ``structure`` is already cut to them."""


def places_of(spaces: Sequence[BoundSpace]) -> list[slice]:
    """Return where elements hold the part of each space."""
    ends = np.cumsum([0, *(space.size for space in spaces)]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


class Curved(ABC):
    """Part of a space that knows about how curved a loss is along each of its coordinates."""

    @abstractmethod
    def curvatures(self, expected: Array) -> Array:
        """About Σ_c μ_c φ_k(x_c)² for every coordinate k, from the marginals μ of its clique type.

        An upper bound of the diagonal of the Hessian of the log loss, were cliques independent of each
        other; a guess that solvers scale.
        """

    @property
    def sizes(self) -> tuple[float, float] | None:
        """The least and the largest column of φ, by its largest entry; None if curvatures always help."""
        return 1.0, 1.0


class Counted(ABC):
    """Part of a space with orthonormal coordinates whose features can be looked at one by one."""

    @property
    @abstractmethod
    def least(self) -> float:
        """The least value of a feature."""


class Grouped(ABC):
    """Part of a space with orthonormal coordinates that belong together in groups."""

    @property
    @abstractmethod
    def groups(self) -> Array:
        """The group of every coordinate, counted from 0: all weights of one feature."""


class Euclidean(BoundSpace):
    """A space with orthonormal coordinates: the representer is the adjoint."""

    def representer(self, gradient: Array) -> Array:
        """Xᵀ·gradient."""
        return self.adjoint(gradient)

    def inner(self, left: Array, right: Array) -> float:
        """⟨u, v⟩ = Σ u_k v_k, added up in double.

        Not by BLAS: its threads wait for each other at every call, which on a machine that has
        other work to do takes a thousand times longer than the product.
        """
        return score_dot(left, right)

    def inners(self, left: Sequence[Array], right: Array) -> Array:
        """Inner products of several elements with one, in one pass."""
        return score_dots(list(left), right)

    def refreshed(self, element: Array) -> Array:
        """Return the element itself: it has no image."""
        return element


class Joint(ABC):
    """Part of a space whose functions feed several clique types at once; ``clique`` names the first."""

    @abstractmethod
    def feed(self, element: Array, into: Scores) -> None:
        """Add the scores of an element to those of all its clique types, in place."""

    @abstractmethod
    def represent(self, gradient: Scores) -> Array:
        """Return the element r with inner(r, v) = Σ_τ ⟨gradient_τ, scores_τ(v)⟩ for every v."""


def in_rows(values: Array) -> Array:
    """Return values of cliques as a matrix with a row for each; sequences of one position have no edges."""
    return np.reshape(values, (len(values), math.prod(np.shape(values)[1:])))


def values_of(structure: StructureBatch, clique: str) -> int:
    """Return how many scores one clique has."""
    return math.prod(structure.cliques[clique].values)


def require_own_scores(structure: StructureBatch, clique: str) -> None:
    """Refuse functions of the input where all cliques share their scores."""
    if structure.cliques[clique].shared:
        raise UnsupportedError(
            f"{clique}: functions of the input need a structure whose cliques have scores of their own."
        )


def first_members(structure: StructureBatch, clique: str) -> Array | None:
    """Return the first vertex of every clique; None where that is each its own, in order."""
    return _unless_identity(structure.cliques[clique].members[:, 0], structure.n_vertices)


def _unless_identity(rows: Array, size: int) -> Array | None:
    same = len(rows) == size and bool((rows == np.arange(size)).all())
    return None if same else rows


def window_of(rows: Array) -> tuple[int, int]:
    """Return the least range that some rows are in."""
    return (int(rows.min()), int(rows.max()) + 1) if len(rows) else (0, 0)


class RowMap:
    """Clique c sees the observation ``rows[c]`` of n; None stands for each its own, in order."""

    def __init__(self, rows: Array | None, size: int) -> None:
        self.rows = None if rows is None else _unless_identity(np.asarray(rows), size)
        self.size = size
        self._distinct = self.most <= 1
        self._gatherers: dict[Any, Any] = {}

    def seen(self, values: Any) -> Any:
        """Values of observations, (n, r), as cliques see them."""
        return values if self.rows is None else values[self.rows]

    def spread(self, values: Array) -> Array:
        """Values of cliques, added up at the observations they see, (n, r)."""
        if self.rows is None:
            return values
        if not self._distinct:
            return np.asarray(self._gatherer(values.dtype) @ values)
        result = np.zeros((self.size, values.shape[1]), values.dtype)
        result[self.rows] = values
        return result

    def _gatherer(self, dtype: np.dtype[Any]) -> Any:
        """Return the (n, C) matrix with a one where an observation is seen, made once: searches ask often."""
        if dtype not in self._gatherers:
            assert self.rows is not None
            count = len(self.rows)
            seen = sparse.csr_matrix(
                (np.ones(count, dtype), self.rows, np.arange(count + 1)), (count, self.size)
            )
            self._gatherers[dtype] = seen.T.tocsr()
        return self._gatherers[dtype]

    def take(self, offsets: Array, ids: npt.ArrayLike) -> Array:
        """Return the rows of the cliques that some instances own."""
        cliques = rows_of(offsets, np.asarray(ids, dtype=np.int64))
        return cliques if self.rows is None else self.rows[cliques]

    @property
    def most(self) -> int:
        """How many cliques see one observation, at most."""
        return 1 if self.rows is None else int(np.bincount(self.rows).max(initial=0))
