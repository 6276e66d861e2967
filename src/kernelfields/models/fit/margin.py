"""Fits of structured SVMs: a hinge loss, and functions that are linear or expansions of a kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from ...arrays import Array
from ...data.training import Training, warn_of
from ...distributed import shared_out
from ...errors import InputError
from ...fitting.digest import digest
from ...fitting.held_out import HeldOutSet
from ...fitting.run import Found, exact_certificate, open_observer, precision_of, previous
from ...objective import BlockDual, DetourDual, Detours, L1Norm, Point, Problem
from ...solvers import CuttingPlane, DualAscent, LinearProgramming, Observer, Progress, Reason, Result, Stop
from ...structures import StructureBatch
from ..attributes import keep_scorers
from ..kernel_problem import KernelProblem, part_data
from ..kernel_settings import KernelSettings
from ..parts import (
    BoundParts,
    LinearScores,
    Part,
    PartData,
    compose,
    feature_parts,
    fixed_measure,
    free_parts,
)
from .margin_solvers import handed_over, margin_dual, margin_solver
from .steps import Fit, Mode, keep_end, keep_training

SAME = (
    "norm",
    "rescaling",
    "cost",
    "kernel",
    "structure",
)
"""What decides the planes and the functions, besides the data and the precision; penalties may change."""


class Round(NamedTuple):
    """One iteration of a fit."""

    constraints: int
    """Planes in the working set, or in the cache."""
    violation: float
    """ε: how far the loss of a sequence is above its planes at most; inf where the solver does not know."""
    relative_gap: float
    """(primal − dual) / primal."""


class MarginFit(Fit):
    """The objective of a structured SVM on a training set.

    Parameters
    ----------
    model : StructuredSVM
        The settings.
    functions : MarginFunctions
        What is learnt, and the problem that it makes with the loss.
    """

    def __init__(self, model: Any, functions: MarginFunctions) -> None:
        self.model, self.functions = model, functions
        self.training, self.problem = functions.training, functions.problem
        self.stop = Stop(gap=model.tol, gradient=1e-2 * model.tol, iterations=model.max_iter)
        self.solver = margin_solver(model, self.problem)
        self.dual = margin_dual(model, self.solver, self.problem, self.training)
        self.history: list[Round] = []

    def search(self, held_out: HeldOutSet | None) -> Found:
        """Let the solver run; ending too early is a warning. Held-out data are not looked at."""
        with open_observer(self.model, self._draft, self._note) as observer:
            self.result = self._solve(observer)
        if not self.result.reason.converged:
            warn_of(self.result.reason, self.result.progress)
        point = self._precise(self.result.point)
        certificate = exact_certificate(point, self.result)
        rounds, reason = self.result.progress.iteration, self.result.reason
        return Found(point, self.result.point.element, rounds, reason, certificate)

    def _solve(self, observer: Observer) -> Result:
        """Minimise the problem or maximise its dual, from where the last fit ended if it is to go on."""
        solver, dual, last = self.solver, self.dual, self._last()
        if isinstance(solver, CuttingPlane | LinearProgramming):
            start = self.problem.zero() if last is None else last.element_for(self.problem)
            # a linear program takes the loss apart by itself
            given = shared_out(self.problem) if isinstance(solver, CuttingPlane) else self.problem
            return solver.minimize(given, start, self.stop, observer)
        if isinstance(solver, DualAscent):
            assert isinstance(dual, DetourDual)
            if last is not None and last.detours is not None:
                dual.restart(last.detours)
            result = solver.maximize(dual, self.stop, observer)
            if self.model.solver == "auto" and not result.reason.converged:
                return handed_over(self.problem, result, self.stop, observer)
            return result
        if not isinstance(dual, BlockDual):
            raise InputError("rescaling='relaxed' goes with solver='one-slack' only.")
        if last is not None and last.mixtures is not None:
            dual.restart(last.levels, last.mixtures)
        return solver.maximize(dual, self.stop, observer)

    def keep(self, model: Any, found: Found) -> None:
        """Make attributes of a model of what was found."""
        self._take(model, found.point)
        keep_end(model, self.training, found)
        model.history_ = self.history
        model._last = None
        if self.model.warm_start:
            model._last = Ended.of(self.model, self.training, self.problem, self.dual, self.result)

    def mode(self, found: Found) -> Mode:
        """Refuse a posterior: no probabilities are behind a hinge loss."""
        raise InputError("A structured SVM has no posterior.")

    def _last(self) -> Ended | None:
        """Return where the last fit ended, if it was one of the same problem."""
        before = previous(self.model) if self.model.warm_start else None
        last: Ended | None = None if before is None else getattr(before, "_last", None)
        return last if last is not None and last.fits(self.model, self.training) else None

    def _note(self, progress: Progress, point: Any) -> None:
        self.history.append(Round(point.constraints, point.violation, progress.relative_gap))

    def _draft(self, point: Any) -> Any:
        model = copy(self.model)
        self._take(model, self._precise(point))
        return model

    def _precise(self, point: Any) -> Point:
        """Return a point of the search, computed again in double."""
        problem = self.problem.exact()
        return problem.at(problem.refreshed(point.element))

    def _take(self, model: Any, point: Point) -> None:
        self.functions.take(model, point)
        keep_training(model, self.training, fixed_measure(self.model.parts))


class MarginFunctions(ABC):
    """Functions of the input that a structured SVM learns."""

    training: Training
    problem: Problem

    @abstractmethod
    def take(self, model: Any, point: Point) -> None:
        """Make attributes of a model of the functions at a point."""


class LinearFunctions(MarginFunctions):
    """⟨w_y, x⟩: the model has ``coef_``; with ``norm="l1"`` penalties are λ‖w‖₁ instead of (λ/2)‖w‖²."""

    def __init__(self, model: Any, training: Training) -> None:
        self.training = training
        features = training.inputs.features.astype(np.float64, copy=False)
        data = PartData(training.batch, features, random=model.random_state, fast=False)
        self.parts = BoundParts.of(_linear_parts(model, training.batch), data)
        offset = training.fixed_scores(fixed_measure(model.parts))
        self.problem = Problem.of(training.loss, self.parts.terms(), offset)

    def take(self, model: Any, point: Point) -> None:
        """Make attributes of a model of the weights."""
        scorers = self.parts.scorers(point.problem, point.element)
        keep_scorers(model, scorers, len(self.training.encoded.classes))


def _linear_parts(model: Any, batch: StructureBatch) -> dict[str, Part]:
    defaults = {"features": LinearScores(), **free_parts(batch), **feature_parts(batch)}
    parts = compose(defaults, model.parts, model.penalty)
    if model.norm != "l1":
        return parts
    return {
        name: replace(one, penalty=0.0, norm=L1Norm(float(one.penalty or 0.0))) for name, one in parts.items()
    }


class KernelFunctions(MarginFunctions):
    """Σ_o k(x, x_o) α_{o,y}: the model has ``basis_`` and ``dual_coef_``."""

    def __init__(self, model: Any, settings: KernelSettings, training: Training) -> None:
        self.training = training
        data = part_data(training, model.run, model.random_state)
        # support vectors are what a linear kernel is asked for here: without a kernel there are weights
        self.functions = KernelProblem(model, settings, training, data, as_weights=False)
        self.problem = self.functions.problem

    def take(self, model: Any, point: Point) -> None:
        """Make attributes of a model of the support vectors and their coefficients."""
        self.functions.keep(model, point)


class Ended(NamedTuple):
    """The end of a fit. Planes are those of labellings: they are wrong for other data, rules or costs."""

    problem: str
    """What was minimised, but for penalties: the digest of it."""
    levels: Array
    mixtures: list[Array] | None
    """Of every sequence; None where the solver had none."""
    element: Array
    metrics: list[float]
    detours: Detours | None
    """Of all sequences; None where the solver had none."""

    @classmethod
    def of(
        cls,
        model: Any,
        training: Training,
        problem: Problem,
        dual: BlockDual | DetourDual | None,
        result: Result,
    ) -> Self:
        """Describe the end of a fit; one that was interrupted may have left mixtures in disorder."""
        blocks = dual if isinstance(dual, BlockDual) else None
        levels = np.zeros(0) if blocks is None else blocks.levels
        whole = levels.any() and result.reason is not Reason.INTERRUPTED
        metrics = [term.metric for term in problem.terms]
        return cls(
            _problem(model, training),
            levels,
            blocks.mixtures if whole and blocks is not None else None,
            result.point.element,
            metrics,
            dual.detours() if isinstance(dual, DetourDual) else None,
        )

    def fits(self, model: Any, training: Training) -> bool:
        """Whether a fit has the same data, weights, rules and settings, penalties left aside."""
        return self.problem == _problem(model, training)

    def element_for(self, problem: Problem) -> Array:
        """Return the function of the same dual variables with the penalties of another problem."""
        result = self.element.copy()
        for term, place, metric in zip(problem.terms, problem.slices.values(), self.metrics, strict=True):
            result[place] *= metric / term.metric
        return result


def _problem(model: Any, training: Training) -> str:
    """Return the digest of what is minimised: data, weights, what is forbidden, settings."""
    parts = {
        name: replace(part, penalty=None) if isinstance(part, Part) else part
        for name, part in model.parts.items()
    }
    settings = [getattr(model, name) for name in SAME]
    return digest([*training.contents(), parts, *settings, precision_of(model.run)])
