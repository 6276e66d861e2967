"""A small quadratic programme on one simplex or on several."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import require_not_negative

Mask = npt.NDArray[np.bool_]

RIDGE = 1e-12
"""Weight of ½‖y − x‖² in a step from x to y, as a share of the largest entry of the diagonal.

Planes may be multiples of each other. Were it that of ½‖y‖², it would stay in the solution: where vectors are
long and penalties small, it was more than the whole objective.
"""

REFINED = 5
"""Steps on one support in a row, as the first is short of its maximum by that weight."""

STALE = 20
"""Steps without a rise after which rounding has the last word."""


def simplex_qp(
    gram: Array, linear: Array, start: Array, tol: float = 0.0, groups: Array | None = None
) -> Array:
    """Argmax ⟨c, x⟩ − ½⟨x, Hx⟩ over x ≥ 0, Σ x = 1 in every group of variables, by an active set.

    On the support of x the problem is a linear system; where its solution leaves the simplex, x goes up
    to the border and a variable leaves the support; where a gradient outside is larger than inside, that
    variable enters it. Every step raises the objective, so that no support comes twice. For some
    hundred variables: a step costs the cube of the size of the support.

    Parameters
    ----------
    gram : (m, m) array
        H, positive semidefinite.
    linear : (m,) array
        c.
    start : (m,) array
        A feasible point.
    tol : float
        How much the objective may be below its maximum.
    groups : (m,) array, optional
        The group of every variable, from 0 on; if not given, there is only one.
    """
    require_not_negative("tol", tol)
    groups = np.zeros(len(start), dtype=np.intp) if groups is None else groups
    x = start.copy()
    ridge = RIDGE * max(float(np.abs(gram.diagonal()).max(initial=0.0)), np.finfo(float).tiny)
    support = x > 0
    least = max(tol / (groups.max(initial=0) + 1), 1e-13 * float(np.abs(linear).max(initial=1.0)))
    best, value, stale, refined = x, -np.inf, 0, 0
    for _ in range(20 * len(x) + 100):
        x, support = _on_support(gram, linear, x, support, ridge, groups)
        pulled = gram @ x
        reached = float(x @ (linear - 0.5 * pulled))
        gradient = linear - pulled
        if reached > value:
            best, value, stale = x, reached, 0
        else:  # rounding: supports come again and again
            stale += 1
            if stale > STALE:
                return best
        excess = gradient - np.bincount(groups, gradient * x)[groups]
        entering = int(np.argmax(excess))
        refined = refined + 1 if support[entering] else 0
        if excess[entering] <= least or refined > REFINED:
            break
        support[entering] = True
    return best if value > float(x @ (linear - 0.5 * gram @ x)) else x


def _on_support(
    gram: Array, linear: Array, x: Array, support: Mask, ridge: float, groups: Array
) -> tuple[Array, Mask]:
    """Maximise over the support; variables that reach zero leave it."""
    support = support.copy()
    while True:
        ids = np.flatnonzero(support)
        here = x[ids]
        goal = _stationary(gram[np.ix_(ids, ids)], linear[ids] + ridge * here, ridge, groups[ids])
        if (goal >= 0).all():
            x = np.zeros_like(x)
            x[ids] = _normalise(goal, groups[ids])
            return x, x > 0
        falling = goal < 0
        steps = np.where(falling, here / np.where(falling, here - goal, 1.0), np.inf)
        first = int(np.argmin(steps))
        here = np.maximum(here + min(steps[first], 1.0) * (goal - here), 0.0)
        here[first] = 0.0
        x = np.zeros_like(x)
        x[ids] = _normalise(here, groups[ids])
        support = x > 0


def _normalise(x: Array, groups: Array) -> Array:
    return np.asarray(x / np.bincount(groups, x)[groups])


def _stationary(gram: Array, linear: Array, ridge: float, groups: Array) -> Array:
    """Solve (H + ridge) y + μ = c, Σ y = 1, with one μ for every group."""
    m, n = len(linear), groups.max() + 1
    if m == n:
        return np.ones(m)
    system = np.zeros((m + n, m + n))
    system[:m, :m] = gram
    system[np.arange(m), np.arange(m)] += ridge
    system[np.arange(m), m + groups] = system[m + groups, np.arange(m)] = 1.0
    right = np.concatenate([linear, np.ones(n)])
    try:
        return np.linalg.solve(system, right)[:m]
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(system, right, rcond=None)[0][:m]
