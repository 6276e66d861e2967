"""How fields are learnt: the likelihood, the pseudo-likelihood, or expectations by chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import Table, choose
from ..data.training import Training
from ..fitting.run import Found, Observer, watched_search
from ..models.fit.linear import LinearFit
from ..models.parts import Parts
from ..solvers import Solver
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

    def minimise(self, training: Training, observer: Observer | None) -> tuple[LinearFit, Found]:
        """Minimise the loss of the training set."""
        fit = LinearFit(self, training)
        start = fit.problem.zero()
        return fit, watched_search(
            fit.problem, start, fit.solver, fit.stop, observer, fit.exact, None, self.verbose
        )

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
        fit = LinearFit(self, training, whole=True)
        return fit, chains.learn(fit.problem, training, start.astype(np.float64), random, alike=alike)
