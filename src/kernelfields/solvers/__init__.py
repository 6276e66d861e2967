"""Solvers: they see a problem with an inner product, and nothing of structures."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .simplex_qp import simplex_qp

if TYPE_CHECKING:
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
    from .subgradient import Subgradient
    from .subspace import Subspace
    from .working_set import WorkingSet
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "Observer Progress Reason Result Solver Stop",
            "_margin_base": "MarginSolver",
            "block_jacobi": "BlockJacobi",
            "conjugate": "ConjugateGradients",
            "cutting_plane": "CuttingPlane",
            "dual_ascent": "DualAscent",
            "exponentiated_gradient": "ExponentiatedGradient",
            "frank_wolfe": "BlockFrankWolfe",
            "iterative_scaling": "IterativeScaling",
            "lbfgs": "LBFGS",
            "linear_programming": "LinearProgramming",
            "meta_descent": "MetaDescent",
            "newton_cg": "NewtonCG",
            "owlqn": "OWLQN",
            "proximal": "ProximalQuasiNewton",
            "subgradient": "Subgradient",
            "subspace": "Subspace",
            "working_set": "WorkingSet",
        },
    )

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
