"""Searches that begin with guessed states or clusters, and let go of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..losses import ExpectedLog, HiddenStateLog, Information, Loss
from ..objective import Problem
from ..solvers import Observer, Solver, Stop
from .em import Change, with_loss

if TYPE_CHECKING:
    from .run import Found

LEAST = 1e-8
"""Share of the objective by which a step of EM must lower it, lest there be no more."""


class Search(NamedTuple):
    """How to minimise."""

    solver: Solver
    stop: Stop
    observer: Observer | None
    minimise: Callable[[Problem, Array, Change], Found]
    """A search to the end, from a problem, a start, and how to change the exact problem to the same loss."""

    def steps(self, problem: Problem, start: Array, loss: Loss, count: int) -> tuple[Array, int]:
        """Return where a few iterations with another loss lead, and how many they were."""
        # No gap is small enough: where a step begins, the touching function is often within it already.
        part = Stop(0.0, self.stop.gradient, min(count, self.stop.iterations))
        result = self.solver.minimize(with_loss(loss)(problem), start, part, self.observer)
        return result.point.element, result.progress.iteration


def learn_states(problem: Problem, start: Array, loss: HiddenStateLog, search: Search) -> Found:
    """Fit to the states to begin with, then, from there, to their labels only: by EM first, or directly.

    At zero all states of a label are alike, and stay so along the gradient: a search from there would
    never tell them apart. EM is slow near the end, so that the last iterations are those of the gradient.
    """
    element, done = search.steps(problem, start, loss.begin, loss.settings.first)
    path: tuple[float, ...] = ()
    if loss.settings.rounds:
        element, more, path = _em(problem, element, loss, search)
        done += more
    found = search.minimise(problem, element, lambda exact: exact)
    if path:
        path = (*path, float(found.point.value))
    return found._replace(iterations=done + found.iterations, path=path)


def learn_clusters(problem: Problem, start: Array, loss: Information, search: Search) -> Found:
    """Fit to the labels to begin with, then, from there, maximise information."""
    element, done = search.steps(problem, start, loss.begin, loss.settings.first)
    found = search.minimise(problem, element, lambda exact: exact)
    return found._replace(iterations=done + found.iterations)


def _em(
    problem: Problem, element: Array, loss: HiddenStateLog, search: Search
) -> tuple[Array, int, tuple[float, ...]]:
    """Step by step minimise the function that touches the objective from above."""
    path, done, stop = [], 0, search.stop
    point: Any = problem.at(element)
    first = _norm(problem, point)
    for _ in range(loss.settings.rounds):
        if done >= stop.iterations or _norm(problem, point) <= stop.gradient * max(1.0, first):
            break
        path.append(float(point.value))
        data = problem.arrays
        touching = ExpectedLog(loss.observed, data.with_offset(data.scores(point.element)))
        element, more = search.steps(problem, point.element, touching, loss.settings.inner)
        done, point = done + more, problem.at(problem.refreshed(element))
        if not path[-1] - point.value > LEAST * abs(path[-1]):
            break
    return point.element, done, (*path, float(point.value))


def _norm(problem: Problem, point: Any) -> float:
    slope = problem.steepest(point)
    return float(np.sqrt(max(problem.inner(slope, slope), 0.0)))
