"""The objective that solvers see: a loss on data plus penalties of the spaces.

    R(f) = Σ_i loss(θ(f); y^i) + Σ_τ (λ_τ / 2) ‖f_τ‖² + Σ_τ κ_τ N_τ(f_τ),    θ(f) = offset + Σ_τ scores(f_τ)

Points are flat arrays, the elements of the spaces joined in the order of the terms. All geometry is that of
the λ-weighted inner product ⟨u, v⟩ = Σ_τ λ_τ ⟨u_τ, v_τ⟩_τ (weight 1 where λ_τ = 0): the gradient is an
element, not an array of partial derivatives, and the certified gap is half its squared norm. Gradients
leave out the norms N, which have none at their kinks; ``Problem.steepest`` takes them in.

A `Problem` is a `Geometry`, which knows spaces and penalties, and a `DataTerm`, which knows spaces and the
loss: `ArrayData` for every structure, loss and space, `LinearChainData` for a linear chain over sparse
features. Either can be exchanged: ``Problem(geometry, problem.data)`` is the same loss with other penalties.

What estimators do:

- Make terms, one for each part of the model: ``Term(name, space, penalty, norm)``. The penalty is λ, the
  norm None, ``L1Norm(κ)``, ``GroupNorm(κ)`` (groups of the space, all weights of a feature, or given) or
  ``SpaceNorm(ε)``; each part has its own. λ = 0 with a norm is certified, λ = 0 without is not.
- Take ``linear_chain_problem(loss, terms, offsets, dtype)`` where ``LinearChainData.suits(loss, terms)`` and
  the solver needs no second derivatives, else ``Problem.of(loss, terms, offset, dtype, element_dtype)``.
- Choose the solver: any smooth one if ``problem.smooth``; `OWLQN` if ``problem.thresholds`` is not None;
  else `ProximalQuasiNewton`, which takes all three. Others refuse in one sentence.
"""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import DataTerm, LossPoint, SecondDerivatives
    from .array_data import ArrayData
    from .block_dual import BlockDual, MarginPoint, Plane
    from .certificate import Certificate, Dual, Rounding, WeightCut, certify, weight_cut
    from .counts import Counts
    from .detour_dual import DetourDual, Detours
    from .entropy_dual import EntropyDual, ExpectedParts
    from .geometry import Geometry, Term, slices_of
    from .linear_chain import LinearChainData, Offsets, linear_chain_problem
    from .norms import GroupNorm, L1Norm, Norm, SpaceNorm
    from .problem import Line, Point, Problem
    from .row_data import RowData
    from .sharded import BRANCHES, Partial, Shard, ShardedData, ShardPool, TreeSum, sum_of
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "DataTerm LossPoint SecondDerivatives",
            "array_data": "ArrayData",
            "block_dual": "BlockDual MarginPoint Plane",
            "certificate": "Certificate Dual Rounding WeightCut certify weight_cut",
            "counts": "Counts",
            "detour_dual": "DetourDual Detours",
            "entropy_dual": "EntropyDual ExpectedParts",
            "geometry": "Geometry Term slices_of",
            "linear_chain": "LinearChainData Offsets linear_chain_problem",
            "norms": "GroupNorm L1Norm Norm SpaceNorm",
            "problem": "Line Point Problem",
            "row_data": "RowData",
            "sharded": "BRANCHES Partial Shard ShardedData ShardPool TreeSum sum_of",
        },
    )

__all__ = [
    "BRANCHES",
    "ArrayData",
    "BlockDual",
    "Certificate",
    "Counts",
    "DataTerm",
    "DetourDual",
    "Detours",
    "Dual",
    "EntropyDual",
    "ExpectedParts",
    "Geometry",
    "GroupNorm",
    "L1Norm",
    "Line",
    "LinearChainData",
    "LossPoint",
    "MarginPoint",
    "Norm",
    "Offsets",
    "Partial",
    "Plane",
    "Point",
    "Problem",
    "Rounding",
    "RowData",
    "SecondDerivatives",
    "Shard",
    "ShardPool",
    "ShardedData",
    "SpaceNorm",
    "Term",
    "TreeSum",
    "WeightCut",
    "certify",
    "linear_chain_problem",
    "slices_of",
    "sum_of",
    "weight_cut",
]
