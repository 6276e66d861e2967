"""How far a model of a subspace is from the optimum in the whole space of its kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..objective import Certificate
from ..observations import stacked
from ..spaces import Expansion
from .attributes import scorers_of
from .expansion import dense_problem
from .kernel_recipe import KernelTraining


def full_certificate(model: Any, data: KernelTraining) -> Certificate | None:
    """Certify f = Σ_o k(basis_o, ·) α_o among all functions of the space [altun2004exp, Lemma 9].

    ∇R(f) = Σ_v k(x_v, ·) (μ_v − parts_v) + λ f is an expansion over observations and basis together: f is
    put into the dense problem over both, in double, as every certificate.
    """
    both = stacked([data.observations, model.basis_])
    problem = dense_problem(replace(data, observations=both), np.dtype(np.float64))
    learnt, elements = scorers_of(model), []
    for term in problem.terms:
        if isinstance(term.space, Expansion):
            coef = model.dual_coef_ if term.space.clique != "edge" else model.edge_dual_coef_
            elements.append(_element(term.space, data.observations.shape[0], coef))
        else:
            elements.append(data.others.bound[term.name].element(term.space, learnt[term.name]))
    return problem.at(problem.refreshed(np.concatenate(elements))).certificate


def _element(space: Expansion, n: int, coef: Array) -> Array:
    """The element with these coefficients at the observations behind the first n; its image is not set."""
    result = np.zeros(space.size)
    vectors, coef = space.embedding.vectors, coef.reshape(len(coef), -1)
    space.coordinates(result)[n:] = coef if vectors is None else coef @ np.linalg.pinv(vectors.T)
    return result
