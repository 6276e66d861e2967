"""How fields are learnt: the likelihood, the pseudo-likelihood, or expectations by chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import Table, choose
from ..data.training import Training
from ..fitting.run import Found, Observer, watched_search
from ..models.linear_problem import exact_problem, linear_problem, solver_of
from ..objective import Problem
from ..solvers import LBFGS, OWLQN, ConjugateGradients, Solver, Stop
from .persistent_chains import PersistentChains

METHODS: Table[Any] = Table(
    PersistentChains, entries={"exact": "log", "pseudo": "pseudo", "pcd": PersistentChains()}
)
"""The loss that is minimised, or how to do without one."""


def loss_of_method(method: Any) -> str:
    """Return the name of the loss that is minimised, at first if chains go on from there."""
    found = choose(METHODS, method, "method")
    return "pseudo" if isinstance(found, PersistentChains) else str(found)


@dataclass(frozen=True)
class FieldTerms:
    """Settings by the names that all linear models have for them, and what they are for a field."""

    penalty: float
    edge_penalty: float | None
    fit_intercept: bool
    boundaries: bool
    edge_features: bool
    tol: float
    max_iter: int
    solver: str | Solver
    verbose: int
    second_order_penalty: float | None = None
    l1: float = 0.0
    norms: None = None
    base_measure: None = None

    def problem(self, training: Training, *, exact: bool = False) -> Problem:
        """Return the objective; with ``exact`` by whole arrays of scores."""
        fast = isinstance(solver_of(self), LBFGS | OWLQN | ConjugateGradients) and not exact
        return linear_problem(self, training, None, fast=fast)

    def minimise(self, training: Training, observer: Observer | None) -> tuple[Problem, Found]:
        """Minimise the loss of the training set."""
        problem = self.problem(training)
        stop = Stop(gap=self.tol, gradient=1e-2 * self.tol, iterations=self.max_iter)
        found = watched_search(
            problem,
            problem.zero(),
            solver_of(self),
            stop,
            observer,
            lambda: exact_problem(self, problem, training, None),
            None,
            self.verbose,
        )
        return problem, found

    def follow_chains(
        self,
        training: Training,
        chains: PersistentChains,
        start: Array,
        random: np.random.RandomState,
        *,
        alike: bool,
    ) -> tuple[Problem, Array]:
        """Go on from weights by the expectations of chains; ``alike`` says that items are of one graph."""
        problem = self.problem(training, exact=True)
        return problem, chains.learn(problem, training, start.astype(np.float64), random, alike=alike)
