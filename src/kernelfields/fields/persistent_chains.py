"""Maximum likelihood where sums are out of reach: expectations by chains that follow the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, require_positive, whole
from ..data.labels import UNOBSERVED
from ..data.training import Training
from ..objective import Problem
from ..structures import LabelledBatch
from .particles import Particles


@dataclass(frozen=True)
class PersistentChains(Checked):
    """Stochastic maximum likelihood, persistent contrastive divergence [tieleman2008].

    Every item of the training set has a labelling of the model's own that is drawn again, sweep by sweep,
    while weights change; expected counts are those of these labellings, in place of sums over all. Where
    labels are missing, those of a second set are drawn given the ones observed. A step goes against the
    gradient of the penalised likelihood, each coordinate divided by about its curvature, shorter with time;
    weights are the mean over the second half of all steps. It begins where the pseudo-likelihood is largest.

    Draws are no bound: there is no certificate, and two seeds differ. Fields of strong couplings, where
    single labels hardly move, need many sweeps.

    Parameters
    ----------
    steps : int
        How many.
    sweeps : int
        Through all vertices, between steps.
    rate : float
        Length of the first step; later ones are rate/√(1 + t/10).
    chains : int
        At most how many labellings of the model's own there are, where all items are of one graph and have no
        features; else there is one for every item.
    """

    steps: int = 500
    sweeps: int = 1
    rate: float = 0.3
    chains: int = 500
    _checks: ClassVar[Mapping[str, Check]] = {
        "steps": whole(),
        "sweeps": whole(),
        "rate": require_positive,
        "chains": whole(),
    }

    def learn(
        self,
        problem: Problem,
        training: Training,
        start: Array,
        random: np.random.RandomState,
        *,
        alike: bool,
    ) -> Array:
        """Return the weights that chains lead to, an element of the problem.

        ``alike`` says that all items are of one graph, and a labelling of one stands for any.
        """
        model = _Expectations(problem, training, self.chains if alike else training.batch.n_instances)
        missing = training.encoded.labels == UNOBSERVED
        given = (
            _Expectations(problem, training, training.batch.n_instances, missing) if missing.any() else None
        )
        for expected in (model, given):
            if expected is not None:
                expected.begin(start, random)
        observed = model.observed if given is None else given.draw(start, self.sweeps, random)
        scale = problem.damped(np.ones(problem.size)) + np.abs(observed)
        element, total, count = start.copy(), np.zeros(problem.size), 0
        for t in range(self.steps):
            if given is not None:
                observed = given.draw(element, self.sweeps, random)
            gradient = problem.damped(element) + model.draw(element, self.sweeps, random) - observed
            element = element - self.rate / np.sqrt(1 + t / 10) * gradient / scale
            if 2 * t >= self.steps - 1:
                total, count = total + element, count + 1
        return total / count


class _Expectations:
    """Expected features of a training set, by labellings of some of its items that are drawn again.

    Parameters
    ----------
    problem : Problem
        What makes elements of counts.
    training : Training
        Its items.
    count : int
        How many of them have a labelling; those that have stand for all.
    free : (N,) booleans, optional
        Which labels are drawn; all if not given.
    """

    def __init__(self, problem: Problem, training: Training, count: int, free: Array | None = None) -> None:
        batch, labels = training.batch, training.encoded.labels
        n = batch.n_instances
        every = np.ones(n) if training.weights is None else training.weights
        ids = np.unique(np.linspace(0, n - 1, min(count, n)).astype(np.int64))
        self.part = problem if len(ids) == n else problem.take(ids)
        self.weights = every if len(ids) == n else np.full(len(ids), every.sum() / len(ids))
        chosen = batch if len(ids) == n else batch.take(ids)
        assert isinstance(chosen, LabelledBatch)
        self.particles = Particles(chosen, batch.cut_outputs(labels, ids), free)
        self.observed = np.zeros(problem.size)
        if (labels >= 0).all():
            self.observed = problem.representer(batch.parts(labels, training.weights))

    def begin(self, element: Array, random: np.random.RandomState) -> None:
        """Draw labels that are missing."""
        self.particles.begin(self.part.arrays.scores(element), random)

    def draw(self, element: Array, sweeps: int, random: np.random.RandomState) -> Array:
        """Draw labels again, by the scores of an element, and return their features."""
        theta = self.part.arrays.scores(element)
        for _ in range(sweeps):
            self.particles.sweep(theta, random)
        return self.part.representer(self.particles.batch.parts(self.particles.labels, self.weights))
