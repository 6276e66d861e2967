"""What a kernel model is made of, whichever face it has: settings, a training set, kernels on it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..approximation import Approximation
from ..checks import shown, unknown_name
from ..constraints import Rule
from ..data.base_measure import BaseMeasure
from ..data.inputs import Inputs
from ..data.labels import unlabelled_items
from ..data.reading import Extractor, FeatureSetting, read_to_fit
from ..data.training import (
    Training,
    read_training,
    require_labelling,
)
from ..data.types import Items, Lengths, Outputs, Seed, Weights
from ..data.unlabelled import SetAside, joined, read_unlabelled, set_aside
from ..errors import InputError
from ..fitting.run import precision_of
from ..fitting.run_settings import Run
from ..kernels import Kernel, as_kernel
from ..losses import CustomLoss, LossSettings
from ..objective import Norm
from ..observations import in_precision, stacked
from ..selection import Selection
from ..solvers import Solver, Stop
from ..structures import Structure, StructureBatch
from ..tables import BASES, choose, loss_settings, structure_of
from .parts import (
    AnyPart,
    KernelScores,
    Part,
    PartData,
    Parts,
    compose,
    fixed_measure,
    free_parts,
    looked_at,
    norms_of,
)
from .vertex_kernels import first_penalty, settled_kernel, settled_kernels, takes_objects

VERTEX_PARTS = ("kernel", "edge_kernel")
"""Parts whose functions share the values of kernels on vertices."""


def read_basis(basis: Any) -> Approximation | Selection | None:
    """Return the approximation or the selection that is given; None for expansions over all positions."""
    if basis is None:
        return None
    if isinstance(basis, str) and basis not in BASES:
        raise unknown_name("basis", basis, BASES, ", an Approximation or a Selection")
    return choose(BASES, basis, "basis")


@dataclass(frozen=True)
class KernelRecipe:
    """Settings of a kernel model; `KernelCRF` says what they mean."""

    kernel: Any
    penalty: Any
    kernel_weights: str | None = None
    """How the kernels of a list are weighed, if weights are learnt."""
    parts: Parts = Parts()
    edge_penalty: float | None = None
    """λ of scores of several labels, where it is not that of all parts."""
    features: FeatureSetting = None
    structure: str | Structure = "chain"
    classes: Sequence[Hashable] | None = None
    loss: str | LossSettings | CustomLoss = "log"
    constraints: str | Rule | None = None
    basis: str | Approximation | Selection | None = None
    posterior: Any = None
    warm_start: bool = False
    solver: str | Solver = "lbfgs"
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @property
    def dtype(self) -> Any:
        """The precision of observations."""
        return precision_of(self.run)

    @property
    def approximation(self) -> Approximation | None:
        """The subspace or the random features, if there are any."""
        found = read_basis(self.basis)
        return found if isinstance(found, Approximation) else None

    @property
    def selection(self) -> Selection | None:
        """How labelled cliques are selected, if they are."""
        found = read_basis(self.basis)
        return found if isinstance(found, Selection) else None

    @property
    def label_kernel(self) -> Any:
        """The kernel on labels of the functions of vertices; None is the identity."""
        return self._vertex_part.labels

    @property
    def _vertex_part(self) -> KernelScores:
        """What there is to say about the functions of vertices beside their kernel."""
        part = self.parts.get("kernel", KernelScores())
        if not isinstance(part, KernelScores):
            raise InputError(f"The part 'kernel' is {shown(part)}; it must be KernelScores(...).")
        for name in ("on", "view", "basis"):
            if getattr(part, name) is not None:
                raise InputError(
                    f"The part 'kernel' has {name}={getattr(part, name)!r}; it is on single labels and their "
                    "observations. Give functions of other cliques names of their own."
                )
        for name in ("kernel", "penalty"):
            if getattr(part, name) is not None:
                raise InputError(f"The part 'kernel' has a {name}; give it as {name}= of the model.")
        return part

    @property
    def _edge_part(self) -> KernelScores | None:
        """The functions of label pairs and first observations, which share the Gram matrix of vertices."""
        part = self.parts.get("edge_kernel")
        if part is None:
            return None
        if (
            isinstance(part, KernelScores)
            and part.on in (None, "edge")
            and part.view in (None, "first")
            and part.basis is part.labels is None
        ):
            return part
        raise InputError(
            f"The part 'edge_kernel' is {shown(part)}; it is KernelScores(kernel, penalty=..., norm=...) of "
            "first observations. Give functions of other cliques and views names of their own."
        )

    @property
    def edge_kernel(self) -> Any:
        """The kernel of these; True stands for that of vertices."""
        part = self._edge_part
        return None if part is None else True if part.kernel is None else part.kernel

    @property
    def penalty_of_edge_kernel(self) -> float:
        """λ of these."""
        part = self._edge_part
        return self.first_penalty if part is None or part.penalty is None else float(part.penalty)

    @property
    def first_penalty(self) -> float:
        """λ of parts without one of their own."""
        return first_penalty(self.penalty)

    def penalty_of(self, name: str) -> float:
        """Return λ of a part that scores several labels."""
        given = [getattr(self.parts.get(name), "penalty", None), self.edge_penalty, self.first_penalty]
        return next(float(value) for value in given if value is not None)

    @property
    def norms(self) -> dict[str, Norm]:
        """The further penalties of parts by name."""
        return norms_of(self.parts)

    @property
    def base_measure(self) -> BaseMeasure:
        """What is known about labels beforehand."""
        return fixed_measure(self.parts)

    @property
    def further(self) -> dict[str, AnyPart | None]:
        """The parts that share no kernel values with the functions of vertices."""
        return {name: part for name, part in self.parts.items() if name not in VERTEX_PARTS}

    @property
    def further_looks(self) -> list[str]:
        """The names of those of these parts that look at the input."""
        return [name for name, part in self.further.items() if isinstance(part, Part) and part.looks]

    @property
    def own(self) -> frozenset[str]:
        """The clique types in which every clique has separate scores: a part looks at its input."""
        edges = [] if self._edge_part is None else ["edge"]
        return frozenset([*edges, *looked_at(Parts(self.further))])

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
        further = [
            one.kernel for one in self.further.values() if isinstance(one, KernelScores) and one.kernel
        ]
        every = [*several, *edges, *further]
        return [as_kernel(one) for one in every]

    def read(
        self,
        X: Items,
        y: Outputs,
        lengths: Lengths,
        sample_weight: Weights,
        X_unlabelled: Items | None = None,
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
        self, structure: Structure, parts: SetAside, sample_weight: Weights, X_unlabelled: Items | None
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
        y: Outputs,
        sample_weight: Weights,
    ) -> Training:
        if self._edge_part is not None:
            require_labelling(structure, "The part 'edge_kernel'")
        training = read_training(
            inputs,
            extractor,
            y,
            structure,
            own=self.own,
            sample_weight=sample_weight,
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
                (training.batch, training.inputs),
                *((training.batch_of(one), one) for one in training.unlabelled),
            ]
        ]
        return replace(
            labelled,
            unlabelled=tuple(others),
            weights=training.weights,
            memory_limit=self.run.memory_limit,
            random=self.random_state,
        )

    def on(self, observations: Any) -> KernelRecipe:
        """Return the settings with kernels of vertices and edges as they are on these observations.

        Kernels that are one stay one, so that they share a Gram matrix; those of cliques see other
        observations, and are settled as parts.
        """
        known: dict[Hashable, Kernel] = {}
        kernel = settled_kernels(self.kernel, observations, known)
        part = self._edge_part
        if part is None or part.kernel is None:
            return replace(self, kernel=kernel)
        same = part.kernel is self.kernel
        edges = replace(part, kernel=None if same else settled_kernel(part.kernel, observations, known))
        return replace(self, kernel=kernel, parts=Parts({**self.parts, "edge_kernel": edges}))

    def other_parts(self, batch: StructureBatch) -> dict[str, Part]:
        """Return the parts that share no kernel values: labels alone, and what else was given."""
        free = free_parts(batch)
        if self.edge_penalty is not None:
            free = {
                name: part if part.on is None else replace(part, penalty=self.edge_penalty)
                for name, part in free.items()
            }
        parts = compose(free, Parts(self.further), self.first_penalty)
        return {name: self._kernel_part(part) for name, part in parts.items()}

    def _kernel_part(self, part: Part) -> Part:
        """Return a part that has the kernel and the subspaces of the model where it has none."""
        if not isinstance(part, KernelScores):
            return part
        kernel = part.kernel
        if kernel is None and (isinstance(self.kernel, Mapping | list | tuple)):
            raise InputError("KernelScores without a kernel take that of the model, which has several.")
        return replace(
            part,
            kernel=self.kernel if kernel is None else kernel,
            basis=self.approximation if part.basis is None else part.basis,
        )
