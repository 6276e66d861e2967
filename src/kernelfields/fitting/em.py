"""Searches in turn with beliefs about labels that were not observed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..losses import Loss, PseudoLikelihood, VariationalEM
from ..objective import ArrayData, Problem

if TYPE_CHECKING:
    from .run import Found

Change = Callable[[Problem], Problem]


def alternate(
    problem: Problem,
    start: Array,
    settings: VariationalEM,
    minimise: Callable[[Problem, Array, Change], Found],
) -> Found:
    """Learn from observed labels first, then in turn from beliefs about all others.

    Parameters
    ----------
    problem : Problem
        With the pseudo-likelihood of what was observed.
    start : element
        Where the first search starts.
    settings : VariationalEM
        How many rounds, and what a belief is worth.
    minimise : callable
        A search, from a problem, a start, and how to change the exact problem to the same loss.
    """
    observed = problem.loss
    assert isinstance(observed, PseudoLikelihood)
    found = minimise(problem, start, lambda exact: exact)
    done, beliefs = found.iterations, settings.first(observed, _scores(problem, found.element))
    for _ in range(settings.rounds):
        before, change = beliefs, with_loss(settings.expected(observed, beliefs))
        found = minimise(change(problem), found.element, change)
        done += found.iterations
        beliefs = settings.beliefs(observed, _scores(problem, found.element), before)
        if np.abs(beliefs - before).max(initial=0.0) <= settings.tol:
            break
    return found._replace(iterations=done)


def with_loss(loss: Loss) -> Change:
    """Return how a problem gets this loss, on the same structure and spaces."""

    def changed(problem: Problem) -> Problem:
        data = problem.arrays
        return Problem(problem.geometry, ArrayData(loss, data.spaces, data.offset, data.dtype))

    return changed


def _scores(problem: Problem, element: Array) -> dict[str, Array]:
    """Return θ, what is not learnt included."""
    data = problem.arrays
    return data.with_offset(data.scores(element))
