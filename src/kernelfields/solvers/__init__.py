"""Solvers: they see a problem with an inner product, and nothing of structures."""

from ._base import Progress, Reason, Result, Solver, Stop
from .block_jacobi import BlockJacobi
from .lbfgs import LBFGS
from .newton_cg import NewtonCG
from .owlqn import OWLQN
from .subspace import Subspace

__all__ = [
    "LBFGS",
    "OWLQN",
    "BlockJacobi",
    "NewtonCG",
    "Progress",
    "Reason",
    "Result",
    "Solver",
    "Stop",
    "Subspace",
]
