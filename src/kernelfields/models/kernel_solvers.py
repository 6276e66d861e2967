"""Which solver a kernel model gets."""

from __future__ import annotations

from ..distributed import SHARING
from ..errors import InputError
from ..objective import EntropyDual, Problem
from ..solvers import ExponentiatedGradient, Solver
from .kernel_recipe import KernelRecipe


def kernel_solver(solver: Solver, recipe: KernelRecipe, problem: Problem) -> Solver:
    """Return the solver of a problem: "auto" is `ExponentiatedGradient` where that suits, else what it was.

    A posterior is one around the optimum, which has to be a point with a small gradient, not one with
    distributions that prove it to be good. A fit that is shared out has its Gram matrix in pieces.
    """
    suits = EntropyDual.suits(problem, recipe.memory_limit) and SHARING.get() is None
    if isinstance(recipe.solver, str) and recipe.solver == "auto":
        return ExponentiatedGradient() if suits and recipe.posterior is None else solver
    if isinstance(solver, ExponentiatedGradient) and not suits:
        raise InputError(
            "solver='exponentiated-gradient' is for chains with the log loss and one kernel, whose Gram matrix fits "
            "into memory twice, and squared penalties; 'auto' takes another else."
        )
    return solver
