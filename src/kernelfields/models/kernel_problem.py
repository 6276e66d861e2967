"""The objective of a kernel model on a training set, and what a model keeps of its functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..approximation import FourierMap
from ..arrays import Array
from ..data.base_measure import BaseMeasure
from ..data.training import Training, require_labelling
from ..errors import InputError
from ..fitting.held_out import HeldOutSet
from ..fitting.run import precision_of
from ..fitting.run_settings import Run
from ..objective import Point, Problem
from ..observations import count, in_precision, stacked
from ..tables import structure_of
from .attributes import keep_scorers
from .dense_cost import NOTABLE, announce
from .fit.steps import Reader
from .kernel_settings import EDGE_KERNEL, KERNEL, KernelSettings
from .model import KnownScores, Model, Scorer
from .parts import BoundKernel, BoundParts, PartData, fixed_measure
from .scorers import LearntScorer, fuse_scorers
from .vertex_kernels import LabelGroup, VertexKernels, takes_objects

CERTIFIABLE = 1e-4
"""The least relative gap that a search in single precision can certify."""


def part_data(training: Training, run: Run, random: Any = None) -> PartData:
    """Return what the parts of a kernel model see of a training set."""
    dtype = precision_of(run)
    labelled, *others = [
        PartData(batch, in_precision(inputs.features, dtype))
        for batch, inputs in [
            (training.batch, training.inputs),
            *((training.batch_of(one), one) for one in training.unlabelled),
        ]
    ]
    return replace(
        labelled,
        unlabelled=tuple(others),
        weights=training.weights,
        memory_limit=run.memory_limit,
        random=random,
        given=training.inputs.features,
    )


def kernel_reader(model: Any, settings: KernelSettings, loss: Any) -> Reader:
    """Return how a model with kernels reads its training set."""
    if settings.edge_part is not None:
        require_labelling(structure_of(model.structure), "The part 'edge_kernel'")
    return Reader(
        model.structure,
        model.features,
        loss,
        model.constraints,
        model.classes,
        own=settings.own,
        verbatim=takes_objects(model.kernel),
        missing=settings.takes_missing,
        looks=settings.uses_unlabelled,
    )


class KernelProblem:
    """The parts of a kernel model on a training set, and the objective that they make.

    Parameters
    ----------
    model : estimator
        Its ``run``, ``tol``, ``random_state`` and ``verbose``.
    settings : KernelSettings
        What is learnt.
    training : Training
        The training set.
    data : PartData
        What parts see of it.
    as_weights : bool
        Whether functions of kernels with few features may be learnt as weights of these.
    """

    def __init__(
        self,
        model: Any,
        settings: KernelSettings,
        training: Training,
        data: PartData,
        *,
        as_weights: bool = True,
    ) -> None:
        self.settings, self.training = settings, training
        self.measure = fixed_measure(settings.parts)
        vertices = settings.vertex_parts(training.encoded.classes)
        alone = len(vertices) == 1 and not settings.further_looks
        self.data = replace(data, as_weights=as_weights and alone)
        every = BoundParts.of({**vertices, **settings.other_parts(training.batch)}, self.data)
        self.parts = every
        self.others = every.without(vertices)
        self.vertices = {
            name: one
            for name, one in every.bound.items()
            if name in vertices and isinstance(one, BoundKernel)
        }
        _require_one_draw(self.vertices.values())
        # elements of a subspace are few: they can be in double, whatever the factor is in
        self.dtype = np.dtype(np.float64)
        if settings.approximation is None:
            self.dtype = precision_of_search(model, training, self.observations)
            if count(self.observations) > NOTABLE:
                announce(model, self.vertices.values(), self.dtype, len(training.encoded.classes))
        self.problem = self._problem(self.dtype)

    @property
    def observations(self) -> Any:
        """Those of vertices, each once, in the precision of the settings."""
        return next(iter(self.vertices.values())).observations

    @property
    def rows(self) -> Array:
        """Which of them every answer sees."""
        return next(iter(self.vertices.values())).rows

    def exact(self) -> Problem:
        """Return the same problem in double, with recomputed Gram matrices."""
        plain = self.settings.approximation is not None or self.dtype == np.float64
        return self.problem.exact() if plain else self._problem(np.dtype(np.float64))

    def _problem(self, dtype: np.dtype[Any]) -> Problem:
        offset = self.training.fixed_scores(self.measure, dtype)
        return Problem.of(self.training.loss, self.parts.terms(dtype=dtype), offset, dtype, dtype)

    @property
    def kernels(self) -> VertexKernels:
        """The kernels of vertices, as they are on the training set."""
        of_vertices = {name: one for name, one in self.vertices.items() if name != EDGE_KERNEL}
        groups = [
            LabelGroup(one.kernel, None if name == KERNEL else one.labels)
            for name, one in of_vertices.items()
        ]
        penalty = self.parts.parts[next(iter(of_vertices))].penalty
        assert penalty is not None
        return VertexKernels(tuple(groups), penalty)

    def keep(self, model: Any, point: Point, *, whole: bool = False) -> None:
        """Make attributes of a model of the functions at a point.

        Observations without coefficients are left out, unless ``whole``: other functions, drawn from a
        posterior, may have some there.
        """
        classes = self.training.encoded.classes
        edge = self.vertices.get(EDGE_KERNEL)
        drawn = [one.factored.map for one in self.vertices.values() if one.factored is not None]
        model._kernels, model.edge_kernel_ = self.kernels, None if edge is None else edge.kernel
        model.kernel_ = self.kernels.by_label(classes)
        model.fourier_ = next((one for one in drawn if isinstance(one, FourierMap)), None)
        model.basis_, model.dual_coef_, model.edge_dual_coef_ = self.gather(
            point.problem, point.element, whole=whole
        )
        keep_scorers(model, self.scorers(point.problem, point.element, whole=whole), len(classes))

    def scorers(self, problem: Problem, element: Array, *, whole: bool = False) -> dict[str, LearntScorer]:
        """Return what a model keeps of the parts that share no kernel values."""
        found = self.others.scorers(problem, element)
        return found if whole else {name: one.pruned() for name, one in found.items()}

    def gather(self, problem: Problem, element: Array, *, whole: bool = False) -> Gathered:
        """Put the coefficients of functions of vertices and edges on one basis."""
        tables = []
        for term in problem.terms[: len(self.vertices)]:
            found = self.vertices[term.name].expansion(term.space, element[problem.slices[term.name]])
            tables.append((term.name == EDGE_KERNEL, *found))
        return gather_tables(tables, problem.structure.n_answers, whole)

    def held_out_loss(self, held_out: HeldOutSet) -> Callable[[Array], float]:
        """Return the loss of an element: that of the model it would be.

        Kernel values between held-out observations and the basis are kept, and so is what is not learnt.
        """
        problem, classes = self.problem, self.training.encoded.classes
        seen = PartData(held_out.batch, in_precision(held_out.inputs.features, self.data.features.dtype))
        kernels = {n: one for n, one in self.parts.bound.items() if isinstance(one, BoundKernel)}
        readers = {name: one.held_out(seen) for name, one in kernels.items()}
        rest = self.others.without(readers)
        fixed = held_out_scores(self.measure, self.training, held_out)

        def loss(element: Array) -> float:
            scorers: list[Scorer] = [*fixed]
            for term in problem.terms:
                if term.name in readers:
                    values = readers[term.name](term.space, element[problem.slices[term.name]])
                    scorers.append(KnownScores({term.space.clique: values}))
            labels = fuse_scorers(rest.scorers(problem, element), held_out.batch.n_answers)
            return held_out.loss_of(Model(self.training.structure, classes, (*scorers, *labels)))

        return loss


def precision_of_search(model: Any, training: Training, observations: Any) -> np.dtype[Any]:
    """Return the precision of elements, scores and Gram matrices alike.

    Elements in double over a Gram matrix in single would have no inner product: the matrix rounds what it
    is multiplied with, squares of small elements become negative, and searches divide by zero or diverge.
    Kernels of objects take too long to be computed twice, for the search and for its certificate.
    """
    certifiable = model.tol >= CERTIFIABLE and training.loss.single and observations.dtype != object
    return np.dtype(precision_of(model.run) if certifiable else np.float64)


def _require_one_draw(bound: Iterable[BoundKernel]) -> None:
    """Refuse random features for several kernels: they would be features of none of them."""
    maps = {one.map for one in bound if one.factored is not None}
    if len(maps) > 1 and any(isinstance(one, FourierMap) for one in maps):
        raise InputError("Random Fourier features stand for one kernel only, not for several.")


class Gathered(NamedTuple):
    """Coefficients over one basis."""

    basis: Any
    """Observations, None where functions have none."""
    coef: Array
    """(n, L)."""
    edge_coef: Array | None
    """(n, L, L)."""


def gather_tables(tables: Sequence[tuple[bool, Any, Array]], L: int, whole: bool = False) -> Gathered:
    """Put coefficients on one basis, without observations that have none.

    A table is whether it is of edges, the observations that it is over, and coefficients. Those over the very
    same observations share its rows; ``whole`` keeps observations without coefficients, too.
    """
    bases = {id(basis): basis for _, basis, _ in tables}
    sizes = {id(basis): len(values) for _, basis, values in tables}
    ends = np.cumsum([0, *sizes.values()]).tolist()
    rows = {key: slice(a, b) for key, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}
    coef, edge_coef = np.zeros((ends[-1], L)), None
    for of_edges, basis, values in tables:
        if of_edges:
            edge_coef = np.zeros((ends[-1], L * L))
            edge_coef[rows[id(basis)]] = values
        else:
            coef[rows[id(basis)]] += values
    basis = stacked(list(bases.values()))
    if basis is None:
        return Gathered(None, coef, _in_pairs(edge_coef, L))
    used = coef.any(axis=1) if edge_coef is None else coef.any(axis=1) | edge_coef.any(axis=1)
    used |= whole
    kept = edge_coef if edge_coef is None else edge_coef[used]
    # A copy in any case: the observations may be the user's own array, to be changed later.
    return Gathered(basis.copy() if used.all() else basis[used], coef[used], _in_pairs(kept, L))


def _in_pairs(coef: Array | None, L: int) -> Array | None:
    return None if coef is None else coef.reshape(-1, L, L)


def held_out_scores(
    measure: BaseMeasure, training: Training, held_out: HeldOutSet
) -> tuple[KnownScores, ...]:
    """Return the scores of held-out data that are not learnt, if there are some."""
    there = training._replace(inputs=held_out.inputs, batch=held_out.batch)
    fixed = there.fixed_scores(measure)
    return () if fixed is None else (KnownScores(fixed),)
