"""The combination of past steps that leaves the shortest gradient: where a certificate is tightest.

A certified gap is ½‖∇R‖² where penalties are squared norms, while a search lowers R: from step to step its
gradient grows and shrinks along the most curved directions, by factors of ten, and most points are far better
than their certificates. Of all combinations of past steps s_k, with changes y_k of the gradient, the one that
minimises ‖∇R + Σ_k c_k y_k‖ needs inner products only to be found, and one evaluation to be tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ._base import PointLike, ProblemLike

WORTH_A_LOOK = 30.0
"""Multiple of the gap asked for below which combinations are looked at: no past steps shorten more."""

PROMISING = 0.9
"""Share of the gap asked for, or of the last promise that was not kept, that is worth an evaluation."""


class Flattening(NamedTuple):
    """A step, and what it should leave of the squared length of the gradient, a share."""

    step: Array
    left: float


def flattest(
    problem: ProblemLike, gradient: Array, steps: Sequence[Array], changes: Sequence[Array]
) -> Flattening:
    """Return Σ_k c_k s_k with the c that minimises ‖gradient + Σ_k c_k y_k‖, in the problem's norm."""
    across = np.array([problem.inners(changes, change) for change in changes])
    along = problem.inners(changes, gradient)
    lengths = np.sqrt(across.diagonal())
    scaled = across / np.outer(lengths, lengths)
    weights = np.linalg.lstsq(scaled, -along / lengths, rcond=1e-6)[0] / lengths
    before = problem.inner(gradient, gradient)
    step = np.zeros_like(gradient)
    problem.add_multiples(step, steps, weights)
    return Flattening(step, float(before + 2 * along @ weights + weights @ across @ weights) / before)


class Flattener:
    """Tries such combinations once they promise the gap that was asked for.

    Parameters
    ----------
    problem : ProblemLike
        Its inner product.
    gap : float
        The relative gap asked for.
    """

    def __init__(self, problem: ProblemLike, gap: float) -> None:
        self._problem = problem
        self._gap = gap
        self._least = gap

    def element(self, point: PointLike, steps: Sequence[Array], changes: Sequence[Array]) -> Array | None:
        """Return where the gap should be small enough; None if past steps do not lead there."""
        certificate = point.certificate
        if not steps or certificate is None:
            return None
        gap = (point.value - certificate.lower_bound) / max(abs(point.value), np.finfo(float).tiny)
        if not gap <= WORTH_A_LOOK * self._gap:
            return None
        step, left = flattest(self._problem, point.gradient, steps, changes)
        promised = left * gap
        if promised > PROMISING * self._least:
            return None
        self._least = promised
        return np.asarray(point.element + step)
