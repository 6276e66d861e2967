"""Oracles for tests: brute force, long-double references, numerical derivatives, conformance checks.

Public, so that structures, spaces and losses written elsewhere can be put to the same tests.
``kernelfields.testing.strategies`` needs hypothesis and is therefore imported by name.
"""

from .brute import Enumerable, Enumerated
from .conformance import check_structure
from .estimators import check_estimator, labelled_sequences
from .euclidean import minimize_euclidean
from .gradients import check_derivative, check_gradient, check_hessian
from .identities import STRUCTURE_IDENTITIES
from .losses import check_loss
from .reference import ChainReference, chain_reference
from .solvers import Quadratic, check_solver
from .spaces import check_space

__all__ = [
    "STRUCTURE_IDENTITIES",
    "ChainReference",
    "Enumerable",
    "Enumerated",
    "Quadratic",
    "chain_reference",
    "check_derivative",
    "check_estimator",
    "check_gradient",
    "check_hessian",
    "check_loss",
    "check_solver",
    "check_space",
    "check_structure",
    "labelled_sequences",
    "minimize_euclidean",
]
