"""The objective that solvers see: a loss plus a penalty for every space.

    R(f) = Σ_i loss(θ(f); y^i) + Σ_τ (λ_τ / 2) ‖f_τ‖² + Σ_τ κ_τ ‖w_τ‖₁,    θ(f) = offset + Σ_τ scores(f_τ)

Points are flat arrays, the elements of the spaces one behind the other. All geometry is that of the
λ-weighted inner product ⟨u, v⟩ = Σ_τ λ_τ ⟨u_τ, v_τ⟩_τ (weight 1 where λ_τ = 0): the gradient is an
element, not an array of partial derivatives, and the certified gap is half its squared norm. Gradients
leave out the ℓ1 part, which has none; solvers that can deal with it ask for ``thresholds``.
"""

from ._base import DataTerm, LossPoint, SecondDerivatives
from .array_data import ArrayData
from .block_dual import BlockDual, MarginPoint, Plane
from .certificate import Certificate, Dual, Rounding, certify
from .counts import Counts
from .geometry import Geometry, Term, slices_of
from .linear_chain import LinearChainData, Offsets, linear_chain_problem
from .norms import GroupNorm, L1Norm, Norm, SpaceNorm
from .point import Line, Point
from .problem import Problem

__all__ = [
    "ArrayData",
    "BlockDual",
    "Certificate",
    "Counts",
    "DataTerm",
    "Dual",
    "Geometry",
    "GroupNorm",
    "L1Norm",
    "Line",
    "LinearChainData",
    "LossPoint",
    "MarginPoint",
    "Norm",
    "Offsets",
    "Plane",
    "Point",
    "Problem",
    "Rounding",
    "SecondDerivatives",
    "SpaceNorm",
    "Term",
    "certify",
    "linear_chain_problem",
    "slices_of",
]
