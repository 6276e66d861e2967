"""Which solver a structured SVM gets, and the dual that it climbs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.seeds import random_state
from ..data.training import Training
from ..distributed import SHARING
from ..errors import InputError
from ..losses import Hinge
from ..objective import BlockDual, DetourDual, Problem
from ..solvers import CuttingPlane, DualAscent, LinearProgramming, MarginSolver
from ..tables import MARGIN_SOLVERS, choose
from .linear_problem import SINGLE

WIDE = 1.0
"""Weights for each position from which on "auto" is dual ascent.

Fewer weights that many constraints compete for are what cutting planes are good at: 40 weights and 1,800
positions took 0.9 s by these and a minute by ascent, 3,300 and 4,600 (letters) half as long as by ascent,
and 10^5 and more took minutes by planes and seconds by ascent.
"""

AnySolver = MarginSolver | CuttingPlane | DualAscent | LinearProgramming


def margin_solver(model: Any, problem: Problem) -> AnySolver:
    """Return the solver of a problem: "auto" is `DualAscent` where that suits and pays, else `CuttingPlane`.

    Cutting planes are what can be shared out among workers, and are taken where a fit is.
    """
    solver = choose(MARGIN_SOLVERS, model.solver, "solver")
    suits = DetourDual.suits(problem, model.memory_limit)
    wide = problem.size >= WIDE * problem.structure.cliques[problem.structure.answer].count
    automatic = isinstance(model.solver, str) and model.solver == "auto"
    if automatic and suits and wide and SHARING.get() is None:
        solver = DualAscent()
    if isinstance(solver, DualAscent) and not suits:
        raise InputError(
            "solver='dual-ascent' is for chains and trees with margin rescaling and a cost of single labels, "
            "with features or one kernel whose Gram matrix fits into memory twice; 'auto' takes another else."
        )
    # what nobody asked to be random stays the same from fit to fit
    settled = isinstance(solver, DualAscent) and model.random_state is None
    if isinstance(model.solver, str) and hasattr(solver, "seed") and not settled:
        solver = replace(solver, seed=int(random_state(model.random_state).randint(2**31 - 1)))
    return solver


def margin_dual(
    model: Any, solver: AnySolver, problem: Problem, training: Training
) -> BlockDual | DetourDual | None:
    """Return the dual of a problem as its solver sees it; None where there is none in blocks."""
    if isinstance(solver, DualAscent):
        double = model.dtype if model.kernel is not None else training.inputs.features.dtype
        single = model.tol >= SINGLE and np.dtype(double) != np.float64
        return DetourDual(problem, np.float32 if single else np.float64)
    return BlockDual(problem) if isinstance(problem.loss, Hinge) and problem.smooth else None
