"""The objective that solvers see: a loss plus a penalty for every space.

    R(f) = Σ_i loss(θ(f); y^i) + Σ_τ (λ_τ / 2) ‖f_τ‖² + Σ_τ κ_τ ‖w_τ‖₁,    θ(f) = offset + Σ_τ scores(f_τ)

Points are flat arrays, the elements of the spaces one behind the other. All geometry is that of the
λ-weighted inner product ⟨u, v⟩ = Σ_τ λ_τ ⟨u_τ, v_τ⟩_τ (weight 1 where λ_τ = 0): the gradient is an
element, not an array of partial derivatives, and the certified gap is half its squared norm. Gradients
leave out the ℓ1 part, which has none; solvers that can deal with it ask for ``thresholds``.
"""

from .block_dual import BlockDual, Plane, Reached
from .certificate import Certificate, Dual, certify
from .counts import Counts
from .linear_chain import LinearChainProblem, Offsets
from .point import Line, Point
from .problem import Problem
from .rounding import Rounding
from .terms import Term, represented, slices_of, sum_scores

__all__ = [
    "BlockDual",
    "Certificate",
    "Counts",
    "Dual",
    "Line",
    "LinearChainProblem",
    "Offsets",
    "Plane",
    "Point",
    "Problem",
    "Reached",
    "Rounding",
    "Term",
    "certify",
    "represented",
    "slices_of",
    "sum_scores",
]
