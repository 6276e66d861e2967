"""How far a model of a subspace is from the optimum in the whole space of its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..data.training import Training
from ..gram import gram_of
from ..kernels import Kernel
from ..objective import Certificate, Problem, Term
from ..spaces import Expansion
from ..structures import EdgeBatch
from .kernel_problem import embedding_of, fixed_scores
from .kernel_recipe import KernelRecipe
from .terms import free_elements
from .vertex_kernels import VertexKernels


def full_certificate(
    model: Any,
    recipe: KernelRecipe,
    training: Training,
    observations: Any,
    kernels: VertexKernels,
    edge_kernel: Kernel | None,
) -> Certificate | None:
    """Certify f = Σ_o k(basis_o, ·) α_o among all functions of the space [altun2004exp, Lemma 9].

    ∇R(f) = Σ_v k(x_v, ·) (μ_v − parts_v) + λ f is an expansion over observations and basis together: f is
    put into the dense problem over both.
    """
    n, chain = observations.shape[0], training.chain
    both = _stacked(observations, model.basis_)
    distinct = {id(k): k for k in [*(g.kernel for g in kernels.groups), edge_kernel] if k}
    grams = {  # in double, as every certificate
        key: gram_of(kernel, both, np.float64, recipe.memory_limit) for key, kernel in distinct.items()
    }
    terms, elements = [], []
    for k, (kernel, labels) in enumerate(kernels.groups):
        embedding = embedding_of(recipe.label_kernel, labels, chain.n_answers)
        nodes = Expansion(chain, "node", grams[id(kernel)], rows=np.arange(n), embedding=embedding)
        terms.append(Term(f"kernel {k}", nodes, kernels.penalty))
        elements.append(_element(nodes, n, model.dual_coef_))
    if edge_kernel is not None:
        assert isinstance(chain, EdgeBatch)
        edges = Expansion(chain, "edge", grams[id(edge_kernel)])
        terms.append(Term("edge_kernel", edges, recipe.penalties.edge))
        elements.append(_element(edges, n, model.edge_dual_coef_.reshape(-1, chain.n_labels**2)))
    weights = free_elements(model, "_")
    for term in recipe.free_terms(chain):
        terms.append(term)
        elements.append(weights[term.name])
    problem = Problem.of(training.loss, terms, fixed_scores(recipe, training))
    return problem.at(problem.refreshed(np.concatenate(elements))).certificate


def _element(space: Expansion, n: int, coef: Array) -> Array:
    """The element with these coefficients at the observations behind the first n; its image is not set."""
    result = np.zeros(space.size)
    vectors = space.embedding.vectors
    space.coordinates(result)[n:] = coef if vectors is None else coef @ np.linalg.pinv(vectors.T)
    return result


def _stacked(observations: Any, basis: Any) -> Any:
    if sparse.issparse(observations):
        return sparse.vstack([observations, sparse.csr_matrix(basis)], format="csr")
    return np.concatenate([observations, basis])
