"""Kernel models: how all of them are fitted, kept, and asked."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..kernels import Kernel
from ..objective import Certificate, Point, Problem, Term
from ..spaces import KernelEdges, KernelNodes, LabelEmbedding
from ..structures._base import Array
from ._base import Batch, SequenceLabeller
from ._base_measure import log_base_measure
from ._constraints import offset_of
from ._kernel_recipe import KernelRecipe
from ._kernel_tools import as_kernel, gram_of, kernel_times
from ._observers import observers, progress_line, reporter
from ._search import Found, mismatches, search_afresh
from ._tables import SOLVERS, choose
from ._terms import free_elements, free_weights
from ._training import Training


class KernelModel(SequenceLabeller):
    """A chain model whose functions of the input are kernel expansions over its training set."""

    kernel_: Kernel
    edge_kernel_: Kernel | None
    basis_: Any
    dual_coef_: Array
    edge_dual_coef_: Array | None

    @abstractmethod
    def _recipe(self) -> KernelRecipe:
        """Give the settings, by the names they have for all kernel models."""

    def _fit(self, X: Any, y: Any, lengths: Any, sample_weight: Any) -> Self:
        """Minimise, then take over what was found, all at once."""
        recipe = self._recipe()
        solver = choose(SOLVERS, recipe.solver, "solver")
        training = recipe.read(X, y, lengths, sample_weight)
        observations = in_precision(training.inputs.features, recipe.dtype)
        kernel = as_kernel(recipe.kernel)
        edge_kernel = None if recipe.edge_kernel is None else as_kernel(recipe.edge_kernel)
        problem = self._problem(recipe, training, observations, kernel, edge_kernel)
        observer = observers(reporter(recipe.callback), progress_line() if recipe.verbose else None)
        found = search_afresh(problem, problem.zero(), solver, recipe.stop, observer)
        self.kernel_, self.edge_kernel_ = kernel, edge_kernel
        self._keep(training, observations, found)
        return self

    def _problem(
        self,
        recipe: KernelRecipe,
        training: Training,
        observations: Any,
        kernel: Kernel,
        edge_kernel: Kernel | None,
    ) -> Problem:
        chain = training.chain
        gram = gram_of(kernel, observations, recipe.dtype, recipe.memory_limit)
        embedding = embedding_of(recipe.label_kernel, chain.n_labels)
        terms = [Term("kernel", KernelNodes(chain, gram, embedding), recipe.penalties.node)]
        if edge_kernel is not None:
            same = repr(edge_kernel) == repr(kernel)
            edge_gram = (
                gram if same else gram_of(edge_kernel, observations, recipe.dtype, recipe.memory_limit)
            )
            terms.append(Term("edge_kernel", KernelEdges(chain, edge_gram), recipe.penalties.edge))
        offset = None
        if training.forbidden is not None:
            offset = offset_of(training.forbidden, chain, np.float64)
        if recipe.base_measure is not None:
            log_q = log_base_measure(recipe.base_measure, training.inputs.features, training.encoded.classes)
            offset = (
                {name: np.zeros(shape) for name, shape in chain.shapes.items()} if offset is None else offset
            )
            offset["node"] = offset["node"] + log_q
        return Problem(training.loss, terms + recipe.free_terms(chain), offset)

    def _keep(self, training: Training, observations: Any, found: Found) -> None:
        point = found.point
        L = len(training.encoded.classes)
        coef = expansion(point, "kernel")
        edge_coef = expansion(point, "edge_kernel")
        used = coef.any(axis=1) if edge_coef is None else coef.any(axis=1) | edge_coef.any(axis=1)
        self.basis_ = observations if used.all() else observations[used]
        self.dual_coef_ = coef[used]
        self.edge_dual_coef_ = None if edge_coef is None else edge_coef[used].reshape(-1, L, L)
        for name, value in free_weights(point, L).items():
            setattr(self, f"{name}_", value)
        self.classes_ = training.encoded.classes
        self.n_features_in_ = observations.shape[1] if observations.ndim == 2 else 1
        if training.inputs.names is not None:
            self.feature_names_in_ = training.inputs.names
        self.certificate_: Certificate | None = point.certificate
        self.mismatch_ = mismatches(point)
        self.forbidden_ = training.forbidden
        self.features_ = training.extractor
        self.n_iter_ = found.iterations
        self.stop_reason_ = found.reason.value

    def _scores(self, features: Any, offsets: Array) -> Batch:
        recipe = self._recipe()
        chain = recipe.chain(offsets, len(self.classes_))
        theta = {clique: np.zeros(shape) for clique, shape in chain.shapes.items()}
        observations = in_precision(features, recipe.dtype)
        theta["node"] += kernel_times(self.kernel_, observations, self.basis_, self.dual_coef_)
        if self.edge_dual_coef_ is not None:
            flat = self.edge_dual_coef_.reshape(len(self.edge_dual_coef_), -1)
            assert self.edge_kernel_ is not None
            rows = kernel_times(self.edge_kernel_, observations[chain.edge_tails], self.basis_, flat)
            theta["edge"] += rows.reshape(theta["edge"].shape)
        elements = free_elements(self, "_")
        for term in recipe.free_terms(chain):
            term.space.add_scores(elements[term.name], theta[term.space.clique])
        if recipe.base_measure is not None:
            theta["node"] += log_base_measure(recipe.base_measure, features, self.classes_)
        return Batch(chain, theta)


def in_precision(observations: Any, dtype: Any) -> Any:
    """Numbers in single or double precision; what is no numbers stays as it is."""
    if observations.dtype == object:
        return observations
    if sparse.issparse(observations):
        return observations.astype(dtype, copy=False)
    return np.ascontiguousarray(observations, dtype=dtype)


def embedding_of(label_kernel: Any, n_labels: int) -> LabelEmbedding:
    """Give the kernel on labels; of two labels one column is enough, and half the work."""
    if label_kernel is None:
        return LabelEmbedding.centred(2) if n_labels == 2 else LabelEmbedding.identity(n_labels)
    return LabelEmbedding.of(label_kernel)


def expansion(point: Point, name: str) -> Any:
    """Coefficients of a kernel space by the name of its term; None if the model has none of that name."""
    for term in point.problem.terms:
        if term.name == name:
            space: Any = term.space
            return space.coefficients(point.element[point.problem.slices[name]])
    return None
