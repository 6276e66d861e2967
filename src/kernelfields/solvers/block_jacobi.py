"""Block-Jacobi descent: Newton's method that ignores covariances between cliques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._newton_base import Product, TruncatedNewton


@dataclass(frozen=True)
class BlockJacobi(TruncatedNewton):
    """Newton steps with a Hessian that has a block for every clique [altun2004exp, 5.2, eq. 30].

    Cheap where covariances over long distances are not to be had: after the marginals of every
    clique, a product needs no sweep. It leaves out what the labels of one clique say about another,
    hence is no majoriser: where neighbours agree strongly, full steps overshoot and diverge. A line
    search makes up for it; convergence is linear instead of quadratic. Where exact products are as
    cheap as here, on chains and forests, `NewtonCG` needs fewer of them.

    Parameters
    ----------
    inner_iterations : int
        Limit of conjugate-gradient iterations per step.
    """

    def _hessian(self, point: Any) -> Product:
        """∇²R inside single cliques."""
        return point.block_hessian_product
