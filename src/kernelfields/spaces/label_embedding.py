"""Which labels share what they learn: kernels on labels, as vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array

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

    def project(self, gradient: Array) -> Array:
        """G B, from L columns to r."""
        return (
            gradient if self.vectors is None else gradient @ self.vectors.astype(gradient.dtype, copy=False)
        )
