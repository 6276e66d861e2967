"""Which solver a kernel model gets."""

from __future__ import annotations

import numpy as np

from ..distributed import SHARING
from ..errors import InputError
from ..objective import EntropyDual, Problem
from ..solvers import ExponentiatedGradient, Solver
from .kernel_recipe import KernelRecipe


LONG = 50
"""Mean length of the sequence that a position is in from which on L-BFGS is as quick.

Proteins cut into pieces (4,295 residues, penalties 0.1, 1, 10) took 74, 13 and 5 passes at length 8, 215, 47 and 10 at
32, 730, 74 and 15 at 64; L-BFGS took about 330, 100 and 30 iterations at all of them.
"""


def kernel_solver(solver: Solver, recipe: KernelRecipe, problem: Problem) -> Solver:
    """Return the solver of a problem: "auto" is `ExponentiatedGradient` where that suits, else what it was.

    A posterior is one around the optimum, which has to be a point with a small gradient, not one with
    distributions that prove it to be good. A fit that is shared out has its Gram matrix in pieces.
    """
    suits = EntropyDual.suits(problem, recipe.memory_limit) and SHARING.get() is None
    if isinstance(recipe.solver, str) and recipe.solver == "auto":
        pays = suits and recipe.posterior is None and _mean_length(problem) <= LONG
        return ExponentiatedGradient() if pays else solver
    if isinstance(solver, ExponentiatedGradient) and not suits:
        raise InputError(
            "solver='exponentiated-gradient' is for chains with the log loss and one kernel, whose Gram matrix fits "
            "into memory twice, and squared penalties; 'auto' takes another else."
        )
    return solver


def _mean_length(problem: Problem) -> float:
    """Σ T² / Σ T over sequences."""
    structure = problem.structure
    lengths = np.diff(structure.cliques[structure.answer].offsets).astype(float)
    return float(lengths @ lengths / max(lengths.sum(), 1.0))
