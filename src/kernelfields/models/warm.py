"""Where the search for a kernel model starts that goes on from an earlier one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..gram import find_observations
from ..objective import Problem
from ..spaces import Expansion, LinearFeatures, SparseFeatures
from .attributes import scorers_of
from .parts import BoundParts
from .subspaces import feature_map
from .vertex_kernels import VertexKernels


def warm_element(
    before: Any,
    problem: Problem,
    kernels: VertexKernels,
    observations: Any,
    classes: Array,
    others: BoundParts,
) -> Array | None:
    """Return the function of a fitted model as far as it is an expansion over these observations.

    Observations that it has no coefficient for begin with zero; None if it is for other labels, or its
    observations are of another kind.
    """
    basis = getattr(before, "basis_", None)
    weights = any(isinstance(term.space, LinearFeatures | SparseFeatures) for term in problem.terms)
    features = feature_map(kernels.groups[0].kernel) if weights else None
    if weights and type(getattr(before, "kernel_", None)) is not type(kernels.kernel):
        return None
    if basis is None or not np.array_equal(before.classes_, classes) or not _alike(basis, observations):
        return None
    found = find_observations(observations, basis)
    learnt = scorers_of(before)
    pieces = []
    for term in problem.terms:
        piece = np.zeros(term.space.size)
        scorer, bound = learnt.get(term.name), others.bound.get(term.name)
        if bound is not None:
            known = None if scorer is None else bound.element(term.space, scorer)
            if known is not None and len(known) == len(piece):
                piece[:] = known
        elif isinstance(term.space, LinearFeatures | SparseFeatures):
            assert features is not None
            piece[:] = term.space.element(np.asarray(features(basis).T @ before.dual_coef_))
        elif isinstance(term.space, Expansion) and term.space.clique != "edge":
            _place(term.space, piece, found, before.dual_coef_)
        elif isinstance(term.space, Expansion) and before.edge_dual_coef_ is not None:
            _place(term.space, piece, found, before.edge_dual_coef_.reshape(len(found), -1))
        pieces.append(piece)
    return problem.refreshed(np.concatenate(pieces).astype(problem.element_dtype))


def _place(space: Expansion, element: Array, found: Array, coef: Array) -> None:
    """Write coefficients to an element, as those of the columns that the kernel on labels has."""
    vectors = space.embedding.vectors
    columns = coef if vectors is None else coef @ np.linalg.pinv(vectors.T)
    space.coordinates(element)[found[found >= 0]] = columns[found >= 0]


def _alike(basis: Any, observations: Any) -> bool:
    """Whether two sets of observations can be compared."""
    return type(basis) is type(observations) and basis.shape[1:] == observations.shape[1:]
