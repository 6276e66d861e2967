"""The functions of a kernel model: expansions over all observations, and their cost, or in a subspace."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..approximation import FourierMap, KernelMap, ObservationMap
from ..arrays import Array
from ..errors import LargeFitWarning, warn_user
from ..gram import gram_of
from ..gram.packed import PackedGram, memory_budget
from ..kernels import FeatureMapKernel, Kernel, Linear, Scaled, check_gram
from ..objective import Point, Problem
from ..observations import count, in_precision, stacked, take
from ..spaces import Expansion, LinearFeatures, SparseFeatures
from .kernel_training import KernelTraining
from .parts import BoundParts
from .subspaces import (
    Spanned,
    WeightMap,
    feature_map,
    features_problem,
    low_rank_problem,
    spanned,
    takes_weights,
    unit_vectors,
    weights_problem,
)
from .vertex_kernels import VertexKernels


class Expanded(NamedTuple):
    """A problem, and what its kernel functions are made of."""

    problem: Problem
    exact: Callable[[], Problem]
    """Makes the same problem in double."""
    bases: tuple[Any, ...] = ()
    """Observations that each of the first terms, the kernel's, is an expansion over; None for features
    that are not the kernel's, `Spanned` for weights of those that are."""
    maps: Callable[[], tuple[ObservationMap, ...]] = tuple
    """Makes what the coefficients of these terms are multiplied with at new observations."""
    fourier: FourierMap | None = None
    """Random features, where they stand for the kernel."""
    others: BoundParts | None = None
    """The other parts: labels alone, and kernels on cliques."""
    kernels: VertexKernels | None = None
    """Those of vertices, as they are on the training set; None without any."""


class Gathered(NamedTuple):
    """Coefficients over one basis."""

    basis: Any
    """Observations, None where functions have none."""
    coef: Array
    """(n, L)."""
    edge_coef: Array | None
    """(n, L, L)."""


def expand(data: KernelTraining, *, weights: bool = True) -> Expanded:
    """Return the problem of a kernel model, with an approximation if it asks for one.

    With ``weights``, expansions of kernels with few features may be given up for them.
    """
    for kernel in data.distinct_kernels.values():
        # in the precision of the input: in single, wide ranges look like errors
        check_gram(kernel, data.training.inputs.features)
    featured = isinstance(data.every_kernel[0], Linear | FeatureMapKernel | Scaled)
    if weights and featured and takes_weights(data):
        return _in_weights(data)
    approximation = data.recipe.approximation
    if approximation is None:
        if count(data.observations) > NOTABLE:
            announce(data)
        return _dense(data)
    problem, maps = low_rank_problem(data, approximation)
    fourier = next((one for one in maps if isinstance(one, FourierMap)), None)
    bases = tuple(one.basis if isinstance(one, KernelMap) else None for one in maps)
    return Expanded(problem, problem.exact, bases, lambda: maps, fourier, data.others, data.kernels)


def _in_weights(data: KernelTraining) -> Expanded:
    """Weights of features instead of coefficients of observations."""
    kernel, observations = data.kernels.kernel, data.observations
    features = feature_map(kernel)
    assert features is not None
    if type(kernel) is Linear:
        problem, units = weights_problem(data), unit_vectors(observations)
        maps = (WeightMap(features, units.shape[0]),)
        return Expanded(problem, problem.exact, (units,), lambda: maps, None, data.others, data.kernels)
    # in double: the search may do with less, the certificate and what is kept must not
    values = np.asarray(features(in_precision(observations, np.float64)), dtype=np.float64)
    problem = features_problem(data, values, data.precision)
    maps = (WeightMap(features, values.shape[1]),)

    def exact() -> Problem:
        double = np.dtype(np.float64)
        return problem.exact() if data.precision == double else features_problem(data, values, double)

    return Expanded(
        problem, exact, (spanned(observations, values),), lambda: maps, None, data.others, data.kernels
    )


def _dense(data: KernelTraining) -> Expanded:
    """Expansions over all observations; the exact problem has its Gram matrices computed anew in double."""
    dtype, observations, every = data.precision, data.observations, data.every_kernel
    problem = dense_problem(data, dtype)
    exact = problem.exact if dtype == np.float64 else lambda: dense_problem(data, np.dtype(np.float64))

    def maps() -> tuple[ObservationMap, ...]:
        made = {key: KernelMap(kernel, observations) for key, kernel in data.distinct_kernels.items()}
        return tuple(made[id(kernel)] for kernel in every)

    return Expanded(problem, exact, (observations,) * len(every), maps, None, data.others, data.kernels)


def dense_problem(data: KernelTraining, dtype: np.dtype[Any]) -> Problem:
    """Return the problem over all observations; kernels that are one share a Gram matrix."""
    limit = data.recipe.run.memory_limit
    grams = {
        key: gram_of(kernel, data.observations, dtype, limit) for key, kernel in data.distinct_kernels.items()
    }
    return data.problem(data.terms(Expansion, grams), dtype)


def gather(point: Point, bases: tuple[Any, ...], *, whole: bool = False) -> Gathered:
    """Put the coefficients of all kernels on one basis, without observations that have none.

    ``whole`` keeps these, too: other functions may have coefficients there.
    """
    terms, slices = point.problem.terms[: len(bases)], point.problem.slices
    parts = [coefficients_of(term.space, point.element[slices[term.name]]) for term in terms]
    if isinstance(bases[0], Spanned):  # it is the only one
        parts, bases = [bases[0].coefficients(parts[0])], (bases[0].observations,)
    sizes = {id(basis): len(part) for basis, part in zip(bases, parts, strict=True)}
    ends = np.cumsum([0, *sizes.values()]).tolist()
    rows = {key: slice(a, b) for key, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}
    L = point.problem.structure.n_answers
    coef, edge_coef = np.zeros((ends[-1], L)), None
    for term, part, basis in zip(terms, parts, bases, strict=True):
        if term.space.clique == "edge":
            edge_coef = np.zeros((ends[-1], L * L))
            edge_coef[rows[id(basis)]] = part
        else:
            coef[rows[id(basis)]] += part
    basis = stacked(list({id(basis): basis for basis in bases}.values()))
    if basis is None:
        return Gathered(None, coef, _in_pairs(edge_coef, L))
    used = coef.any(axis=1) if edge_coef is None else coef.any(axis=1) | edge_coef.any(axis=1)
    used |= whole
    kept = edge_coef if edge_coef is None else edge_coef[used]
    # A copy in any case: the observations may be the user's own array, to be changed later.
    return Gathered(basis.copy() if used.all() else basis[used], coef[used], _in_pairs(kept, L))


def coefficients_of(space: Any, element: Array) -> Array:
    """Return what the columns of a map are multiplied with: weights, or coefficients of an expansion."""
    linear = isinstance(space, LinearFeatures | SparseFeatures)
    return np.asarray(space.table(element) if linear else space.coefficients(element))


def _in_pairs(coef: Array | None, L: int) -> Array | None:
    return None if coef is None else coef.reshape(-1, L, L)


LARGE = 20_000
"""Different observations from which on the estimate is a warning."""
NOTABLE = 5_000
"""Different observations from which on ``verbose`` shows it."""
PROBE = 512
"""Observations whose kernel values are timed."""
PRODUCTS = 50
"""Products with a Gram matrix that a search takes, or so."""


class DenseCost(NamedTuple):
    """An estimate."""

    observations: int
    gigabytes: float
    """Of all Gram matrices."""
    stored: bool
    """Whether they fit into the memory that they may take; if not, every product computes them anew."""
    seconds: float

    def __str__(self) -> str:
        """Return a sentence."""
        where = "" if self.stored else ", more than it may take, so that every product computes it anew"
        minutes = self.seconds / 60
        length = f"{minutes:.0f} min" if minutes >= 2 else f"{max(self.seconds, 1.0):.0f} s"
        return (
            f"The Gram matrix of {self.observations:,} observations has {self.gigabytes:.2g} GB{where}; "
            f"the fit will take about {length}."
        )


def announce(data: KernelTraining) -> None:
    """Say what a dense fit will take: as a warning if it is large, and as a line with ``verbose``."""
    size = count(data.observations)
    if size <= LARGE and not data.recipe.verbose:
        return
    cost = estimate(data)
    if data.recipe.verbose:
        print(cost, file=sys.stderr, flush=True)
    if size > LARGE:
        advice = "basis='nystroem' takes time and memory in proportion to their number."
        warn_user(f"{cost} {advice}", LargeFitWarning)


def estimate(data: KernelTraining) -> DenseCost:
    """Estimate memory, and time from that of a small block and of a product with it.

    With n observations, s seconds for a kernel value and m for a multiply-add, a search takes about
    n²(s + 50 L m), or n²(50 s + 50 L m) where the matrix is not stored, and its certificate, in double, n² s.
    """
    size, kernels = count(data.observations), list(data.distinct_kernels.values())
    needed = sum(PackedGram.bytes_for(size, data.precision) for _ in kernels)
    stored = needed <= memory_budget(data.recipe.run.memory_limit)
    labels = len(data.training.encoded.classes)
    value, product = _rates(kernels, data.observations, labels)
    computed = 2 if stored else 1 + PRODUCTS
    seconds = float(size) ** 2 * (computed * value / 2 + PRODUCTS * product * len(kernels))
    return DenseCost(size, needed / 2**30, stored, seconds)


def _rates(kernels: list[Kernel], observations: Any, labels: int) -> tuple[float, float]:
    """Return seconds for a value of every kernel, and for its share in a product with a column per label."""
    sample = take(observations, np.arange(min(PROBE, count(observations))))
    start = time.perf_counter()
    blocks = [kernel.block(sample, sample) for kernel in kernels]
    middle = time.perf_counter()
    blocks[0] @ np.ones((len(blocks[0]), labels), dtype=blocks[0].dtype)
    end = time.perf_counter()
    return (middle - start) / blocks[0].size, (end - middle) / blocks[0].size
