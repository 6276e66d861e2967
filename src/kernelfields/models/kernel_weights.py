"""Several kernels in one, with weights that are learnt."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..data.labels import UNOBSERVED
from ..errors import InputError
from ..kernels import Kernel, Scaled, alignments, check_gram, shares_of
from ..kernels.weighted import ALIGNMENT, CERTIFICATE
from ..solvers import Solver
from ..structures import LabelledBatch
from .certified_weights import certified_weights
from .kernel_recipe import KernelTraining
from .vertex_kernels import VertexKernels


class WeighedKernels(NamedTuple):
    """A training set with one kernel made of several, and what is known of their weights."""

    data: KernelTraining
    weights: Array
    """μ, (M,)."""
    bound: float | None
    """No weights and no functions have an objective below; None if it is not known."""


def weigh_kernels(data: KernelTraining, solver: Solver) -> WeighedKernels:
    """Return the training set with the kernel Σ_m (μ_m/s_m) k_m.

    s_m is the spread of k_m over labelled observations, its mean squared distance from the mean: kernels are
    brought to the same scale, and the penalty means the same whatever scale they had.
    """
    recipe = data.recipe
    _require_weighable(data)
    kernels = recipe.kernel
    labels = data.training.encoded.labels
    observed = np.flatnonzero(labels != UNOBSERVED)
    for kernel in kernels:
        check_gram(kernel, data.training.inputs.features)
    found = alignments(kernels, data.observations[data.rows[observed]], labels[observed])
    bound = None
    if recipe.kernel_weights == ALIGNMENT:
        weights = shares_of(found)
    else:
        _require_spread(found.spreads)
        weights, certificate = certified_weights(data, kernels, found.spreads, solver)
        bound = certificate.lower_bound
    return WeighedKernels(_merged(data, kernels, weights, found.spreads), weights, bound)


def _merged(data: KernelTraining, kernels: list[Kernel], weights: Array, spreads: Array) -> KernelTraining:
    """Return the training set with the weighed kernels, those without weight left out."""
    kept = [m for m in range(len(kernels)) if weights[m] > 0]
    several = [Scaled(kernels[m], float(weights[m] / spreads[m])) for m in kept]
    recipe = replace(data.recipe, kernel=several)
    merged = VertexKernels.of(several, recipe.penalty, data.training.encoded.classes)
    edge_kernel = merged.kernel if recipe.edge_kernel is True else data.edge_kernel
    return replace(data, recipe=recipe, kernels=merged, edge_kernel=edge_kernel)


def _require_weighable(data: KernelTraining) -> None:
    recipe = data.recipe
    if isinstance(recipe.penalty, list | tuple):
        raise InputError("Weighted kernels need one penalty: several are weights already.")
    if not isinstance(data.training.batch, LabelledBatch):
        raise InputError("Weighted kernels need a structure whose vertices have labels.")
    if recipe.kernel_weights == CERTIFICATE:
        given: dict[str, object] = {"basis": recipe.approximation, "norms of parts": recipe.norms or None}
        given["an edge_kernel without a kernel of its own"] = True if recipe.edge_kernel is True else None
        for name, value in given.items():
            if value is not None:
                raise InputError(f"Weighted(by='certificate') does not go with {name}.")


def _require_spread(spreads: Array) -> None:
    for m, spread in enumerate(spreads):
        if not spread > 1e-12 * max(spreads.max(), np.finfo(float).tiny):
            raise InputError(f"kernel {m} has the same value for all observations; it can have no weight.")
