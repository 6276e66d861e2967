"""Fits of kernel models: expansions over all observations, or what stands for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...data.training import Training
from ...fitting.held_out import HeldOutSet
from ...fitting.run import Found, previous
from ...gram import find_observations, origins
from ...objective import Certificate, Point, Problem
from ...observations import in_precision, stacked
from ...solvers import Solver
from ...spaces import Expansion, LinearFeatures, SparseFeatures
from ..attributes import attributes_of, keep_scorers, scorers_of
from ..expansion import Expanded, coefficients_of, dense_problem, expand, gather
from ..kernel_recipe import KernelRecipe
from ..kernel_scorers import ColumnScorer
from ..kernel_training import KernelTraining, fixed_scores
from ..model import KnownScores, Model, Scorer
from ..parts import BoundKernel, BoundParts, PartData
from ..scorers import fuse_scorers
from ..subspaces import feature_map
from ..terms import kernel_solver
from .steps import Mode, ProblemFit, keep_end, keep_objective, keep_training

if TYPE_CHECKING:
    from ...fitting.checkpoint import Checkpoint
    from ..kernel_weights import WeighedKernels


class KernelFit(ProblemFit):
    """The objective of a kernel model on a training set.

    Parameters
    ----------
    model : KernelModel
        The settings.
    data : KernelTraining
        The training set, and the kernels that look at it.
    solver : Solver
        What minimises unless ``solver="auto"`` finds better.
    weighed : WeighedKernels, optional
        What is known of weights of kernels that were learnt.
    checkpoint : Checkpoint, optional
        The file that has the state of the search.
    """

    def __init__(
        self,
        model: Any,
        data: KernelTraining,
        solver: Solver,
        weighed: WeighedKernels | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.model, self.data, self.weighed, self.checkpoint = model, data, weighed, checkpoint
        self.recipe, self.training = data.recipe, data.training
        self.expanded = expand(data)
        self.problem = self.expanded.problem
        self.solver = kernel_solver(solver, self.recipe, self.problem)
        self.stop = self.recipe.stop

    def exact(self) -> Problem:
        """Return the same problem in double."""
        return self.expanded.exact()

    def start(self) -> Array:
        """Return the functions of the last fit, as far as they are of this problem; else zero."""
        last = previous(self.model) if self.recipe.warm_start else None
        warm = None if last is None else warm_element(last, self.problem, self.data)
        return self.problem.zero() if warm is None else warm

    def held_out_loss(self, held_out: HeldOutSet) -> Callable[[Array], float]:
        """Return the loss of elements on held-out data; kernel values with the basis are kept."""
        return held_out_loss(self.data, self.expanded, held_out)

    def take(self, model: Any, point: Point, element: Array) -> None:
        """Make attributes of a model of what predictions need.

        Observations without coefficients are left out, if functions drawn from a posterior have none there.
        """
        whole = self.recipe.posterior is not None
        keep_functions(model, self.data, self.expanded, point, whole=whole)

    def keep(self, model: Any, found: Found) -> None:
        """Make attributes of a model of what was found."""
        self.take(model, found.point, found.element)
        keep_end(model, self.training, found)
        keep_objective(model, found)
        model.certificate_space_ = "full" if self.recipe.approximation is None else "approximation"
        offsets = self.training.inputs.offsets
        model.basis_origin_ = origins(model.basis_, self.data.observations, self.data.rows, offsets)
        keep_weights(model, self.weighed)

    def mode(self, found: Found) -> Mode:
        """Return what was found as the mode of a posterior."""
        others, count = self.data.others, len(self.training.encoded.classes)

        def attributes(problem: Problem, element: Array) -> dict[str, Any]:
            point = Point(problem, element, None)  # type: ignore[arg-type]  # nobody asks for the loss
            functions = gather(point, self.expanded.bases, whole=True)
            learnt = attributes_of(others.scorers(problem, element), count)
            return {"dual_coef_": functions.coef, "edge_dual_coef_": functions.edge_coef, **learnt}

        return Mode(self.problem, found.point.element, attributes)


def keep_functions(
    model: Any, data: KernelTraining, expanded: Expanded, point: Point, *, whole: bool = False
) -> None:
    """Make attributes of a model of its functions; ``whole`` keeps observations without coefficients, too."""
    training, count = data.training, len(data.training.encoded.classes)
    model._kernels, model.edge_kernel_, model.fourier_ = data.kernels, data.edge_kernel, expanded.fourier
    model.kernel_ = data.kernels.by_label(training.encoded.classes)
    model.basis_, model.dual_coef_, model.edge_dual_coef_ = gather(point, expanded.bases, whole=whole)
    scorers = data.others.scorers(point.problem, point.element)
    if not whole:
        scorers = {name: one.pruned() for name, one in scorers.items()}
    keep_scorers(model, scorers, count)
    keep_training(model, training, data.recipe.base_measure)


def keep_weights(model: Any, weighed: WeighedKernels | None) -> None:
    """Make attributes of a model of weights of its kernels, and of how far from the best ones they can be."""
    model.kernel_weights_ = None if weighed is None else weighed.weights
    model.weights_certificate_ = None
    certificate: Certificate | None = model.certificate_
    if weighed is not None and weighed.bound is not None and certificate is not None:
        bound = min(weighed.bound, certificate.value)
        model.weights_certificate_ = certificate._replace(lower_bound=bound)


def held_out_loss(data: KernelTraining, expanded: Expanded, held_out: HeldOutSet) -> Callable[[Array], float]:
    """Return the loss of an element: that of the model it would be.

    Kernel values between held-out observations and the basis are kept, and so is what is not learnt.
    """
    training, others = data.training, data.others
    observations = in_precision(held_out.inputs.features, data.recipe.dtype)
    problem, maps = expanded.problem, expanded.maps()
    seen = PartData(held_out.batch, observations)
    readers = {name: one.held_out(seen) for name, one in others.bound.items() if isinstance(one, BoundKernel)}
    alone = BoundParts(
        others.parts, {n: one for n, one in others.bound.items() if n not in readers}, others.data
    )
    kept = {one: one.columns(observations) for one in set(maps)}
    crosses = [kept[one] for one in maps]
    classes, fixed = training.encoded.classes, held_out_fixed(data.recipe, training, held_out)

    def loss(element: Array) -> float:
        scorers: list[Scorer] = [*fixed]
        for term, cross in zip(problem.terms[: len(crosses)], crosses, strict=True):
            space: Any = term.space
            coefficients = coefficients_of(space, element[problem.slices[term.name]])
            scorers.append(ColumnScorer(space.clique, cross, coefficients))
        for term in problem.terms:
            if term.name in readers:
                values = readers[term.name](term.space, element[problem.slices[term.name]])
                scorers.append(KnownScores({term.space.clique: values}))
        labels = fuse_scorers(alone.scorers(problem, element), held_out.batch.n_answers)
        return held_out.loss_of(Model(training.structure, classes, (*scorers, *labels)))

    return loss


def held_out_fixed(recipe: KernelRecipe, training: Training, held_out: HeldOutSet) -> tuple[KnownScores, ...]:
    """Return the scores of held-out data that are not learnt, if there are some."""
    fixed = fixed_scores(recipe, training._replace(inputs=held_out.inputs, batch=held_out.batch))
    return () if fixed is None else (KnownScores(fixed),)


def warm_element(before: Any, problem: Problem, data: KernelTraining) -> Array | None:
    """Return the function of a fitted model as far as it is an expansion over these observations.

    Observations that it has no coefficient for begin with zero; None if it is for other labels, or its
    observations are of another kind.
    """
    basis, kernels, observations = getattr(before, "basis_", None), data.kernels, data.observations
    weights = any(isinstance(term.space, LinearFeatures | SparseFeatures) for term in problem.terms)
    features = feature_map(kernels.groups[0].kernel) if weights else None
    if weights and type(getattr(before, "kernel_", None)) is not type(kernels.kernel):
        return None
    same = np.array_equal(before.classes_, data.training.encoded.classes)
    if basis is None or not same or not _alike(basis, observations):
        return None
    found = find_observations(observations, basis)
    learnt = scorers_of(before)
    pieces = []
    for term in problem.terms:
        piece = np.zeros(term.space.size)
        scorer, bound = learnt.get(term.name), data.others.bound.get(term.name)
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
    columns = space.embedding.columns(coef)
    space.coordinates(element)[found[found >= 0]] = columns[found >= 0]


def _alike(basis: Any, observations: Any) -> bool:
    """Whether two sets of observations can be compared."""
    return type(basis) is type(observations) and basis.shape[1:] == observations.shape[1:]


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
    space.coordinates(result)[n:] = space.embedding.columns(coef.reshape(len(coef), -1))
    return result
