"""Ways to refit coefficients after functions were added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, require_positive, whole
from ..objective import Point, Problem, Term
from ..solvers import LBFGS, Reason, Solver, Stop
from .atoms import Atoms
from .span import Extension, SelectedSpan
from .task import GrowthState, GrowthTask, element_of, parts_of


class Refitted(NamedTuple):
    """The result of a refit."""

    state: GrowthState
    point: Point
    """R there."""
    reason: Reason


@dataclass(frozen=True)
class Refit(Checked, ABC):
    """Settings of a refit.

    Parameters
    ----------
    iterations : int
        Limit of iterations; few are enough, because they start from the coefficients of the last step.
    tol : float
        Relative certified gap, in the span of what is refitted, at which to stop. It need not be small on the
        way: slopes of candidates hardly change with the last digits, and the last fit has a tolerance of its
        own.
    solver : Solver
        How to minimise.
    """

    iterations: int = 10
    tol: float = 1e-2
    solver: Solver = field(default_factory=lambda: LBFGS(memory=20))
    _checks: ClassVar[Mapping[str, Check]] = {"iterations": whole(0), "tol": require_positive}

    @property
    def stop(self) -> Stop:
        """The stopping rule of a refit."""
        return Stop(self.tol, 1e-2 * self.tol, self.iterations)

    @abstractmethod
    def run(self, task: GrowthTask, before: GrowthState, added: dict[str, Extension]) -> Refitted:
        """Fit the coefficients of a state to which functions were added."""


class RefitAll(Refit):
    """Refits all coefficients, which lowers R the most."""

    def run(self, task: GrowthTask, before: GrowthState, added: dict[str, Extension]) -> Refitted:
        """Minimise R over the span of all functions."""
        grown = before.grown | {name: one.grown for name, one in added.items()}
        problem = task.problem(grown)
        result = self.solver.minimize(problem, element_of(problem, before.parts), self.stop)
        state = before._replace(grown=grown, parts=parts_of(problem, result.point.element))
        return Refitted(state, result.point, result.reason)


class RefitNew(Refit):
    """Refits only the coefficients of the new functions, and free scores of labels [altun2004gp, 4.2].

    As in boosting, the time of a step is proportional to the number of new functions, not of all; more
    functions are needed for the same value of R.
    """

    def run(self, task: GrowthTask, before: GrowthState, added: dict[str, Extension]) -> Refitted:
        """Minimise R over f − Pf + span of the new functions, where P projects onto that span.

        ‖f − Pf + u‖² = ‖f − Pf‖² + ‖u‖² for u in the span: what stays is an offset to the scores, and
        the penalty has no mixed term.
        """
        fresh = {name: _fresh(task, name, one) for name, one in added.items() if len(one.kept)}
        starts = {name: _projected(before, name, new) for name, new in fresh.items()}
        problem = _problem_of_new(task, before, fresh, starts)
        result = self.solver.minimize(problem, element_of(problem, before.parts | starts), self.stop)
        parts = parts_of(problem, result.point.element)
        grown = before.grown | {name: one.grown for name, one in added.items()}
        updated = before.parts | {term.name: parts[term.name] for term in task.free}
        for name, new in fresh.items():
            change = new.functions().coefficients(parts[name] - starts[name])
            moved = added[name].triangle.T @ change  # w = Cᵀc, the other c unchanged
            moved[: len(before.parts[name])] += before.parts[name]
            updated[name] = moved
        state = before._replace(grown=grown, parts=updated)
        return Refitted(state, task.point(state), result.reason)


def _fresh(task: GrowthTask, name: str, one: Extension) -> SelectedSpan:
    """Return the span of the new functions alone; the kept ones are linearly independent."""
    new = one.grown.atoms.take(np.arange(one.grown.size - len(one.kept), one.grown.size))
    return SelectedSpan.empty(task.pools[name]).appended(new).grown


def _projected(before: GrowthState, name: str, new: SelectedSpan) -> Array:
    """Return Pf in orthonormal coordinates of the new span: C⁻¹⟨f, h_j⟩."""
    old = before.grown[name]
    coefficients = old.functions().coefficients(before.parts[name])
    inner = new.pool.gram(new.atoms, old.atoms) @ coefficients
    return np.asarray(new.inverse[: new.size, : new.size] @ inner)


def _problem_of_new(
    task: GrowthTask, before: GrowthState, fresh: dict[str, SelectedSpan], starts: dict[str, Array]
) -> Problem:
    whole = task.problem(before.grown)
    held = dict(before.parts)
    held |= {term.name: np.zeros(term.space.size) for term in task.free}
    offset = whole.arrays.with_offset(whole.arrays.scores(element_of(whole, held)))
    terms = [
        Term(name, task.space(new.pool, new.functions()), new.pool.penalty) for name, new in fresh.items()
    ]
    away = Problem.of(task.loss, terms, dtype=task.dtype)
    removed = away.arrays.scores(element_of(away, starts))
    offset = {clique: values - removed[clique] for clique, values in offset.items()}
    return Problem.of(task.loss, [*terms, *task.free], offset, task.dtype)


def gain_of(task: GrowthTask, state: GrowthState, name: str, functions: Atoms) -> float:
    """Return sup_a R(f) − R(f + Σ_j a_j h_j), the gain if only new coefficients move [lafferty2004]."""
    value = task.point(state).value
    added = state.grown[name].appended(functions)
    if not len(added.kept):
        return 0.0
    frozen = replace(task, free=(), offset=_held(task, state))
    refit = RefitNew(iterations=30, tol=1e-6)
    after = refit.run(frozen, state, {name: added}).state
    return value - task.point(after).value


def _held(task: GrowthTask, state: GrowthState) -> dict[str, Array] | None:
    """Return the offset with the free scores as they are."""
    offset = None if task.offset is None else dict(task.offset)
    if not task.free:
        return offset
    problem = Problem.of(task.loss, list(task.free), task.offset, task.dtype)
    return problem.arrays.with_offset(problem.arrays.scores(element_of(problem, state.parts)))
