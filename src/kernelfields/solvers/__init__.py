"""Solvers: they see a problem with an inner product, and nothing of structures."""

from ._base import Progress, Reason, Result, Solver, Stop
from .lbfgs import LBFGS
from .newton_cg import NewtonCG

__all__ = ["LBFGS", "NewtonCG", "Progress", "Reason", "Result", "Solver", "Stop"]
