"""Fits of kernel models: expansions over all observations, or what stands for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...approximation import KernelMap
from ...arrays import Array
from ...data.training import Training
from ...fitting.held_out import HeldOutSet
from ...fitting.run import Found, previous
from ...gram import origins
from ...objective import Certificate, Point, Problem
from ...observations import stacked
from ...solvers import Solver, Stop
from ...spaces import Expansion
from ..attributes import attributes_of, scorers_of
from ..expansion_scorer import ExpansionScorer
from ..kernel_problem import KernelProblem, part_data
from ..kernel_settings import EDGE_KERNEL, KERNEL, KernelSettings
from ..parts import BoundParts, fixed_measure
from ..scorers import LearntScorer
from ..terms import kernel_solver
from ..vertex_kernels import VertexKernels
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
    functions : KernelProblem
        What is learnt, on the training set.
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
        functions: KernelProblem,
        solver: Solver,
        weighed: WeighedKernels | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.model, self.functions, self.weighed, self.checkpoint = model, functions, weighed, checkpoint
        self.training, self.problem = functions.training, functions.problem
        self.solver = kernel_solver(solver, model, self.problem)
        self.stop = Stop(gap=model.tol, gradient=1e-2 * model.tol, iterations=model.max_iter)

    def exact(self) -> Problem:
        """Return the same problem in double."""
        return self.functions.exact()

    def start(self) -> Array:
        """Return the functions of the last fit, as far as they are of this problem; else zero."""
        last = previous(self.model) if self.model.warm_start else None
        warm = None if last is None else warm_element(last, self.functions)
        return self.problem.zero() if warm is None else warm

    def held_out_loss(self, held_out: HeldOutSet) -> Callable[[Array], float]:
        """Return the loss of elements on held-out data; kernel values with the basis are kept."""
        return self.functions.held_out_loss(held_out)

    def take(self, model: Any, point: Point, element: Array) -> None:
        """Make attributes of a model of what predictions need.

        Observations without coefficients are left out, if functions drawn from a posterior have none there.
        """
        self.functions.keep(model, point, whole=self.model.posterior is not None)
        keep_training(model, self.training, self.functions.measure)

    def keep(self, model: Any, found: Found) -> None:
        """Make attributes of a model of what was found."""
        self.take(model, found.point, found.element)
        keep_end(model, self.training, found)
        keep_objective(model, found)
        subspace = self.functions.settings.approximation
        model.certificate_space_ = "full" if subspace is None else "approximation"
        offsets = self.training.inputs.offsets
        model.basis_origin_ = origins(model.basis_, self.functions.observations, self.functions.rows, offsets)
        keep_weights(model, self.weighed)

    def mode(self, found: Found) -> Mode:
        """Return what was found as the mode of a posterior."""
        functions, count = self.functions, len(self.training.encoded.classes)

        def attributes(problem: Problem, element: Array) -> dict[str, Any]:
            gathered = functions.gather(problem, element, whole=True)
            learnt = attributes_of(functions.scorers(problem, element, whole=True), count)
            return {"dual_coef_": gathered.coef, "edge_dual_coef_": gathered.edge_coef, **learnt}

        return Mode(self.problem, found.point.element, attributes)


def keep_weights(model: Any, weighed: WeighedKernels | None) -> None:
    """Make attributes of a model of weights of its kernels, and of how far from the best ones they can be."""
    model.kernel_weights_ = None if weighed is None else weighed.weights
    model.weights_certificate_ = None
    certificate: Certificate | None = model.certificate_
    if weighed is not None and weighed.bound is not None and certificate is not None:
        bound = min(weighed.bound, certificate.value)
        model.weights_certificate_ = certificate._replace(lower_bound=bound)


def vertex_scorers(model: Any) -> dict[str, LearntScorer]:
    """Return the functions of vertices and edges of a fitted model that are expansions, by part."""
    basis = model.basis_
    found: dict[str, LearntScorer] = {}
    for n, (kernel, labels) in enumerate(model._kernels.groups):
        name = KERNEL if labels is None else f"{KERNEL} {n}"
        found[name] = ExpansionScorer(None, KernelMap(kernel, basis), model.dual_coef_, None, basis.dtype)
    if model.edge_dual_coef_ is not None:
        kernel = KernelMap(model.edge_kernel_, basis)
        found[EDGE_KERNEL] = ExpansionScorer("edge", kernel, model.edge_dual_coef_, "first", basis.dtype)
    return found


def warm_element(before: Any, functions: KernelProblem) -> Array | None:
    """Return the function of a fitted model as far as it is an expansion over these observations.

    Observations that it has no coefficient for begin with zero; None if it is for other labels, or its
    observations are of another kind.
    """
    basis, observations = getattr(before, "basis_", None), functions.observations
    same = np.array_equal(before.classes_, functions.training.encoded.classes)
    if basis is None or not same or not _alike(basis, observations):
        return None
    if not isinstance(before._kernels, VertexKernels):
        return None
    problem, learnt = functions.problem, {**scorers_of(before), **vertex_scorers(before)}
    return problem.refreshed(functions.parts.element(problem, learnt).astype(problem.element_dtype))


def _alike(basis: Any, observations: Any) -> bool:
    """Whether two sets of observations can be compared."""
    return type(basis) is type(observations) and basis.shape[1:] == observations.shape[1:]


def full_certificate(model: Any, settings: KernelSettings, training: Training) -> Certificate | None:
    """Certify f = Σ_o k(basis_o, ·) α_o among all functions of the space [altun2004exp, Lemma 9].

    ∇R(f) = Σ_v k(x_v, ·) (μ_v − parts_v) + λ f is an expansion over observations and basis together: f is
    put into the dense problem over both, in double, as every certificate.
    """
    data, dtype = part_data(training, model.run), np.dtype(np.float64)
    vertices = replace(settings, basis=None).vertex_parts(training.encoded.classes)
    learnt, n = {**scorers_of(model), **vertex_scorers(model)}, data.features.shape[0]
    both = stacked([data.features, model.basis_])
    bound = {
        name: part.over(both, learnt[name].kernel, data)  # type: ignore[attr-defined]
        for name, part in vertices.items()
    }
    others = BoundParts.of(settings.other_parts(training.batch), data)
    parts = BoundParts({**vertices, **others.parts}, {**bound, **others.bound}, data)
    offset = training.fixed_scores(fixed_measure(settings.parts))
    problem = Problem.of(training.loss, parts.terms(dtype=dtype), offset, dtype, dtype)
    elements = []
    for term in problem.terms:
        if isinstance(term.space, Expansion):
            coef = learnt[term.name].numbers
            element = np.zeros(term.space.size)
            term.space.coordinates(element)[n:] = term.space.embedding.columns(coef.reshape(len(coef), -1))
        else:
            element = others.bound[term.name].element(term.space, learnt[term.name])
        elements.append(element)
    return problem.at(problem.refreshed(np.concatenate(elements))).certificate
