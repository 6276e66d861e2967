"""What a kernel model is made of, whichever face it has: settings, a training set, kernels on it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..constraints import Rule
from ..data.base_measure import BaseMeasure, add_base_measure
from ..data.inputs import Inputs
from ..data.labels import unlabelled_items
from ..data.reading import Extractor, read_to_fit
from ..data.rules import offset_of
from ..data.training import (
    Training,
    read_training,
    require_labelling,
)
from ..data.unlabelled import SetAside, joined, read_unlabelled, set_aside
from ..errors import InputError
from ..kernels import Kernel, as_kernel
from ..losses import ClassWeight, CustomLoss, LossSettings
from ..objective import Problem, Term
from ..observations import in_precision, stacked
from ..solvers import Progress, Solver, Stop
from ..spaces import Expansion, LabelEmbedding, LowRank
from ..structures import Structure, StructureBatch
from ..tables import loss_settings, structure_of
from .clique_kernels import CliqueKernel, read_clique_kernels
from .parts import BoundParts, Part, PartData, Penalties, free_parts
from .terms import answer_rows, read_norms, with_norms
from .vertex_kernels import VertexKernels, first_penalty, settled_kernel, settled_kernels, takes_objects


@dataclass(frozen=True)
class KernelRecipe:
    """Settings of a kernel model; `KernelCRF` says what they mean."""

    kernel: Any
    penalty: Any
    kernel_weights: str | None = None
    edge_penalty: float | None = None
    features: Any = None
    structure: str | Structure = "chain"
    second_order_penalty: float | None = None
    fit_intercept: bool = False
    boundaries: bool = False
    edges: bool = True
    edge_kernel: Any = None
    edge_kernel_penalty: float | None = None
    clique_kernels: Any = None
    label_kernel: Any = None
    norms: Any = None
    classes: Sequence[Hashable] | None = None
    class_weight: ClassWeight = None
    cost: Any = None
    loss: str | LossSettings | CustomLoss = "log"
    constraints: str | Rule | None = None
    base_measure: BaseMeasure = None
    approximation: Any = None
    selection: Any = None
    posterior: Any = None
    warm_start: bool = False
    solver: str | Solver = "lbfgs"
    tol: float = 1e-3
    max_iter: int = 1000
    patience: int = 5
    dtype: Any = "float32"
    memory_limit: Any = None
    checkpoint: Any = None
    checkpoint_seconds: float = 30.0
    random_state: Any = None
    callback: Callable[[Progress], None] | None = None
    verbose: int = 0

    @property
    def penalties(self) -> Penalties:
        """λ of each part."""
        return Penalties.of(first_penalty(self.penalty), self.edge_penalty, self.second_order_penalty)

    @property
    def penalty_of_edge_kernel(self) -> float:
        """λ of the function of input and label pair."""
        given = self.edge_kernel_penalty
        return self.penalties.edge if given is None else float(given)

    @property
    def own(self) -> frozenset[str]:
        """The clique types in which every clique has separate scores: a kernel looks at its input."""
        edges = [] if self.edge_kernel is None else ["edge"]
        return frozenset([*edges, *(one.clique for one in self._kernels_of_cliques())])

    def _kernels_of_cliques(self) -> tuple[CliqueKernel, ...]:
        return () if self.clique_kernels is None else read_clique_kernels(self.clique_kernels)

    @property
    def stop(self) -> Stop:
        """When a search ends."""
        return Stop(gap=self.tol, gradient=1e-2 * self.tol, iterations=self.max_iter)

    @property
    def looks_first(self) -> bool:
        """Whether a kernel has to look at observations before it compares any."""
        return any(kernel.looks_first for kernel in self._every_kernel())

    @property
    def uses_unlabelled(self) -> bool:
        """Whether a kernel looks at observations without labels, too."""
        return any(kernel.uses_unlabelled for kernel in self._every_kernel())

    @property
    def takes_missing(self) -> bool:
        """Whether NaN is a missing number to all kernels."""
        return all(kernel.takes_missing for kernel in self._every_kernel())

    def _every_kernel(self) -> list[Kernel]:
        several = (
            list(self.kernel.values())
            if isinstance(self.kernel, Mapping)
            else self.kernel
            if isinstance(self.kernel, list | tuple)
            else [self.kernel]
        )
        edges = [] if self.edge_kernel is None or self.edge_kernel is True else [self.edge_kernel]
        every = [*several, *edges, *(one.kernel for one in self._kernels_of_cliques())]
        return [as_kernel(one) for one in every]

    def read(
        self,
        X: Any,
        y: Any,
        lengths: Any,
        sample_weight: Any,
        X_unlabelled: Any = None,
    ) -> Training:
        """Read and check a training set, and sequences without labels as far as kernels look at them."""
        structure, verbatim = structure_of(self.structure), takes_objects(self.kernel)
        if loss_settings(self.loss).learns_without_labels:
            if X_unlabelled is not None:
                X, y, sample_weight = joined(X, y, lengths, sample_weight, X_unlabelled)
        elif X_unlabelled is not None or unlabelled_items(y, X, lengths):
            return self._read_apart(
                structure, set_aside(structure, X, y, lengths), sample_weight, X_unlabelled
            )
        inputs, extractor = read_to_fit(
            structure, self.features, X, lengths, verbatim=verbatim, missing=self.takes_missing
        )
        return self._training(structure, inputs, extractor, y, sample_weight)

    def _read_apart(
        self, structure: Structure, parts: SetAside, sample_weight: Any, X_unlabelled: Any
    ) -> Training:
        """Read what has labels as the training set, and what has none for kernels to look at."""
        verbatim, rest = takes_objects(self.kernel), parts.rest(X_unlabelled, self.uses_unlabelled)
        learnt = parts.extractor(structure, self.features, rest, verbatim=verbatim)
        inputs, extractor = read_to_fit(
            structure,
            self.features,
            parts.labelled.X,
            parts.labelled.lengths,
            fitted=learnt,
            verbatim=verbatim,
            missing=self.takes_missing,
        )
        weights = parts.weights(sample_weight, structure.words)
        training = self._training(structure, inputs, extractor, parts.y, weights)
        others = read_unlabelled(training.structure, extractor, rest, inputs, missing=self.takes_missing)
        return training._replace(unlabelled=others)

    def observations(self, training: Training) -> Any:
        """Return what kernels on vertices look at first: observations with and without labels.

        Sequences of weight 0 are as good as absent.
        """
        features, weights, offsets = training.inputs.features, training.weights, training.inputs.offsets
        if weights is not None and len(weights) == len(offsets) - 1 and np.count_nonzero(weights) > 0:
            features = features[np.repeat(weights != 0, np.diff(offsets))]
        every = [features, *(one.features for one in training.unlabelled)]
        return stacked([in_precision(one, self.dtype) for one in every])

    def _training(
        self,
        structure: Structure,
        inputs: Inputs,
        extractor: Extractor | None,
        y: Any,
        sample_weight: Any,
    ) -> Training:
        if self.edge_kernel is not None:
            require_labelling(structure, "edge_kernel")
        training = read_training(
            inputs,
            extractor,
            y,
            structure,
            own=self.own,
            sample_weight=sample_weight,
            class_weight=self.class_weight,
            cost=self.cost,
            loss=self.loss,
            constraints=self.constraints,
            classes=self.classes,
            by_parts=True,
        )
        return training._replace(missing=self.takes_missing)

    def part_data(self, training: Training) -> PartData:
        """Return what parts see of a training set."""
        labelled, *others = [
            PartData(batch, in_precision(inputs.features, self.dtype))
            for batch, inputs in [
                (training.chain, training.inputs),
                *((training.batch_of(one), one) for one in training.unlabelled),
            ]
        ]
        return replace(
            labelled,
            unlabelled=tuple(others),
            weights=training.weights,
            memory_limit=self.memory_limit,
            random=self.random_state,
        )

    def on(self, observations: Any) -> KernelRecipe:
        """Return the settings with kernels of vertices and edges as they are on these observations.

        Kernels that are one stay one, so that they share a Gram matrix; those of cliques see other
        observations, and are settled as parts.
        """
        known: dict[Hashable, Kernel] = {}
        kernel = settled_kernels(self.kernel, observations, known)
        edge_kernel = True if self.edge_kernel is self.kernel else self.edge_kernel
        if edge_kernel is not None and edge_kernel is not True:
            edge_kernel = settled_kernel(edge_kernel, observations, known)
        return replace(self, kernel=kernel, edge_kernel=edge_kernel)

    def other_parts(self, batch: StructureBatch) -> dict[str, Part]:
        """Return the parts beside the kernels of vertices and edges: labels alone, and kernels on cliques."""
        parts = free_parts(
            batch, self.penalties, bias=self.fit_intercept, boundaries=self.boundaries, edges=self.edges
        )
        for n, one in enumerate(self._kernels_of_cliques()):
            parts[f"clique_kernel {n}"] = one.part(self.approximation)
        return parts


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

    @cached_property
    def others(self) -> BoundParts:
        """Return the other parts, as they are on the training set."""
        parts = self.recipe.other_parts(self.training.chain)
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
        chain = self.training.chain
        seen = None if len(self.rows) == self.observations.shape[0] else self.rows
        terms = []
        for n, (kernel, labels) in enumerate(self.kernels.groups):
            embedding = embedding_of(self.recipe.label_kernel, labels, chain.n_answers)
            space = kind(chain, chain.answer, values[id(kernel)], answer_rows(chain, seen), embedding)
            terms.append(Term("kernel" if labels is None else f"kernel {n}", space, self.kernels.penalty))
        if self.edge_kernel is not None:
            edges = kind(chain, "edge", values[id(self.edge_kernel)], self.rows[chain.edge_tails])
            terms.append(Term("edge_kernel", edges, self.recipe.penalty_of_edge_kernel))
        return terms

    def problem(self, terms: Sequence[Term], dtype: Any = np.float64) -> Problem:
        """Put the loss, these terms and all others together."""
        every = {term.name: term for term in [*terms, *self.others.terms(dtype=dtype)]}
        normed = with_norms(every, read_norms(self.recipe.norms))
        offset = fixed_scores(self.recipe, self.training)
        if offset is not None:
            offset = {clique: values.astype(dtype) for clique, values in offset.items()}
        return Problem.of(self.training.loss, list(normed.values()), offset, dtype, dtype)


def fixed_scores(recipe: KernelRecipe, training: Training) -> dict[str, Array] | None:
    """What is not learnt: rules about labels, the base measure, and what the structure brings along."""
    chain = training.chain
    known = chain.known_scores()
    if training.forbidden is None and recipe.base_measure is None and not known:
        return None
    offset = {name: np.zeros(shape) for name, shape in chain.shapes.items()} | known
    if training.forbidden is not None:
        offset = offset_of(training.forbidden, chain, np.float64)
    if recipe.base_measure is not None:
        features, classes = training.inputs.features, training.encoded.classes
        add_base_measure(recipe.base_measure, chain, features, classes, offset)
    return offset


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
