"""A training set of a kernel model, and the kernels that look at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.base_measure import add_base_measure
from ..data.rules import offset_of
from ..data.training import (
    Training,
)
from ..errors import InputError
from ..gram import unique_observations
from ..kernels import Kernel
from ..objective import Problem, Term
from ..observations import in_precision
from ..spaces import Expansion, LabelEmbedding, LowRank
from .kernel_recipe import KernelRecipe
from .parts import (
    BoundParts,
)
from .terms import answer_rows
from .vertex_kernels import VertexKernels


@dataclass(frozen=True)
class KernelTraining:
    """A training set, and the kernels that look at it."""

    recipe: KernelRecipe
    training: Training
    observations: Any
    """Each once, in the precision of the settings."""
    rows: Array
    """Position t has the observation ``rows[t]``."""
    kernels: VertexKernels
    edge_kernel: Kernel | None = None

    @classmethod
    def of(cls, recipe: KernelRecipe, training: Training) -> KernelTraining:
        """Return a training set with kernels as they are on its observations."""
        recipe = recipe.on(recipe.observations(training))
        kernels = VertexKernels.of(recipe.kernel, recipe.penalty, training.encoded.classes)
        observations, rows = unique_observations(in_precision(training.inputs.features, recipe.dtype))
        # the very object that vertices have, if it is the same
        edge_kernel = kernels.kernel if recipe.edge_kernel is True else recipe.edge_kernel
        return cls(recipe, training, observations, rows, kernels, edge_kernel)

    @cached_property
    def others(self) -> BoundParts:
        """Return the other parts, as they are on the training set."""
        parts = self.recipe.other_parts(self.training.batch)
        return BoundParts.of(parts, self.recipe.part_data(self.training))

    @property
    def every_kernel(self) -> list[Kernel]:
        """Return that of each of the terms that `terms` makes; labels that share one have the same object."""
        of_edges = [] if self.edge_kernel is None else [self.edge_kernel]
        return [*(group.kernel for group in self.kernels.groups), *of_edges]

    @property
    def distinct_kernels(self) -> dict[int, Kernel]:
        """Return each kernel once, by its identity."""
        return {id(kernel): kernel for kernel in self.every_kernel}

    @property
    def precision(self) -> np.dtype[Any]:
        """Return the precision of elements, scores and Gram matrices alike.

        Elements in double over a Gram matrix in single would have no inner product: the matrix rounds what it
        is multiplied with, squares of small elements become negative, and searches divide by zero or diverge.
        Kernels of objects take too long to be computed twice, for the search and for its certificate.
        """
        certifiable = self.recipe.stop.gap >= 1e-4 and self.training.loss.single
        numbers = self.observations.dtype != object
        return np.dtype(self.recipe.dtype if certifiable and numbers else np.float64)

    def terms(self, kind: type[Expansion] | type[LowRank], values: Mapping[int, Any]) -> list[Term]:
        """Return functions of input and label, of label pairs too, from the values of each kernel."""
        batch = self.training.batch
        seen = None if len(self.rows) == self.observations.shape[0] else self.rows
        terms = []
        for n, (kernel, labels) in enumerate(self.kernels.groups):
            embedding = embedding_of(self.recipe.label_kernel, labels, batch.n_answers)
            space = kind(batch, batch.answer, values[id(kernel)], answer_rows(batch, seen), embedding)
            terms.append(Term("kernel" if labels is None else f"kernel {n}", space, self.kernels.penalty))
        if self.edge_kernel is not None:
            tails = self.rows[self.training.edge_batch.edge_tails]
            edges = kind(batch, "edge", values[id(self.edge_kernel)], tails)
            terms.append(Term("edge_kernel", edges, self.recipe.penalty_of_edge_kernel))
        return terms

    def problem(self, terms: Sequence[Term], dtype: Any = np.float64) -> Problem:
        """Put the loss, these terms and all others together."""
        every = {term.name: term for term in [*terms, *self.others.terms(dtype=dtype)]}
        norms = self.recipe.norms
        for name in norms.keys() & {"kernel", "edge_kernel"}:
            every |= {
                term.name: replace(term, norm=norms[name]) for term in terms if term.name.startswith(name)
            }
        offset = fixed_scores(self.recipe, self.training)
        if offset is not None:
            offset = {clique: values.astype(dtype) for clique, values in offset.items()}
        return Problem.of(self.training.loss, list(every.values()), offset, dtype, dtype)


def fixed_scores(recipe: KernelRecipe, training: Training) -> dict[str, Array] | None:
    """What is not learnt: rules about labels, the base measure, and what the structure brings along."""
    batch = training.batch
    known = batch.known_scores()
    if training.forbidden is None and recipe.base_measure is None and not known:
        return None
    offset = {name: np.zeros(shape) for name, shape in batch.shapes.items()} | known
    if training.forbidden is not None:
        offset = offset_of(training.forbidden, training.batch, np.float64)
    if recipe.base_measure is not None:
        features, classes = training.inputs.features, training.encoded.classes
        add_base_measure(recipe.base_measure, batch, features, classes, offset)
    return offset


def embedding_of(label_kernel: Any, labels: Array | None, n_labels: int) -> LabelEmbedding:
    """Return the kernel on labels; of two labels one column is enough, and half the work."""
    if label_kernel is None:
        if labels is not None:
            return LabelEmbedding.only(labels, n_labels)
        return LabelEmbedding.centred(2) if n_labels == 2 else LabelEmbedding.identity(n_labels)
    if labels is not None:
        raise InputError("labels= of the part 'kernel' does not go with one kernel per label.")
    if np.shape(label_kernel) != (n_labels, n_labels):
        shape = np.shape(label_kernel)
        raise InputError(f"labels= of the part 'kernel' has shape {shape}, expected {(n_labels, n_labels)}.")
    try:
        return LabelEmbedding.of(label_kernel)
    except ValueError as error:
        raise InputError(str(error)) from error
