"""The objective in coordinates in which the penalty is that of a standard normal distribution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from ..arrays import Array
from ..errors import InputError
from ..losses import LogLoss
from ..objective import Geometry, Problem, Term
from ..objective.array_data import ArrayData
from ..spaces import Euclidean, Expansion, Factor, LowRank, Products
from ..structures import CovarianceOracle, SampleOracle, Scores, SumOracle

JITTERS = (1e-6, 1e-5, 1e-4, 1e-3)
"""Added to the diagonal of a Gram matrix, as a share of its mean: a variance that nobody notices. The first
that suffices is taken: matrices in single precision have negative eigenvalues of n times its rounding."""


class UnitProblem:
    """R(f) = loss(θ(u)) + ½‖u‖² with u = √λ_τ w_τ for the coordinates w_τ of every space.

    exp(−R) is then a standard normal prior of u times a likelihood, exp(−½‖u‖²) p(y|x, u): a Gaussian
    process in finitely many coordinates [altun2004gp, eq. 2–4]. Kernel expansions over n observations become
    n coordinates for each label by a Cholesky factor of their Gram matrix.

    Parameters
    ----------
    problem : Problem
        With the log loss on a structure that sums exactly, every penalty above 0, and no norms.
    """

    def __init__(self, problem: Problem) -> None:
        self.loss: LogLoss = require_posterior(problem)
        """On a structure with exact sums and draws."""
        arrays = problem.arrays
        kinds = [
            whitened(space, arrays.dtype) if isinstance(space, Expansion) else space
            for space in arrays.spaces
        ]
        self.data = ArrayData(arrays.loss, kinds, arrays.offset, arrays.dtype)
        terms = [
            Term(term.name, space, term.penalty) for term, space in zip(problem.terms, kinds, strict=True)
        ]
        self.problem = Problem(Geometry(terms), self.data)
        self.size = self.problem.size
        self.scale = np.concatenate([np.full(term.space.size, term.penalty**-0.5) for term in terms])
        """From u to w, for every coordinate."""
        self._given = problem

    @property
    def slices(self) -> dict[str, slice]:
        """The place of each space in u."""
        return self.problem.slices

    def element(self, u: Array) -> Array:
        """Return w, an element of ``problem``."""
        return u * self.scale

    def coordinates(self, element: Array) -> Array:
        """Return u of an element of the problem that was given."""
        parts = []
        for term, space in zip(self._given.terms, self.data.spaces, strict=True):
            part = element[self._given.slices[term.name]].astype(np.float64)
            if isinstance(term.space, Expansion):
                assert isinstance(space, LowRank)
                part = cholesky_coordinates(term.space, space, part)
            parts.append(part)
        return np.concatenate(parts) / self.scale

    def scores(self, u: Array) -> dict[str, Array]:
        """Return θ, fixed scores included."""
        return self.data.with_offset(self.along(u))

    def along(self, u: Array) -> dict[str, Array]:
        """Return the part of θ that is linear in u."""
        return self.data.scores(self.element(u))

    def pulled(self, gradient: Scores) -> Array:
        """Return the derivative of ⟨gradient, θ(u)⟩ in u."""
        return self.data.representer(gradient) * self.scale

    def log_likelihood(self, u: Array) -> float:
        """Return log p(y|x, u)."""
        return -self.loss.at(self.scores(u)).value


def whitened(space: Expansion, dtype: npt.DTypeLike) -> LowRank:
    """Return the functions of an expansion in orthonormal coordinates: K = C Cᵀ, scores C w, α = C⁻ᵀ w."""
    n = space.gram.size
    K = np.asarray(space.gram.times(np.eye(n, dtype=space.gram.dtype)), dtype=np.float64)
    factor = _cholesky(K)
    inverse = scipy.linalg.solve_triangular(factor, np.eye(n), lower=True)
    spectrum = np.square(factor).sum(axis=0)
    basis = Factor(Products(np.ascontiguousarray(factor, dtype=dtype)), None, inverse.T, spectrum)
    return LowRank(space.structure, space.clique, basis, space.rows, space.embedding)


def _cholesky(K: Array) -> Array:
    """Return C with C Cᵀ = K plus the least jitter that makes it definite."""
    n, mean = len(K), max(float(np.trace(K)) / max(len(K), 1), np.finfo(np.float64).tiny)
    for jitter in JITTERS:
        try:
            return np.linalg.cholesky(K + jitter * mean * np.eye(n))
        except np.linalg.LinAlgError:
            continue
    raise InputError(
        "The Gram matrix is not positive definite: the kernel is not one, or not on these inputs."
    )


def cholesky_coordinates(expansion: Expansion, space: LowRank, element: Array) -> Array:
    """Return Cᵀγ of an element of an expansion."""
    return space.factor.products.transposed_times(expansion.coordinates(element)).ravel()


def require_posterior(problem: Problem) -> LogLoss:
    """Refuse an objective that is not a log-likelihood with a Gaussian prior."""
    loss = problem.loss
    if not isinstance(loss, LogLoss) or loss.cost is not None:
        raise InputError("A posterior needs the log loss of observed labels, without a cost inside.")
    structure = loss.structure
    if not (
        isinstance(structure, SumOracle)
        and isinstance(structure, CovarianceOracle)
        and isinstance(structure, SampleOracle)
    ):
        raise InputError(f"A posterior needs exact sums and draws, which {type(structure).__name__} lacks.")
    for term in problem.terms:
        if term.norm is not None:
            raise InputError(f"A posterior needs squared penalties; {term.name} has a norm beside them.")
        if term.penalty <= 0:
            raise InputError(f"A posterior needs penalties above 0; that of {term.name} is {term.penalty:g}.")
        if not isinstance(term.space, Euclidean | Expansion):
            raise InputError(f"A posterior of {term.name} is not known.")
    return loss
