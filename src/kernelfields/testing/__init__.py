"""Oracles for tests: brute force, long-double references, numerical derivatives, conformance checks.

Public, so that structures, spaces and losses written elsewhere can be put to the same tests.
``kernelfields.testing.strategies`` needs hypothesis and is therefore imported by name.
"""

from .brute import Enumerated
from .conformance import check_structure
from .gradients import check_derivative, check_gradient, check_hessian
from .identities import STRUCTURE_IDENTITIES
from .reference import ChainReference, chain_reference

__all__ = [
    "STRUCTURE_IDENTITIES",
    "ChainReference",
    "Enumerated",
    "chain_reference",
    "check_derivative",
    "check_gradient",
    "check_hessian",
    "check_structure",
]
