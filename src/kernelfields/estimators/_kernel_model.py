"""Kernel models: how all of them are fitted, kept, and asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np

from ..gram import kernel_times, unique_observations
from ..kernels import Kernel
from ..objective import Certificate, Point, Problem
from ..structures._base import Array
from ._base import Batch, SequenceLabeller
from ._base_measure import log_base_measure
from ._kernel_held_out import held_out_loss
from ._kernel_problem import in_precision, kernel_problem
from ._kernel_recipe import KernelRecipe
from ._labels import lookup, read_labels
from ._observers import EarlyStopping, ProgressLine, observers, reporter
from ._search import Found, mismatches, search_afresh
from ._tables import SOLVERS, choose
from ._terms import free_elements, free_weights
from ._training import Training
from ._vertex_kernels import VertexKernels, own_kernel


class KernelModel(SequenceLabeller):
    """A chain model whose functions of the input are kernel expansions over its training set."""

    kernel_: Kernel | dict[Hashable, Kernel]
    edge_kernel_: Kernel | None
    basis_: Any
    dual_coef_: Array
    edge_dual_coef_: Array | None
    _kernels: VertexKernels

    @abstractmethod
    def _recipe(self) -> KernelRecipe:
        """Give the settings, by the names they have for all kernel models."""

    def _fit(
        self, X: Any, y: Any, lengths: Any, sample_weight: Any, X_dev: Any = None, y_dev: Any = None
    ) -> Self:
        """Minimise, then take over what was found, all at once."""
        recipe = self._recipe()
        solver = choose(SOLVERS, recipe.solver, "solver")
        training = recipe.read(X, y, lengths, sample_weight)
        kernels = VertexKernels.of(recipe.kernel, recipe.penalty, training.encoded.classes)
        edge_kernel = _edge_kernel(recipe, kernels)
        observations, rows = unique_observations(in_precision(training.inputs.features, recipe.dtype))
        problem = kernel_problem(recipe, training, observations, rows, kernels, edge_kernel)
        stopping = None
        if X_dev is not None:
            every = [group.kernel for group in kernels.groups] + ([edge_kernel] if edge_kernel else [])
            loss = self._held_out(recipe, problem, every, training, observations, X_dev, y_dev)
            stopping = EarlyStopping(loss, recipe.patience)
        line = ProgressLine() if recipe.verbose else None
        observer = observers(reporter(recipe.callback), stopping, line)
        found = search_afresh(problem, problem.zero(), solver, recipe.stop, observer)
        if line is not None:
            line.close()
        if stopping is not None and stopping.element is not None:
            exact = problem.exact()
            best = exact.refreshed(stopping.element.astype(np.float64))
            point = exact.at(best)
            found = found._replace(point=point, certificate=point.certificate)
        self._kernels, self.edge_kernel_ = kernels, edge_kernel
        self._keep(training, observations, found)
        return self

    def _held_out(
        self,
        recipe: KernelRecipe,
        problem: Problem,
        kernels: list[Kernel],
        training: Training,
        basis: Any,
        X: Any,
        y: Any,
    ) -> Callable[[Array], float]:
        """Give the loss of an element on held-out sequences."""
        width = training.inputs.features.shape[1] if basis.ndim == 2 else 1
        inputs = self._inputs(X, None, training.extractor, width)
        classes = training.encoded.classes
        labels = lookup(read_labels(y, np.diff(inputs.offsets)), classes, "y_dev")
        chain = recipe.chain(inputs.offsets, len(classes))
        measure = recipe.base_measure
        offset = 0.0 if measure is None else log_base_measure(measure, inputs.features, classes)
        observations = in_precision(inputs.features, recipe.dtype)
        return held_out_loss(recipe, problem, kernels, basis, observations, chain, labels, offset)

    def _keep(self, training: Training, observations: Any, found: Found) -> None:
        point = found.point
        self.classes_ = training.encoded.classes
        L = len(self.classes_)
        coef = sum(_coefficients(point, "kernel"))
        edge_coef = next(_coefficients(point, "edge_kernel"), None)
        used = coef.any(axis=1) if edge_coef is None else coef.any(axis=1) | edge_coef.any(axis=1)
        self.basis_ = observations if used.all() else observations[used]
        self.dual_coef_ = coef[used]
        self.edge_dual_coef_ = None if edge_coef is None else edge_coef[used].reshape(-1, L, L)
        self.kernel_ = self._kernels.by_label(self.classes_)
        for name, value in free_weights(point.element, point.problem.slices, L).items():
            setattr(self, f"{name}_", value)
        self.n_features_in_ = observations.shape[1] if observations.ndim == 2 else 1
        if training.inputs.names is not None:
            self.feature_names_in_ = training.inputs.names
        self.certificate_: Certificate | None = found.certificate
        self.mismatch_ = mismatches(point.problem, point.mismatch)
        self.forbidden_ = training.forbidden
        self.features_ = training.extractor
        self.n_iter_ = found.iterations
        self.stop_reason_ = found.reason.value

    def _scores(self, features: Any, offsets: Array) -> Batch:
        recipe = self._recipe()
        chain = recipe.chain(offsets, len(self.classes_))
        theta = {clique: np.zeros(shape) for clique, shape in chain.shapes.items()}
        observations = in_precision(features, recipe.dtype)
        theta["node"] += self._kernels.scores(observations, self.basis_, self.dual_coef_)
        if self.edge_dual_coef_ is not None:
            assert self.edge_kernel_ is not None
            flat = self.edge_dual_coef_.reshape(-1, len(self.classes_) ** 2)
            rows = kernel_times(self.edge_kernel_, observations[chain.edge_tails], self.basis_, flat)
            theta["edge"] += rows.reshape(theta["edge"].shape)
        elements = free_elements(self, "_")
        for term in recipe.free_terms(chain):
            term.space.add_scores(elements[term.name], theta[term.space.clique])
        if recipe.base_measure is not None:
            theta["node"] += log_base_measure(recipe.base_measure, features, self.classes_)
        return Batch(chain, theta)


def _edge_kernel(recipe: KernelRecipe, kernels: VertexKernels) -> Kernel | None:
    """Give the kernel on edges; the very object that vertices have, if it is the same."""
    if recipe.edge_kernel is None:
        return None
    same = recipe.edge_kernel is True or recipe.edge_kernel is recipe.kernel
    return kernels.kernel if same else own_kernel(recipe.edge_kernel)


def _coefficients(point: Point, kind: str) -> Any:
    """Coefficients of the kernel spaces of one kind."""
    for term in point.problem.terms:
        if term.name.split()[0] == kind:
            space: Any = term.space
            yield space.coefficients(point.element[point.problem.slices[term.name]])
