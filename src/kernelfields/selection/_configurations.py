"""The base of selections among labelled cliques, some sequences at a time."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ._growing_base import NAME, Proposal, SequenceSelection, fresh
from .atoms import Atoms
from .criteria import Criterion, GapShare
from .orders import steepest
from .task import View


@dataclass(frozen=True)
class ConfigurationSelection(SequenceSelection):
    """A selection among the labelled cliques of some training sequences, those of new positions first.

    Parameters
    ----------
    by : Criterion
        How candidates are judged: `GapShare`, `FunctionalGradient`, `GainBound` or `ExactGain`.
    """

    by: Criterion = field(default_factory=GapShare)

    def propose(self, view: View, visit: int, random: np.random.RandomState) -> list[Proposal]:
        """Return the best candidates of some sequences."""
        ids = self.picked(view, visit, random, self._merits)
        keys = self.keys(view, ids)[0]
        keys = keys[fresh(view, NAME, keys)]
        if not len(keys):
            return []
        L = view.task.structure.n_answers
        merits = self.by.judge(view, NAME, self.functions(keys, L), self.threshold)
        chosen = keys[self._best(view, keys, merits)]
        return [Proposal(NAME, chosen, self.functions(chosen, L))]

    def _best(self, view: View, keys: Array, merits: Array) -> Array:
        """Return the best candidates, first those of groups that have none yet.

        The second of a group is nearly always a combination of others, once there are some label pairs:
        judged first, such candidates would take most of the places, and give nothing.
        """
        L, count = view.task.structure.n_answers, self.steps(view) * self.step
        groups = self.groups(keys, L)
        seconds = np.isin(groups, self.groups(view.state.spent[NAME], L))
        first = steepest(np.where(seconds, 0.0, merits), count, groups)
        if len(first) == count:
            return first
        return np.concatenate([first, steepest(np.where(seconds, merits, 0.0), count - len(first), groups)])

    @abstractmethod
    def keys(self, view: View, ids: Array) -> tuple[Array, Array]:
        """Return a number for every candidate of some sequences, and the sequence of each."""

    @abstractmethod
    def functions(self, keys: Array, n_labels: int) -> Atoms:
        """Return the functions that keys stand for."""

    @abstractmethod
    def groups(self, keys: Array, n_labels: int) -> Array:
        """Return group numbers; of candidates in one group, one at a time is enough."""

    def _merits(self, view: View, ids: Array) -> tuple[Array, Array]:
        """Return how good the candidates not yet dealt with are, and the sequence of each."""
        keys, places = self.keys(view, ids)
        left = ~np.isin(keys, view.state.spent[NAME])
        functions = self.functions(keys[left], view.task.structure.n_answers)
        return self.by.judge(view, NAME, functions, self.threshold), places[left]
