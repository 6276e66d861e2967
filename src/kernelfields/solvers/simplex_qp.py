"""A small quadratic programme on the simplex."""

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


def simplex_qp(gram: Array, linear: Array, start: Array, tol: float = 0.0) -> Array:
    """Argmax ⟨c, x⟩ − ½⟨x, Hx⟩ over x ≥ 0, Σ x = 1, by an active set.

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
        A point of the simplex.
    tol : float
        How much the objective may be below its maximum.
    """
    require_not_negative("tol", tol)
    x = start.copy()
    ridge = RIDGE * max(float(np.abs(gram.diagonal()).max(initial=0.0)), np.finfo(float).tiny)
    support = x > 0
    least = max(tol, 1e-13 * float(np.abs(linear).max(initial=1.0)))
    best, value, stale, refined = x, -np.inf, 0, 0
    for _ in range(20 * len(x) + 100):
        x, support = _on_support(gram, linear, x, support, ridge)
        pulled = gram @ x
        reached = float(x @ (linear - 0.5 * pulled))
        gradient = linear - pulled
        if reached > value:
            best, value, stale = x, reached, 0
        else:  # rounding: supports come again and again
            stale += 1
            if stale > STALE:
                return best
        entering = int(np.argmax(gradient))
        refined = refined + 1 if support[entering] else 0
        if gradient[entering] - gradient @ x <= least or refined > REFINED:
            break
        support[entering] = True
    return best if value > float(x @ (linear - 0.5 * gram @ x)) else x


def _on_support(gram: Array, linear: Array, x: Array, support: Mask, ridge: float) -> tuple[Array, Mask]:
    """Maximise over the support; variables that reach zero leave it."""
    support = support.copy()
    while True:
        ids = np.flatnonzero(support)
        here = x[ids]
        goal = _stationary(gram[np.ix_(ids, ids)], linear[ids] + ridge * here, ridge)
        if (goal >= 0).all():
            x = np.zeros_like(x)
            x[ids] = goal / goal.sum()
            return x, x > 0
        falling = goal < 0
        steps = np.where(falling, here / np.where(falling, here - goal, 1.0), np.inf)
        first = int(np.argmin(steps))
        here = np.maximum(here + min(steps[first], 1.0) * (goal - here), 0.0)
        here[first] = 0.0
        x = np.zeros_like(x)
        x[ids] = here / here.sum()
        support = x > 0


def _stationary(gram: Array, linear: Array, ridge: float) -> Array:
    """Solve (H + ridge) y + μ = c, Σ y = 1."""
    m = len(linear)
    if m == 1:
        return np.ones(1)
    system = np.ones((m + 1, m + 1))
    system[:m, :m] = gram
    system[np.arange(m), np.arange(m)] += ridge
    system[m, m] = 0.0
    right = np.append(linear, 1.0)
    try:
        return np.linalg.solve(system, right)[:m]
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(system, right, rcond=None)[0][:m]
