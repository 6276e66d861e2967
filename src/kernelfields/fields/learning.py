"""How fields are learnt: the likelihood, the pseudo-likelihood, or expectations by chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import Table, choose
from ..data.training import Training
from ..fitting.run import Found, Observer, watched_search
from ..models.linear_problem import LinearFit, solver_of
from ..models.parts import Parts
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
    parts: Parts
    tol: float
    max_iter: int
    solver: str | Solver
    verbose: int
    l1: float = 0.0
    random_state: None = None  # no part of a field has a basis to draw

    def fit(self, training: Training, *, exact: bool = False) -> LinearFit:
        """Return the objective on a training set; with ``exact`` by whole arrays of scores."""
        fast = isinstance(solver_of(self), LBFGS | OWLQN | ConjugateGradients) and not exact
        return LinearFit(self, training, fast=fast)

    def minimise(self, training: Training, observer: Observer | None) -> tuple[LinearFit, Found]:
        """Minimise the loss of the training set."""
        fit = self.fit(training)
        stop = Stop(gap=self.tol, gradient=1e-2 * self.tol, iterations=self.max_iter)
        start, solver = fit.problem.zero(), solver_of(self)
        return fit, watched_search(fit.problem, start, solver, stop, observer, fit.exact, None, self.verbose)

    def follow_chains(
        self,
        training: Training,
        chains: PersistentChains,
        start: Array,
        random: np.random.RandomState,
        *,
        alike: bool,
    ) -> tuple[LinearFit, Array]:
        """Go on from weights by the expectations of chains; ``alike`` says that items are of one graph."""
        fit = self.fit(training, exact=True)
        return fit, chains.learn(fit.problem, training, start.astype(np.float64), random, alike=alike)
