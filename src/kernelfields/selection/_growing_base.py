"""The base of selections: settings, limits and proposals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Array, rows_of
from ..checks import Check, Checked, optional, require_not_negative, require_positive, require_share, whole
from .atoms import Atoms
from .orders import AtRandom, Order
from .refit import Refit, RefitAll
from .task import GrowthTask, View

NAME = "kernel"
"""The pool of functions of vertices, the only one that some selections know."""


class Proposal(NamedTuple):
    """Functions of a pool to be added."""

    name: str
    keys: Array
    """A number for each function, unique in the pool."""
    functions: Atoms


@dataclass(frozen=True)
class Selection(Checked, ABC):
    """A space that starts empty and grows by columns until one of several limits is reached.

    Parameters
    ----------
    size : int or float
        p, the number of functions; below 1, as a share of the number of positions, or of arcs of parses.
    step : int
        d, the number of functions added at once.
    threshold : float
        η: candidates with |⟨∇R, h⟩| ≤ η are ignored; the search ends when no others are left.
    gap : float, optional
        Stop when R is certified to be within this relative gap of its minimum over the whole space of the
        kernel. The test takes N² kernel values, and is made whenever the basis has grown by a quarter.
    refit : Refit
        Which coefficients are fitted after every step: `RefitAll` or `RefitNew`. At the end, all are fitted.
    growth : float
        Add this share of the functions so far instead, where it is more than d, from as many more candidates:
        the number of refits grows with log p. Where labels are few, a quarter costs little; where they are
        many, functions chosen together resemble each other. With 0, all steps are alike, as in the papers.
    change : float
        Stop when a step has lowered R by less than this share of it [zhu2001]; 0 for no such rule.
    """

    size: float = 500
    step: int = 10
    threshold: float = 0.0
    gap: float | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        "size": require_positive,
        "step": whole(),
        "growth": require_share,
        "change": require_not_negative,
        "threshold": require_not_negative,
        "gap": optional(require_not_negative),
    }
    refit: Refit = field(default_factory=RefitAll)
    growth: float = field(default=0.0, kw_only=True)
    change: float = field(default=0.0, kw_only=True)

    labels_pairs = False
    """Whether functions of this selection score label pairs, which then need no separate scores."""

    def limit(self, n_answers: int) -> int:
        """Return p, the number of functions to stop at."""
        return int(self.size) if self.size >= 1 else max(1, round(self.size * n_answers))

    @property
    def refitting(self) -> Refit:
        """How coefficients are refitted: at least as well as the rules that end the search can tell."""
        finest = min(tol for tol in (self.refit.tol, self.gap, self.change) if tol)
        return self.refit if finest == self.refit.tol else replace(self.refit, tol=finest)

    def steps(self, view: View) -> int:
        """Return how many times d functions are added at once."""
        return max(1, round(self.growth * view.state.size / self.step))

    @abstractmethod
    def propose(self, view: View, visit: int, random: np.random.RandomState) -> list[Proposal]:
        """Return the functions to be added next."""

    @abstractmethod
    def patience(self, task: GrowthTask) -> int:
        """Return the number of successive visits without a proposal after which none is expected."""


@dataclass(frozen=True)
class SequenceSelection(Selection):
    """A selection that visits some training sequences at a time.

    Parameters
    ----------
    order : Order
        Which sequences are visited: `AtRandom`, `InTurn` or `LargestGradient`.
    """

    order: Order = field(default_factory=AtRandom)

    def patience(self, task: GrowthTask) -> int:
        """Return the patience of the order."""
        return self.order.patience(task.structure.n_instances)

    def picked(
        self,
        view: View,
        visit: int,
        random: np.random.RandomState,
        merits: Callable[[View, Array], tuple[Array, Array]],
    ) -> Array:
        """Return the sequences to look at; ``merits`` judges candidates, and gives the sequence of each."""

        def steepness(ids: Array) -> Array:
            result = np.zeros(len(ids))
            values, places = merits(view, ids)
            np.maximum.at(result, places, np.abs(values))
            return result

        count = view.task.structure.n_instances
        return self.order.pick(visit, count, random, steepness, self.steps(view))


class SequencePositions(NamedTuple):
    """The positions of some sequences."""

    observations: Array
    """(q,) the observation of each position."""
    last: Array
    """(q,) whether each position ends a sequence."""
    places: Array
    """(q,) the sequence of each position."""


def positions_of(task: GrowthTask, ids: Array) -> SequencePositions:
    """Return the positions of some sequences."""
    offsets = task.structure.offsets
    rows = rows_of(offsets, ids)
    lengths = offsets[ids + 1] - offsets[ids]
    return SequencePositions(
        task.pools[NAME].seen[rows],
        np.isin(rows, offsets[ids + 1] - 1),
        np.repeat(np.arange(len(ids)), lengths),
    )


def fresh(view: View, name: str, keys: Array) -> Array:
    """Return a mask of the keys not yet dealt with, each key marked once."""
    first = np.zeros(len(keys), dtype=bool)
    first[np.unique(keys, return_index=True)[1]] = True
    return first & ~np.isin(keys, view.state.spent[name])


def rounds_of(task: GrowthTask, sample: int) -> int:
    """Return how many samples are as many as the observations of the largest pool."""
    return max(1, *(-(-pool.size // sample) for pool in task.pools.values()))


def rivals(observations: Array, labels: Array, n_labels: int) -> Array:
    """Return group numbers; of candidates in one group, one at a time is enough.

    Candidates of one observation and label differ in pairs only; with two labels, one is minus the other.
    """
    return observations if n_labels == 2 else observations * n_labels + labels
