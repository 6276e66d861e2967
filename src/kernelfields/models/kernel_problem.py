"""The problem that fitting a kernel model solves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..data.base_measure import add_base_measure
from ..data.rules import offset_of
from ..data.training import Training
from ..errors import InputError
from ..gram import gram_of
from ..kernels import Kernel
from ..losses import Log
from ..objective import Problem, Term
from ..spaces import Expansion, LabelEmbedding
from .clique_kernels import CliqueTerms
from .kernel_recipe import KernelRecipe
from .norms import read_norms, with_norms
from .terms import answer_rows
from .vertex_kernels import VertexKernels


def kernel_problem(
    recipe: KernelRecipe,
    training: Training,
    observations: Any,
    rows: Array,
    kernels: VertexKernels,
    edge_kernel: Kernel | None,
    cliques: CliqueTerms,
    dtype: np.dtype[Any],
) -> Problem:
    """Put loss, expansions and the scores of labels alone together; kernels that are one share a Gram.

    Position t has the observation ``rows[t]``; those that repeat have one coefficient per label.
    """
    chain = training.chain
    distinct = {id(kernel): kernel for kernel, _ in kernels.groups}
    if edge_kernel is not None:
        distinct[id(edge_kernel)] = edge_kernel
    grams = {
        key: gram_of(kernel, observations, dtype, recipe.memory_limit) for key, kernel in distinct.items()
    }
    seen = None if len(rows) == observations.shape[0] else rows
    terms = []
    for n, (kernel, labels) in enumerate(kernels.groups):
        embedding = embedding_of(recipe.label_kernel, labels, chain.n_answers)
        space = Expansion(chain, chain.answer, grams[id(kernel)], answer_rows(chain, seen), embedding)
        terms.append(Term("kernel" if labels is None else f"kernel {n}", space, kernels.penalty))
    if edge_kernel is not None:
        space_of_edges = Expansion(chain, "edge", grams[id(edge_kernel)], rows[chain.edge_tails])
        terms.append(Term("edge_kernel", space_of_edges, recipe.penalties.edge))
    offset = fixed_scores(recipe, training)
    if offset is not None:
        offset = {clique: values.astype(dtype) for clique, values in offset.items()}
    terms += [*recipe.free_terms(chain), *cliques.terms(dtype, recipe.memory_limit)]
    return Problem.of(training.loss, with_norms(terms, read_norms(recipe.norms)), offset, dtype, dtype)


def search_precision(recipe: KernelRecipe, training: Training, observations: Any) -> np.dtype[Any]:
    """Return the precision of elements, scores and Gram matrices alike.

    Elements in double over a Gram matrix in single would have no inner product: the matrix rounds what it
    is multiplied with, squares of small elements become negative, and searches divide by zero or diverge.
    Kernels of objects take too long to be computed twice, for the search and for its certificate.
    """
    single = np.dtype(recipe.dtype) == np.float32 and recipe.stop.gap >= 1e-4  # what it can certify
    numbers = observations.dtype != object
    return np.dtype(np.float32 if single and numbers and isinstance(training.loss, Log) else np.float64)


def fixed_scores(recipe: KernelRecipe, training: Training) -> dict[str, Array] | None:
    """What is not learnt: rules about labels, and the base measure."""
    chain = training.chain
    if training.forbidden is None and recipe.base_measure is None:
        return None
    offset = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
    if training.forbidden is not None:
        offset = offset_of(training.forbidden, chain, np.float64)
    if recipe.base_measure is not None:
        features, classes = training.inputs.features, training.encoded.classes
        add_base_measure(recipe.base_measure, chain, features, classes, offset)
    return offset


def in_precision(observations: Any, dtype: Any) -> Any:
    """Numbers in single or double precision; what is no numbers stays as it is."""
    if observations.dtype == object:
        return observations
    if sparse.issparse(observations):
        return observations.astype(dtype, copy=False)
    return np.ascontiguousarray(observations, dtype=dtype)


def embedding_of(label_kernel: Any, labels: Array | None, n_labels: int) -> LabelEmbedding:
    """Return the kernel on labels; of two labels one column is enough, and half the work."""
    if label_kernel is None:
        if labels is not None:
            return LabelEmbedding.only(labels, n_labels)
        return LabelEmbedding.centred(2) if n_labels == 2 else LabelEmbedding.identity(n_labels)
    if labels is not None:
        raise InputError("label_kernel does not go with one kernel per label.")
    if np.shape(label_kernel) != (n_labels, n_labels):
        raise InputError(f"label_kernel has shape {np.shape(label_kernel)}, expected {(n_labels, n_labels)}.")
    try:
        return LabelEmbedding.of(label_kernel)
    except ValueError as error:
        raise InputError(str(error)) from error
