"""Support vector machines of two labels, on a Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import native
from ..arrays import Array
from ..objective import Certificate

ROUGH, FINEST = 0.1, 1e-11
"""Violations of optimality between which the solver is made stricter until the gap is small enough."""


class MarginFunction(NamedTuple):
    """f(x) + b, and what is known about it."""

    coef: Array
    """β, (N,): f(x) = Σ_i β_i k(x_i, x)."""
    scores: Array
    """f(x_i), (N,)."""
    intercept: float
    """b."""
    certificate: Certificate
    """Value of the objective, and the dual value below it."""

    def slacks(self, labels: Array) -> Array:
        """Return ξ_i = max(0, 1 − y_i (f(x_i) + b)), (N,)."""
        return np.maximum(0.0, 1.0 - labels * (self.scores + self.intercept))


@dataclass(frozen=True)
class BinaryMargin:
    """Minimises (λ/2)‖f‖² + Σ_i w_i max(0, 1 − y_i (f(x_i) + b)) over f in the space of a kernel, and b.

    The dual problem, max ⟨y, β⟩ − ½⟨β, Kβ⟩ over Σ_i β_i = 0 and y_i β_i ∈ [0, w_i/λ], is solved two
    coefficients at a time (``smo.hpp``).
    """

    gram: Array
    """K, (N, N) in double."""
    penalty: float
    """λ."""
    tol: float
    """Relative duality gap at which to stop."""
    max_iter: int
    """Limit of passes, N steps each."""

    def fit(self, labels: Array, weights: Array, start: Array | None = None) -> MarginFunction:
        """Return the best function for labels y of ±1 and weights w of rows.

        ``start`` may hold coefficients that keep all bounds and add up to zero. The gap asked for may not be
        reached: the certificate says how close it came.
        """
        bounds = labels * weights / self.penalty
        low, high = np.minimum(bounds, 0.0), np.maximum(bounds, 0.0)
        coef = np.zeros(len(labels)) if start is None else start
        scores, left, violation = self.gram @ coef, self.max_iter, ROUGH
        while True:
            coef, scores, steps, most, least = native.margin_smo(
                self.gram, labels, low, high, coef, scores, violation, len(labels)
            )
            left -= 1
            if steps == len(labels) and left > 0:
                continue  # a pass at a time, so that Ctrl-C is heard
            found = self._judged(labels, weights, coef, _middle(most, least))
            if found.certificate.relative_gap <= self.tol or left <= 0 or violation <= FINEST:
                return found
            violation, scores = violation / 10, found.scores

    def _judged(self, labels: Array, weights: Array, coef: Array, intercept: float) -> MarginFunction:
        """Compute scores again, without the rounding of many steps, and both objectives."""
        scores = self.gram @ coef
        norm = float(coef @ scores)
        slacks = np.maximum(0.0, 1.0 - labels * (scores + intercept))
        value = 0.5 * self.penalty * norm + float(weights @ slacks)
        bound = self.penalty * (float(labels @ coef) - 0.5 * norm)
        return MarginFunction(coef, scores, intercept, Certificate(value, min(bound, value)))


def _middle(most: float, least: float) -> float:
    """Return b between the two ends of slopes; where nothing can rise, or fall, there is one end only."""
    ends = [end for end in (most, least) if np.isfinite(end)]
    return sum(ends) / len(ends) if ends else 0.0
