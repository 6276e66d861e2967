"""Solvers: they see a problem with an inner product, and nothing of structures."""

from ._base import Observer, Progress, Reason, Result, Solver, Stop
from ._margin_base import MarginSolver
from .block_jacobi import BlockJacobi
from .conjugate import ConjugateGradients
from .cutting_plane import CuttingPlane
from .dual_ascent import DualAscent
from .exponentiated_gradient import ExponentiatedGradient
from .frank_wolfe import BlockFrankWolfe
from .iterative_scaling import IterativeScaling
from .lbfgs import LBFGS
from .linear_programming import LinearProgramming
from .meta_descent import MetaDescent
from .newton_cg import NewtonCG
from .owlqn import OWLQN
from .proximal import ProximalQuasiNewton
from .simplex_qp import simplex_qp
from .subgradient import Subgradient
from .subspace import Subspace
from .working_set import WorkingSet

__all__ = [
    "LBFGS",
    "OWLQN",
    "BlockFrankWolfe",
    "BlockJacobi",
    "ConjugateGradients",
    "CuttingPlane",
    "DualAscent",
    "ExponentiatedGradient",
    "IterativeScaling",
    "LinearProgramming",
    "MarginSolver",
    "MetaDescent",
    "NewtonCG",
    "Observer",
    "Progress",
    "ProximalQuasiNewton",
    "Reason",
    "Result",
    "Solver",
    "Stop",
    "Subgradient",
    "Subspace",
    "WorkingSet",
    "simplex_qp",
]
