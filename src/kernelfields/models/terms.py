"""Norms of the parts of a model, solvers that minimise with them, and spaces of the features of answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from .. import solvers
from ..distributed import SHARING
from ..errors import InputError
from ..objective import L1Norm, Norm, Problem
from ..spaces import LinearFeatures, SparseFeatures, WeightPairs
from ..structures import LabelledBatch, StructureBatch

LONG = 50
"""Mean length of the sequence that a position is in from which on L-BFGS is as quick.

Proteins cut into pieces (4,295 residues, penalties 0.1, 1, 10) took 74, 13 and 5 passes at length 8, 215, 47
and 10 at 32, 730, 74 and 15 at 64; L-BFGS took about 330, 100 and 30 iterations at all of them.
"""
FEW = 256
"""Positions that exponentiated gradient goes over at a time: with fewer, all moves at once anyway."""


def solver_for(solver: solvers.Solver, norms: Mapping[str, Norm], given: Any) -> solvers.Solver:
    """Return the solver that minimises with these norms; one that cannot is refused."""
    single = all(isinstance(norm, L1Norm) for norm in norms.values())
    if not norms:
        if isinstance(solver, solvers.OWLQN | solvers.ProximalQuasiNewton):
            raise InputError(f"solver is {given!r}, which is for l1 or norms of parts; the model has none.")
        return solver
    if isinstance(solver, solvers.ProximalQuasiNewton) or (single and isinstance(solver, solvers.OWLQN)):
        return solver
    if isinstance(solver, solvers.LBFGS):
        kind = solvers.OWLQN if single else solvers.ProximalQuasiNewton
        return kind() if solver.memory is None else kind(solver.memory)
    allowed = (
        "'lbfgs', OWLQN(...) or ProximalQuasiNewton(...)" if single else "'lbfgs' or ProximalQuasiNewton(...)"
    )
    raise InputError(f"solver is {given!r}; with l1 or norms of parts it must be {allowed}.")


def kernel_solver(solver: solvers.Solver, model: Any, problem: Problem) -> solvers.Solver:
    """Return the solver of a kernel model: "auto" is `ExponentiatedGradient` where that suits and pays.

    A posterior is one around the optimum, which has to be a point with a small gradient, not one with
    distributions that prove it to be good. A fit that is shared out has its Gram matrix in pieces.
    """
    from ..objective import EntropyDual

    automatic = isinstance(model.solver, str) and model.solver == "auto"
    if not automatic and not isinstance(solver, solvers.ExponentiatedGradient):
        return solver
    if automatic and (model.posterior is not None or not _pays(problem)):
        return solver
    suits = EntropyDual.suits(problem, model.run.memory_limit) and SHARING.get() is None
    if not automatic and not suits:
        raise InputError(
            "solver='exponentiated-gradient' is for chains with the log loss and one kernel, whose Gram "
            "matrix fits into memory twice, and squared penalties; 'auto' takes another else."
        )
    return solvers.ExponentiatedGradient() if automatic and suits else solver


def _pays(problem: Problem) -> bool:
    """Whether there are several panels of sequences, and these are short: Σ T² / Σ T ≤ LONG."""
    structure = problem.structure
    lengths = np.diff(structure.cliques[structure.answer].offsets)
    return int(lengths.sum()) > FEW and int(lengths @ lengths) <= LONG * int(lengths.sum())


def answer_features(
    batch: StructureBatch, features: Any, observed: WeightPairs | None = None, fast: bool = False
) -> LinearFeatures | SparseFeatures:
    """Return linear functions of the features of answers; ``fast`` prepares sparse ones for many products."""
    if sparse.issparse(features) and (fast or observed is not None) and isinstance(batch, LabelledBatch):
        return SparseFeatures(batch, batch.answer, features, observed)
    # batches of labellings know the row of every vertex by themselves
    rows = None if isinstance(batch, LabelledBatch) else np.arange(batch.cliques[batch.answer].count)
    return LinearFeatures(batch, batch.answer, features, rows)
