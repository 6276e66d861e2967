"""Newton's method, each step by conjugate gradients in the inner product of the problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._newton_base import Product, TruncatedNewton


@dataclass(frozen=True)
class NewtonCG(TruncatedNewton):
    """Truncated Newton with exact Hessian products [altun2004exp, 5.1].

    Converges quadratically near the optimum; for tight gaps, or where Hessian products are cheap
    beside gradients. Negative curvature, possible for losses that are not convex, ends the inner
    iteration; the direction found so far still descends.

    Parameters
    ----------
    inner_iterations : int
        Limit of conjugate-gradient iterations per step.
    """

    def _hessian(self, point: Any) -> Product:
        """∇²R."""
        return point.hessian_product
