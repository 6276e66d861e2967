"""Independent solvers for models written out: the log loss by scipy, the hinge loss by its dual."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ._explicit import Explicit


class Optimum(NamedTuple):
    """Where an objective is least."""

    w: Any
    value: float


def log_objective(
    model: Explicit, w: Any, *, fixed: Any = None, possible: Any = None, cost: Any = None, weights: Any = None
) -> tuple[float, Any]:
    """Σ_i weight_i (log Σ_y exp(⟨w, Φ⟩ + fixed + cost) − log Σ_{y possible} exp(⟨w, Φ⟩ + fixed)) + (λ/2)‖w‖².

    Possible labellings are the right one, where nothing else is said.
    """
    value, gradient = 0.5 * float(model.penalty @ w**2), model.penalty * w
    for s, phi in enumerate(model.phi):
        scores = phi @ w + (0 if fixed is None else fixed[s])
        kept = np.arange(len(phi)) == model.right[s] if possible is None else possible[s]
        above, p = _log_sum(scores + (0 if cost is None else cost[s]))
        below, q = _log_sum(np.where(kept, scores, -np.inf))
        times = 1.0 if weights is None else weights[s]
        value += times * (above - below)
        gradient = gradient + times * (phi.T @ (p - q))
    return value, gradient


def _log_sum(scores: Any) -> tuple[float, Any]:
    top = scores.max()
    raw = np.exp(scores - top)
    return float(top + np.log(raw.sum())), raw / raw.sum()


def least_log_loss(model: Explicit, rng: np.random.Generator, **terms: Any) -> Optimum:
    """Minimise from zero and from somewhere else; a convex objective has one minimum."""
    found = []
    for start in (np.zeros(len(model.penalty)), rng.normal(size=len(model.penalty))):
        result = minimize(
            lambda w: log_objective(model, w, **terms),
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-9},
        )
        found.append(Optimum(result.x, float(result.fun)))
    assert abs(found[0].value - found[1].value) < 1e-7
    return min(found, key=lambda optimum: optimum.value)


def hinge_value(model: Explicit, w: Any, violations: Any, weights: Any = None) -> float:
    """Σ_i weight_i max_y violation_i(y, scores − score of the right one) + (λ/2)‖w‖²."""
    value = 0.5 * float(model.penalty @ w**2)
    for s, phi in enumerate(model.phi):
        rise = (phi - phi[model.right[s]]) @ w
        value += (1.0 if weights is None else weights[s]) * float(violations(s, rise).max())
    return value


def hinge_bound(model: Explicit, offsets: Any, scales: Any, weights: Any = None) -> float:
    """Return the dual of min (λ/2)‖w‖² + Σ_i max_y (offset + scale ⟨w, Φ(y) − Φ(y^i)⟩), nearly at its top.

    Σ α·offset − ½‖Λ^(−1/2) Σ α·scale·(Φ(y) − Φ(y^i))‖², every α_i in a simplex: any α bounds the primal
    from below. Moves mass between the two labellings of an item that gain most by it.
    """
    rows = [sc[:, None] * (phi - phi[r]) for phi, r, sc in zip(model.phi, model.right, scales, strict=True)]
    sizes = [len(one) for one in rows]
    times = np.repeat(np.ones(len(rows)) if weights is None else weights, sizes)
    A, b = times[:, None] * np.concatenate(rows) / np.sqrt(model.penalty), times * np.concatenate(offsets)
    Q, starts = A @ A.T, np.cumsum([0, *sizes[:-1]])
    alpha = np.zeros(len(b))
    alpha[starts + model.right] = 1.0
    slope = b - Q @ alpha
    for _ in range(50_000):
        most = np.maximum.reduceat(slope, starts)
        least = np.minimum.reduceat(np.where(alpha > 0, slope, np.inf), starts)
        s = int(np.argmax(most - least))
        if most[s] - least[s] < 1e-7:
            break
        mine = slice(starts[s], starts[s] + sizes[s])
        up = starts[s] + int(np.argmax(slope[mine]))
        down = starts[s] + int(np.argmin(np.where(alpha[mine] > 0, slope[mine], np.inf)))
        curvature = Q[up, up] + Q[down, down] - 2 * Q[up, down]
        step = min(alpha[down], (slope[up] - slope[down]) / max(curvature, 1e-12))
        alpha[[up, down]] += step, -step
        slope -= step * (Q[:, up] - Q[:, down])
    return float(b @ alpha - 0.5 * alpha @ Q @ alpha)
