"""The functions of a kernel model: expansions over all observations, or in a subspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..approximation import FactoredKernel, FourierMap, KernelMap, ObservationMap
from ..arrays import Array
from ..data.seeds import random_state
from ..data.training import Training
from ..errors import InputError
from ..kernels import Kernel, check_gram
from ..objective import Point, Problem, Term
from ..spaces import LinearFeatures, LowRank, SparseFeatures
from ..structures import EdgeBatch
from ..tables import APPROXIMATIONS, choose
from .clique_kernels import CliqueTerms
from .kernel_problem import embedding_of, fixed_scores, kernel_problem, search_precision
from .kernel_recipe import KernelRecipe
from .linear_space import WeightMap, takes_weights, weights_problem
from .norms import read_norms, with_norms
from .terms import answer_rows
from .vertex_kernels import VertexKernels


class Expanded(NamedTuple):
    """A problem, and what its kernel functions are made of."""

    problem: Problem
    maps: tuple[ObservationMap, ...]
    """Of each of the first terms, the kernel's: scores are columns of the map times coefficients."""
    exact: Callable[[], Problem]
    """Makes the same problem in double."""
    cliques: CliqueTerms
    """Kernels on cliques, the last terms."""

    @property
    def fourier(self) -> FourierMap | None:
        """Random features, where they stand for the kernel."""
        return next((one for one in self.maps if isinstance(one, FourierMap)), None)


class Gathered(NamedTuple):
    """Coefficients over one basis."""

    basis: Any
    """Observations, None where functions have none."""
    coef: Array
    """(n, L)."""
    edge_coef: Array | None
    """(n, L, L)."""


def expand(
    recipe: KernelRecipe,
    training: Training,
    observations: Any,
    rows: Array,
    kernels: VertexKernels,
    edge_kernel: Kernel | None,
    cliques: CliqueTerms,
    *,
    weights: bool = True,
) -> Expanded:
    """Return the problem of a kernel model, with an approximation if it asks for one.

    Position t has the observation ``rows[t]``. With ``weights``, a linear kernel may be given up for them.
    """
    every = [group.kernel for group in kernels.groups] + ([edge_kernel] if edge_kernel else [])
    for kernel in {id(kernel): kernel for kernel in every}.values():
        # in the precision of the input: in single, wide ranges look like errors
        check_gram(kernel, training.inputs.features)
    if weights and takes_weights(recipe, kernels, observations):
        problem = weights_problem(recipe, training, kernels)
        return Expanded(problem, (WeightMap(observations.shape[1], observations),), problem.exact, cliques)
    if recipe.approximation is None:
        return _dense(recipe, training, observations, rows, kernels, edge_kernel, cliques)
    settings = choose(APPROXIMATIONS, recipe.approximation, "approximation")
    random = random_state(recipe.random_state)
    distinct = {id(kernel): kernel for kernel in every}
    found = {
        key: settings.on(kernel, observations, random, recipe.memory_limit)
        for key, kernel in distinct.items()
    }
    maps = tuple(found[id(kernel)].map for kernel in every)
    if len(set(maps)) > 1 and isinstance(maps[0], FourierMap):
        raise InputError("Random Fourier features stand for one kernel only, not for several.")
    terms = _terms(recipe, training, rows, kernels, edge_kernel, found)
    every_term = [
        *terms,
        *recipe.free_terms(training.chain),
        *cliques.terms(np.float64, recipe.memory_limit),
    ]
    every_term = with_norms(every_term, read_norms(recipe.norms))
    problem = Problem.of(training.loss, every_term, fixed_scores(recipe, training))
    return Expanded(problem, maps, problem.exact, cliques)


def _dense(
    recipe: KernelRecipe,
    training: Training,
    observations: Any,
    rows: Array,
    kernels: VertexKernels,
    edge_kernel: Kernel | None,
    cliques: CliqueTerms,
) -> Expanded:
    """Expansions over all observations; the exact problem has its Gram matrices computed anew in double."""

    def problem_in(dtype: Any) -> Problem:
        return kernel_problem(
            recipe, training, observations, rows, kernels, edge_kernel, cliques, np.dtype(dtype)
        )

    every = [group.kernel for group in kernels.groups] + ([edge_kernel] if edge_kernel else [])
    maps = {id(kernel): KernelMap(kernel, observations) for kernel in every}
    dtype = search_precision(recipe, training, observations)
    problem = problem_in(dtype)
    exact = problem.exact if dtype == np.float64 else lambda: problem_in(np.float64)
    return Expanded(problem, tuple(maps[id(kernel)] for kernel in every), exact, cliques)


def _terms(
    recipe: KernelRecipe,
    training: Training,
    rows: Array,
    kernels: VertexKernels,
    edge_kernel: Kernel | None,
    found: dict[int, FactoredKernel],
) -> list[Any]:
    """The terms of low-rank spaces; kernels that are one share a factor."""
    chain = training.chain
    seen = None if (rows == np.arange(len(rows))).all() else rows
    terms = []
    for n, (kernel, labels) in enumerate(kernels.groups):
        embedding = embedding_of(recipe.label_kernel, labels, chain.n_answers)
        space = LowRank(chain, chain.answer, found[id(kernel)].factor, answer_rows(chain, seen), embedding)
        terms.append(Term("kernel" if labels is None else f"kernel {n}", space, kernels.penalty))
    if edge_kernel is not None:
        assert isinstance(chain, EdgeBatch)
        edges = LowRank(chain, "edge", found[id(edge_kernel)].factor, rows[chain.edge_tails])
        terms.append(Term("edge_kernel", edges, recipe.penalties.edge))
    return terms


def gather(point: Point, maps: tuple[ObservationMap, ...]) -> Gathered:
    """Put the coefficients of all kernels on one basis, without observations that have none."""
    bases = {id(_basis(one)): one for one in maps}
    ends = np.cumsum([0, *(one.size for one in bases.values())]).tolist()
    rows = {key: slice(a, b) for key, a, b in zip(bases, ends[:-1], ends[1:], strict=True)}
    L = point.problem.structure.n_answers
    coef, edge_coef = np.zeros((ends[-1], L)), None
    for term, one in zip(point.problem.terms[: len(maps)], maps, strict=True):
        space: Any = term.space
        part = coefficients_of(space, point.element[point.problem.slices[term.name]])
        if space.clique == "edge":
            edge_coef = np.zeros((ends[-1], L * L))
            edge_coef[rows[id(_basis(one))]] = part
        else:
            coef[rows[id(_basis(one))]] += part
    basis = _stacked([_basis(one) for one in bases.values()])
    if basis is None:
        return Gathered(None, coef, _in_pairs(edge_coef, L))
    used = coef.any(axis=1) if edge_coef is None else coef.any(axis=1) | edge_coef.any(axis=1)
    kept = edge_coef if edge_coef is None else edge_coef[used]
    # A copy in any case: the observations may be the user's own array, to be changed later.
    return Gathered(basis.copy() if used.all() else basis[used], coef[used], _in_pairs(kept, L))


def coefficients_of(space: Any, element: Array) -> Array:
    """Return what the columns of a map are multiplied with: weights, or coefficients of an expansion."""
    linear = isinstance(space, LinearFeatures | SparseFeatures)
    return np.asarray(space.table(element) if linear else space.coefficients(element))


def _basis(one: ObservationMap) -> Any:
    return one.basis if isinstance(one, KernelMap | WeightMap) else None


def _stacked(bases: list[Any]) -> Any:
    if len(bases) == 1:
        return bases[0]
    if any(sparse.issparse(basis) for basis in bases):
        return sparse.vstack([sparse.csr_matrix(basis) for basis in bases], format="csr")
    return np.concatenate(bases)


def _in_pairs(coef: Array | None, L: int) -> Array | None:
    return None if coef is None else coef.reshape(-1, L, L)
