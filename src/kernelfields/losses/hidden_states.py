"""The log loss of labels that own hidden states, and how to learn the states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import Check, Checked, shown, whole
from ..errors import InputError
from ..structures import Scores, StructureBatch
from ._base import Loss, LossValue
from ._search_base import End, Minimiser
from ._settings_base import LossSettings
from .expected_log import ExpectedLog
from .partial_log import PartialLog

LEAST = 1e-8
"""Share of the objective by which a step of EM must lower it; after a smaller one there is no other."""


def _owners(name: str, value: Any) -> None:
    """Check that every state has a label."""
    numbers = isinstance(value, list | tuple) and all(type(one) is int and one >= 0 for one in value)
    if not numbers or not value:
        raise InputError(f"{name} is {shown(value)}; it must be a list of the number of every state's label.")


@dataclass(frozen=True)
class OwnedStates(Checked, LossSettings):
    """Labels that own hidden states: a setting ``loss`` of estimators whose classes are the states.

    What is minimised is −log Σ_h p(h|x), h running over the state sequences whose labels are those that were
    observed [quattoni2007, eq. 3]. The states in y are where the search begins: it fits the model to them
    for a few steps, and lets go of all but their labels. `HiddenStates` sets this up.

    Parameters
    ----------
    owners : list of int
        The label of every state, as a number.
    rounds : int
        Steps of EM, which minimise the convex function that touches the loss from above. What follows is the
        gradient of the loss itself; with 0 all is left to it.
    first : int
        Iterations with the states in y.
    inner : int
        Iterations of an M-step.
    """

    owners: tuple[int, ...]
    rounds: int = 0
    first: int = 20
    inner: int = 10
    _checks: ClassVar[Mapping[str, Check]] = {
        "owners": _owners,
        "rounds": whole(0),
        "first": whole(0),
        "inner": whole(1),
    }

    def bind(
        self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None
    ) -> HiddenStateLog:
        """Return the loss of a training set, whose outputs are the states to begin with."""
        return HiddenStateLog(batch, outputs, self, weights)


class HiddenStateLog(Loss):
    """−log Σ_h p(h|x) over the state sequences of the observed labels, with states to begin with.

    Parameters
    ----------
    structure : StructureBatch
        The batch, over states.
    states : (N,) integers
        States to begin with, whose labels are what was observed; −1 where no label was.
    settings : OwnedStates
        Which label owns which states, and how to learn.
    weights : (S,) array, optional
        How many times each instance counts.
    """

    convex = False
    shareable = False

    def __init__(
        self, structure: StructureBatch, states: Array, settings: OwnedStates, weights: Array | None = None
    ) -> None:
        owners = np.asarray(settings.owners)
        n_states = structure.cliques[structure.answer].values[0]
        if len(owners) != n_states:
            raise InputError(f"owners has {len(owners)} states, but the model {n_states}.")
        unseen = states[:, None] < 0
        own = owners[np.maximum(states, 0)][:, None] == owners
        self.states, self.settings, self.weights = states, settings, weights
        self.observed = PartialLog(structure, unseen | own, weights)
        """The loss itself."""
        self.begin = PartialLog(structure, unseen | (states[:, None] == np.arange(n_states)), weights)
        """That of the states to begin with."""
        self.structure, self.exact = structure, self.observed.exact

    def search(self, minimiser: Minimiser[End], start: Array) -> End:
        """Fit to the states to begin with, then, from there, to their labels only: by EM first, or directly.

        At zero all states of a label are alike, and stay so along the gradient: a search from there would
        never tell them apart. EM is slow near the end, so that the last iterations are those of the gradient.
        """
        element, done = minimiser.advance(self.begin, start, self.settings.first)
        path: tuple[float, ...] = ()
        if self.settings.rounds:
            element, more, path = self._alternate(minimiser, element)
            done += more
        found = minimiser.minimise(self, element)
        return found.add_rounds(done, (*path, found.value) if path else ())

    def _alternate(self, minimiser: Minimiser[End], element: Array) -> tuple[Array, int, tuple[float, ...]]:
        """Step by step minimise the function that touches the objective from above."""
        path, done, point = [], 0, minimiser.at(element)
        enough = minimiser.tolerance * max(1.0, minimiser.slope(point))
        for _ in range(self.settings.rounds):
            if done >= minimiser.iterations or minimiser.slope(point) <= enough:
                break
            path.append(float(point.value))
            touching = ExpectedLog(self.observed, minimiser.scores(point.element))
            element, more = minimiser.advance(touching, point.element, self.settings.inner)
            done, point = done + more, minimiser.at(minimiser.refresh(element))
            if not path[-1] - point.value > LEAST * abs(path[-1]):
                break
        return point.element, done, (*path, float(point.value))

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient."""
        return self.observed.at(scores)

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Cov(θ)·d − Cov(θ restricted)·d."""
        return self.observed.curvature(scores, direction)

    def take(self, ids: npt.ArrayLike) -> HiddenStateLog:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        weights = None if self.weights is None else self.weights[ids]
        states = self.structure.cut_outputs(self.states, ids)
        return HiddenStateLog(self.structure.take(ids), states, self.settings, weights)
