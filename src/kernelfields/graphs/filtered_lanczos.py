"""Lowest eigenpairs by block Lanczos on a Chebyshev polynomial of the Laplacian.

Lanczos alone needs thousands of vectors, which must be kept orthogonal, because low eigenvalues lie densely
compared to the range. A polynomial that is large below the last eigenvalue wanted and at most one above it
[zhou2007] spreads them apart: the basis is then about twice as large as the number of pairs. Products with
the sparse matrix are cheap, orthogonality is not, so that the degree is chosen generously.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..workers import Run, workers
from .laplacian import GraphLaplacian
from .products import LaplacianProducts
from .tall_products import TallProducts

SHARPNESS = 3.0
"""The degree is this times √(upper/cut): the filter is about exp(2·SHARPNESS)/2 at 0."""
CHECKS = 5
"""Steps from a new random block by which eigenvectors would show that had no part in the first block."""
RESTARTS = 100
"""How often a basis is made small again before what there is has to do."""
FLAT = 0.3
"""Share of the range from which on a cut is so high that a filter of degree one, which is right whatever the
cut, does as well."""
VANISHED = 1e-10
"""What is left of an image that lies in the basis, relative to the image."""
SEPARATED = 1.05
"""What the filter must be at the last eigenvalue wanted; beyond the cut it is at most 1."""


class Filter(NamedTuple):
    """A polynomial of the Laplacian, see `LaplacianProducts.low_pass`."""

    cut: float
    upper: float
    degree: int


class Ritz(NamedTuple):
    """Values θ of the filter, falling, vectors in terms of the basis, and bounds of ‖𝓛v − e v‖."""

    values: Array
    vectors: Array
    residuals: Array


class Basis:
    """An orthonormal basis V that grows by blocks, and T = Vᵀp(𝓛)V for a filter p."""

    def __init__(
        self,
        products: LaplacianProducts,
        tall: TallProducts,
        low_pass: Filter,
        number: int,
        rng: np.random.Generator,
    ) -> None:
        self.products, self.tall, self.filter, self.number, self.rng = products, tall, low_pass, number, rng
        self.block = 16 if number >= 64 else 8 if number >= 32 else 4
        self.most = min(5 * number // 2 + 4 * self.block, products.size - products.nullity - self.block)
        self.vectors = np.empty((products.size, self.most + self.block), order="F")
        self.matrix = np.zeros((self.most + self.block, self.most + self.block))
        self.size = 0
        self._next, self._factor = np.empty((products.size, 0)), np.empty((0, self.block))

    def begin(self) -> None:
        """Append a random block."""
        self._next = self._random(self.block)
        self.extend()

    def step(self) -> None:
        """Filter the last block; what is new in it, made orthonormal, is the next one."""
        last = slice(self.size - self.block, self.size)
        image = self.products.low_pass(self.vectors[:, last], *self.filter)
        self.products.orthogonal_to_null(image)
        # Exact arithmetic would leave parts in the last two blocks only; a pass over all keeps it so.
        parts = self._project(image, max(0, self.size - 2 * self.block))
        parts += self._project(image, 0)
        self.matrix[: self.size, last] = parts
        self.matrix[last, : self.size] = parts.T
        self._next, self._factor = self._orthonormal(image)
        gone = np.abs(self._factor.diagonal()) < VANISHED * max(1.0, float(np.abs(parts).max()))
        if gone.any():  # the basis is invariant in these directions: others have to be drawn
            self._factor[gone] = 0
            self._next[:, gone] = self._random(int(gone.sum()))
            self._project(self._next, 0)
            self._next = scipy.linalg.qr(self._next, mode="economic")[0]

    def extend(self) -> None:
        """Append the next block."""
        self.tall.copy(self._next, self.vectors[:, self.size : self.size + self.block])
        self.size += self.block

    def separates(self, found: Ritz) -> bool:
        """Return whether the filter has larger values at the pairs found than at all beyond its cut."""
        return self.filter.degree == 1 or bool(found.values[-1] > SEPARATED)

    def ritz(self, number: int) -> Ritz:
        """Return the largest Ritz values of the filter."""
        T = self.matrix[: self.size, : self.size]
        values, vectors = scipy.linalg.eigh((T + T.T) / 2)
        values, vectors = values[::-1][:number], vectors[:, ::-1][:, :number]
        residuals = np.linalg.norm(self._factor @ vectors[self.size - self.block :], axis=0)
        return Ritz(values, vectors, residuals * self._of_laplacian(values))

    def _of_laplacian(self, values: Array) -> Array:
        """Return what residuals of the filter are to be multiplied by to bound those of the Laplacian.

        A residual is made of other eigenvectors; per unit of distance in the filter, θ − p(e), these are no
        farther from e than the whole range is long, or half of it where the filter is a straight line.
        """
        cut, upper, degree = self.filter
        if degree == 1:
            return np.full(len(values), (upper - cut) / 2)
        return upper / np.maximum(values - 1, SEPARATED - 1)

    def shrink(self, kept: Ritz) -> None:
        """Keep Ritz vectors only; the next block remains to be appended."""
        number = len(kept.values)
        self.tall.times(self.vectors[:, : self.size], kept.vectors, self.vectors[:, :number])
        self.matrix[:] = 0
        np.fill_diagonal(self.matrix[:number, :number], kept.values)
        self.size = number

    def _random(self, number: int) -> Array:
        found = self.products.orthogonal_to_null(self.rng.normal(size=(self.products.size, number)))
        for _ in range(2):
            self._project(found, 0)
        return scipy.linalg.qr(found, mode="economic", overwrite_a=True)[0]

    def _project(self, image: Array, first: int) -> Array:
        parts = np.zeros((self.size, image.shape[1]))
        known = self.vectors[:, first : self.size]
        parts[first:] = self.tall.inner(known, image)
        self.tall.subtract(image, known, parts[first:])
        return parts

    def _orthonormal(self, X: Array) -> tuple[Array, Array]:
        """Return Q and R of X = QR: by Cholesky, twice, where columns are not nearly dependent."""
        factor = np.eye(X.shape[1])
        for _ in range(2):
            try:
                lower = scipy.linalg.cholesky(self.tall.inner(X, X), lower=True)
            except scipy.linalg.LinAlgError:
                return scipy.linalg.qr(X, mode="economic")
            if lower.diagonal().min() < 1e-5 * lower.diagonal().max():
                return scipy.linalg.qr(X, mode="economic")
            inverse = scipy.linalg.solve_triangular(lower, np.eye(len(lower)), lower=True)
            X = self.tall.times(X, inverse.T, np.empty_like(X))
            factor = lower.T @ factor
        return X, factor


def filtered_lanczos(of: GraphLaplacian, number: int, tolerance: float) -> tuple[Array, Array]:
    """Return the lowest eigenpairs above the null space, with residuals of at most ``tolerance``."""
    with workers() as run:
        return _filtered_lanczos(of, number, tolerance, run)


def _filtered_lanczos(of: GraphLaplacian, number: int, tolerance: float, run: Run) -> tuple[Array, Array]:
    products, tall, rng = LaplacianProducts(of), TallProducts(of.size, run), np.random.default_rng(0)
    below = 1.15 * number + 5
    spectrum = spectrum_of(products, below, rng)
    upper = min(spectrum.upper * (1 + 1e-6), of.upper)
    cut = spectrum.value_at(below)
    while True:
        degree = int(np.ceil(SHARPNESS * np.sqrt(upper / cut))) if cut < FLAT * upper else 1
        low_pass = Filter(min(cut, FLAT * upper), upper, degree)
        found = _below(Basis(products, tall, low_pass, number, rng), tolerance)
        if found is not None:
            back = np.empty_like(found[1])
            back[products.order] = found[1]
            return found[0], back
        cut *= 1.5  # fewer eigenvalues lay below it than were counted


def _below(basis: Basis, tolerance: float) -> tuple[Array, Array] | None:
    """Return the pairs; None if the filter does not separate them from the others."""
    basis.begin()
    checked = np.empty(0)
    for _ in range(RESTARTS):
        if not _converge(basis, tolerance):
            return None
        kept = basis.ritz(basis.number)
        if len(checked) and np.allclose(kept.values, checked, rtol=1e-6):
            break
        basis.shrink(kept)
        checked = kept.values
        basis.begin()  # a new random block: nothing with a part in it can have been overlooked
        for _ in range(CHECKS):
            basis.step()
            basis.extend()
    return _eigenvalues(basis)


def _converge(basis: Basis, accuracy: float) -> bool:
    """Take steps until the residuals of the filter are small; False if the filter does not separate."""
    look = basis.size if basis.size > basis.number else int(1.6 * basis.number) + basis.block
    for _ in range(RESTARTS):
        while basis.size < min(look, basis.most):
            basis.step()
            basis.extend()
        basis.step()
        found = basis.ritz(basis.number)
        if found.residuals.max() <= accuracy:
            return basis.separates(found)
        if basis.size >= basis.most:
            if not basis.separates(found):
                return False
            basis.shrink(basis.ritz(basis.number + basis.block))
        basis.extend()
        look = basis.size + max(basis.block, basis.number // 8)
    return True


def _eigenvalues(basis: Basis) -> tuple[Array, Array]:
    """Return the Rayleigh quotients of the vectors that were kept, rising, with these vectors."""
    vectors = np.ascontiguousarray(basis.vectors[:, : basis.number])
    values = np.einsum("ij,ij->j", vectors, basis.products.times(vectors))
    order = np.argsort(values)
    return values[order], vectors[:, order]


STEPS, MOST = 80, 1280
"""Steps of Lanczos' recursion, at first and at most: near the ends, s steps resolve (π/s)²/4 of the range."""
VECTORS = 8
"""Random vectors; a count of n has a standard deviation of √(2n/VECTORS)."""


class SpectrumEstimate(NamedTuple):
    """A distribution of eigenvalues, those of the null space left out."""

    nodes: Array
    """Eigenvalues, rising."""
    counts: Array
    """How many eigenvalues there are up to each node, about."""
    upper: float
    """Bound of the largest eigenvalue."""

    def value_at(self, count: float) -> float:
        """Return the eigenvalue below which there are about so many."""
        return float(np.interp(count, self.counts, self.nodes))


def spectrum_of(products: LaplacianProducts, count: float, rng: np.random.Generator) -> SpectrumEstimate:
    """Estimate the spectrum so well that the eigenvalue with ``count`` below it can be told from 0."""
    steps = STEPS
    while True:
        found = _estimate(products, min(steps, products.size - products.nullity - 1), rng)
        if found.value_at(count) > 10 * found.upper / steps**2 or steps >= MOST:
            return found
        steps *= 4


def _estimate(products: LaplacianProducts, steps: int, rng: np.random.Generator) -> SpectrumEstimate:
    """Return Gauss quadrature by Lanczos' tridiagonal matrices [golub1969; ubaru2017]."""
    q = products.orthogonal_to_null(rng.normal(size=(products.size, VECTORS)))
    q /= np.linalg.norm(q, axis=0)
    before, beta = np.zeros_like(q), np.zeros(VECTORS)
    diagonals, sides = [], []
    for _ in range(steps):
        r = products.times(q) - beta * before
        alpha = np.einsum("ij,ij->j", q, r)
        r -= alpha * q
        beta = np.linalg.norm(r, axis=0)
        diagonals.append(alpha)
        sides.append(beta)
        before, q = q, r / np.maximum(beta, np.finfo(float).tiny)
    return _quadrature(np.array(diagonals), np.array(sides), products.size - products.nullity)


def _quadrature(diagonals: Array, sides: Array, total: int) -> SpectrumEstimate:
    nodes, weights, upper = [], [], 0.0
    for alpha, beta in zip(diagonals.T, sides.T, strict=True):
        values, vectors = scipy.linalg.eigh_tridiagonal(alpha, beta[:-1])
        nodes.append(values)
        weights.append(vectors[0] ** 2 * total / VECTORS)
        upper = max(upper, float(values[-1] + beta[-1] * abs(vectors[-1, -1])))
    where, counts = np.concatenate(nodes), np.concatenate(weights)
    order = np.argsort(where)
    return SpectrumEstimate(where[order], np.cumsum(counts[order]), upper)
