"""Solvers: they see a problem with an inner product, and nothing of structures."""

from ._base import Progress, Reason, Result, Solver, Stop
from .lbfgs import LBFGS
from .newton_cg import NewtonCG
from .owlqn import OWLQN

__all__ = ["LBFGS", "OWLQN", "NewtonCG", "Progress", "Reason", "Result", "Solver", "Stop"]
