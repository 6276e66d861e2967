"""Kernel expansions, on cliques of any type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import require_unmasked
from ..gram import Gram
from ..native import score_dot, score_dots
from ..structures import StructureBatch
from ._base import BoundSpace, RowMap, first_members, in_rows, require_own_scores, values_of

NEGLIGIBLE = 1e-12
"""Eigenvalues below this share of the largest count as zero."""


class LabelEmbedding(NamedTuple):
    """k_Y(y, y′) = ⟨b_y, b_y′⟩: a kernel on labels (or label pairs) as one vector per label.

    An expansion with the kernel k_Y(y, y′) k(x, x′) then has r coefficients per observation instead of
    L, and scores K γ Bᵀ. The kernel [y = y′] needs no vectors.
    """

    vectors: Array | None
    """B, (L, r); None stands for the identity."""
    width: int
    """r."""

    @classmethod
    def identity(cls, n_labels: int) -> LabelEmbedding:
        """[y = y′]: every label learns for itself."""
        return cls(None, n_labels)

    @classmethod
    def centred(cls, n_labels: int) -> LabelEmbedding:
        """[y = y′] − 1/L in L − 1 columns [altun2004exp, Lemma 13].

        The same model as without centring: p(y|x) does not notice a constant, and the minimiser has
        coefficients that sum to zero over labels anyway. For two labels ±1 this is ½ y y′, one column.
        """
        rows = np.arange(1, n_labels)
        vectors = np.zeros((n_labels, n_labels - 1))
        for k in rows:  # Helmert's basis of what is orthogonal to the constants
            vectors[:k, k - 1] = 1
            vectors[k, k - 1] = -k
        return cls(vectors / np.sqrt(rows * (rows + 1)), n_labels - 1)

    @classmethod
    def only(cls, labels: Array, n_labels: int) -> LabelEmbedding:
        """[y = y′ is one of these]: a kernel for some labels [altun2004gp, 2]."""
        vectors = np.eye(n_labels)[:, np.asarray(labels)]
        return cls(vectors, vectors.shape[1])

    @classmethod
    def of(cls, kernel: Array) -> LabelEmbedding:
        """Any k_Y, given as an (L, L) matrix: symmetric, with no negative eigenvalue."""
        require_unmasked(kernel, "The kernel on labels")
        kernel = np.asarray(kernel, dtype=np.float64)
        if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1]:
            raise ValueError(f"The kernel on labels has shape {kernel.shape}; it must be square.")
        if not np.isfinite(kernel).all() or not np.allclose(kernel, kernel.T):
            raise ValueError("The kernel on labels is not symmetric, or not finite.")
        values, vectors = np.linalg.eigh(kernel)
        least = NEGLIGIBLE * max(len(kernel) * np.abs(values).max(initial=0.0), 1e-300)
        if values.min(initial=0.0) < -1e4 * least:
            raise ValueError(f"The kernel on labels has the negative eigenvalue {values.min():.3g}.")
        kept = values > least
        return cls(vectors[:, kept] * np.sqrt(values[kept]), int(kept.sum()))

    @property
    def longest(self) -> float:
        """The norm of the longest of the vectors."""
        return 1.0 if self.vectors is None else float(np.linalg.norm(self.vectors, axis=1).max(initial=0.0))

    def scores(self, columns: Array) -> Array:
        """A Bᵀ, from r columns to L."""
        return columns if self.vectors is None else columns @ self.vectors.T.astype(columns.dtype, copy=False)

    def columns(self, scores: Array) -> Array:
        """A with A Bᵀ = scores, as far as there is one: from L columns to r."""
        return scores if self.vectors is None else scores @ np.linalg.pinv(self.vectors.T)

    def project(self, gradient: Array) -> Array:
        """G B, from L columns to r."""
        return (
            gradient if self.vectors is None else gradient @ self.vectors.astype(gradient.dtype, copy=False)
        )


class Expansion(BoundSpace):
    """f(x, y) = Σ_o Σ_ŷ α_{o,ŷ} k(x_o, x) k_Y(ŷ, y) over all observations o of a training set.

    The representer theorem [lafferty2004; altun2006, 1.21; altun2004exp, Cor. 8]: no other function of
    the space does better. With α = γ Bᵀ in the vectors of the kernel on labels, scores are K γ Bᵀ and
    ⟨f, f′⟩ = tr γᵀKγ′.

    An element is [γ, Kγ]. Directions, steps and differences of gradients are linear combinations of
    elements, their images along with them; only the representer of a gradient asks for a product with
    K. The representer of dθ is dθ itself, at the observations its cliques see: a gradient is a
    function of the space, not an array of partial derivatives.

    Parameters
    ----------
    structure : StructureBatch
        The batch; the cliques need scores of their own, C·L² numbers on edges.
    clique : str
        The clique type.
    gram : Gram
        K on the observations of the basis.
    rows : (C,) integers, optional
        Which observation each clique sees; that of its first member if not given, so that the Gram matrix
        of the vertices serves all clique types.
    embedding : LabelEmbedding, optional
        The kernel k_Y on what a clique can have, such as labels or label pairs; [y = y′] if not given.
    """

    def __init__(
        self,
        structure: StructureBatch,
        clique: str,
        gram: Gram,
        rows: Array | None = None,
        embedding: LabelEmbedding | None = None,
    ) -> None:
        require_own_scores(structure, clique)
        self.structure = structure
        self.clique = clique
        self.gram = gram
        self.embedding = (
            LabelEmbedding.identity(values_of(structure, clique)) if embedding is None else embedding
        )
        self._map = RowMap(first_members(structure, clique) if rows is None else rows, gram.size)
        self.half = gram.size * self.embedding.width
        self.size = 2 * self.half

    def add_scores(self, element: Array, into: Array) -> None:
        """Add Kγ Bᵀ, read off the image."""
        seen = self._map.seen(self.image(element))
        into += self.embedding.scores(seen).reshape(into.shape)

    def adjoint(self, gradient: Array) -> Array:
        """Return K times the gradient."""
        return self.gram.times(self._spread(gradient)).ravel()

    def representer(self, gradient: Array) -> Array:
        """Return the gradient itself as coefficients, and its image: the one product with K."""
        spread = self._spread(gradient)
        result = np.empty(self.size, spread.dtype)
        self.coordinates(result)[...] = spread
        self.image(result)[...] = self.gram.times(spread)
        return result

    def inner(self, left: Array, right: Array) -> float:
        """Σ_o ⟨γ_o, (Kγ′)_o⟩: coefficients of one, image of the other, added up in double.

        Not by BLAS, as in `Euclidean.inner`.
        """
        return score_dot(left[: self.half], right[self.half :])

    def inners(self, left: Sequence[Array], right: Array) -> Array:
        """Inner products of several elements with one, in one pass."""
        return score_dots([one[: self.half] for one in left], right[self.half :])

    @property
    def precision(self) -> np.dtype[Any]:
        """That of the Gram matrix."""
        return self.gram.dtype

    @cached_property
    def _norms(self) -> Array:
        """√k(x_o, x_o)."""
        return np.sqrt(np.maximum(self.gram.diagonal.astype(np.float64), 0.0))

    @cached_property
    def reach(self) -> float:
        """Σ_c √k(x_c, x_c), times the longest vector of the kernel on labels."""
        return self.embedding.longest * float(self._map.seen(self._norms).sum())

    def spread(self, element: Array, square: float) -> float:
        """(Σ_o √k(x_o, x_o) ‖γ_o‖)²: entries of K have errors of their own, which the sum cancels not."""
        lengths = np.linalg.norm(self.coordinates(element).astype(np.float64), axis=1)
        return float(self._norms @ lengths) ** 2

    def refreshed(self, element: Array) -> Array:
        """Return the same element with its image computed anew."""
        result = element.copy()
        self.image(result)[...] = self.gram.times(self.coordinates(element))
        return result

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> Expansion:
        """Return the same functions, expanded over the same observations, on some instances."""
        rows = self._map.take(self.structure.cliques[self.clique].offsets, ids)
        return Expansion(structure, self.clique, self.gram, rows, self.embedding)

    @property
    def rows(self) -> Array:
        """Which observation each clique sees."""
        return np.arange(self.gram.size) if self._map.rows is None else self._map.rows

    def coordinates(self, element: Array) -> Array:
        """γ, (n, r): a view."""
        return element[: self.half].reshape(self.gram.size, self.embedding.width)

    def image(self, element: Array) -> Array:
        """Kγ, (n, r): a view."""
        return element[self.half :].reshape(self.gram.size, self.embedding.width)

    def coefficients(self, element: Array) -> Array:
        """γ Bᵀ, (n, L): the scores of an x are Σ_o k(x, x_o) times row o."""
        return np.array(self.embedding.scores(self.coordinates(element)))

    def _spread(self, gradient: Array) -> Array:
        """Gradients of cliques, added up at the observations they see."""
        return self._map.spread(self.embedding.project(in_rows(gradient)))
