"""A labelling problem as small ones that share variables, each with a nearest and a best point."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..arrays import Array
from .fusion import PairScores
from .logic import Logic, RuleGroups

FORBIDDEN = -1e9
"""Where a forbidden indicator is before it moves to the nearest point that is accepted: far from one."""


class Subproblems(ABC):
    """Subproblems of one kind; each has copies of some shared variables."""

    variables: Array
    """Which ones, in any shape."""
    instance: Array
    """The instance of every subproblem."""

    @abstractmethod
    def nearest(self, copies: Array) -> Array:
        """Return the nearest point that every subproblem accepts, in the shape of the variables."""

    @abstractmethod
    def best(self, gain: Array) -> Array:
        """Return the largest ⟨gain, z⟩ that each subproblem can have."""


class OneLabel(Subproblems):
    """Every vertex has exactly one label."""

    def __init__(self, pairs: PairScores, owner: Array) -> None:
        self.variables = np.arange(pairs.node.size).reshape(pairs.node.shape)
        self.instance = owner

    def nearest(self, copies: Array) -> Array:
        """Project rows onto the simplex."""
        return on_simplex(copies)

    def best(self, gain: Array) -> Array:
        """Return the largest of each row."""
        return np.asarray(gain.max(axis=1))


class OneSide(Subproblems):
    """Σ_b z_e(a, b) = z_v(a): the pairs of an edge with label a at one end are there as that label is."""

    def __init__(self, pairs: PairScores, owner: Array, place: int) -> None:
        L, M = pairs.node.shape[1], len(pairs.ends)
        table = pairs.node.size + np.arange(M * L * L).reshape(M, L, L)
        rows = (table if place == 0 else table.swapaxes(1, 2)).reshape(M * L, L)
        label = pairs.ends[:, place, None] * L + np.arange(L)
        self.variables = np.concatenate([rows, label.reshape(M * L, 1)], axis=1)
        self.instance = np.repeat(owner[pairs.ends[:, 0]], L)

    def nearest(self, copies: Array) -> Array:
        """Project onto the simplex of the pairs and of the absence of the label."""
        turned = on_simplex(np.concatenate([copies[:, :-1], 1.0 - copies[:, -1:]], axis=1))
        turned[:, -1] = 1.0 - turned[:, -1]
        return turned

    def best(self, gain: Array) -> Array:
        """Return nothing, or the label with its best pair."""
        if gain.shape[0] == 0:
            return np.zeros(0)
        return np.asarray(np.maximum(gain[:, :-1].max(axis=1) + gain[:, -1], 0.0))


class Ruled(Subproblems):
    """A rule holds for each of its groups."""

    def __init__(self, rule: Logic, groups: RuleGroups, labels: int) -> None:
        self.rule, self.groups = rule, groups
        self.variables = groups.vertex * labels + groups.label
        self.instance = groups.instance

    def nearest(self, copies: Array) -> Array:
        """Ask the rule."""
        return self.rule.nearest(copies, self.groups)

    def best(self, gain: Array) -> Array:
        """Ask the rule."""
        return self.rule.best(gain, self.groups)


def on_simplex(points: Array) -> Array:
    """Return for every row the nearest distribution: max(z − τ, 0), τ from the sorted row."""
    if points.size == 0:
        return points
    falling = -np.sort(-points, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, points.shape[1] + 1)
    used = (falling > excess).sum(axis=1)
    return np.maximum(points - excess[np.arange(len(points)), used - 1][:, None], 0.0)


class Agreement:
    """The shared variables, the copies of every part, and multipliers for where these disagree.

    Parameters
    ----------
    pairs : PairScores
        The scores.
    rules : list of (Logic, RuleGroups)
        What must hold besides.
    step : float
        η at first.
    """

    def __init__(self, pairs: PairScores, rules: list[tuple[Logic, RuleGroups]], step: float) -> None:
        S, L = len(pairs.offsets) - 1, pairs.node.shape[1]
        owner = np.repeat(np.arange(S), np.diff(pairs.offsets))
        self.parts: list[Subproblems] = [
            OneLabel(pairs, owner),
            OneSide(pairs, owner, 0),
            OneSide(pairs, owner, 1),
        ]
        self.parts += [Ruled(rule, groups, L) for rule, groups in rules]
        theta = np.concatenate([pairs.node.ravel(), pairs.tables[pairs.table].ravel()])
        self.instance = np.concatenate([np.repeat(owner, L), np.repeat(owner[pairs.ends[:, 0]], L * L)])
        self.instances, self.shape = S, pairs.node.shape
        self.forbidden = theta == -np.inf
        finite = np.where(self.forbidden, 0.0, theta)
        self.degree = self._summed([np.ones(part.variables.shape) for part in self.parts])
        self.shares = [(theta / self.degree)[part.variables] for part in self.parts]
        self.finite = [(finite / self.degree)[part.variables] for part in self.parts]
        self.multipliers = [np.zeros(part.variables.shape) for part in self.parts]
        self.shared = np.where(self.forbidden, 0.0, 1.0 / L)
        self.step = np.full(S, step * max(float(np.abs(finite).mean()) if finite.size else 1.0, 1e-12))
        self.moved, self.apart = np.full(S, np.inf), np.full(S, np.inf)

    def iterate(self) -> None:
        """Let every part move, then the shared variables, then the multipliers."""
        eta = self.step[self.instance]
        copies = []
        for part, score, multiplier in zip(self.parts, self.finite, self.multipliers, strict=True):
            wanted = self.shared[part.variables] + (score + multiplier) / eta[part.variables]
            copies.append(part.nearest(np.where(self.forbidden[part.variables], FORBIDDEN, wanted)))
        before, self.shared = self.shared, self._summed(copies) / self.degree
        apart = [copy - self.shared[part.variables] for part, copy in zip(self.parts, copies, strict=True)]
        for part, multiplier, difference in zip(self.parts, self.multipliers, apart, strict=True):
            multiplier -= eta[part.variables] * difference
        size = np.maximum(np.bincount(self.instance, minlength=self.instances), 1)
        self.moved = np.sqrt(np.bincount(self.instance, (self.shared - before) ** 2, self.instances) / size)
        squares = self._summed([difference**2 for difference in apart])
        self.apart = np.sqrt(np.bincount(self.instance, squares / self.degree, self.instances) / size)

    def adapt(self) -> None:
        """Make disagreement cost more where it is the larger residual, else less."""
        self.step = np.where(self.apart > 3 * self.moved, 2 * self.step, self.step)
        self.step = np.where(self.moved > 3 * self.apart, 0.5 * self.step, self.step)

    def bound(self) -> Array:
        """Return the sum of what all parts can reach alone, for every instance."""
        total = np.zeros(self.instances)
        for part, score, multiplier in zip(self.parts, self.shares, self.multipliers, strict=True):
            total += np.bincount(part.instance, part.best(score + multiplier), self.instances)
        return total

    @property
    def node(self) -> Array:
        """(N, L): the shared variables of the vertices."""
        return self.shared[: self.shape[0] * self.shape[1]].reshape(self.shape)

    def _summed(self, values: list[Array]) -> Array:
        """Return the sums over all copies of every variable."""
        count = len(self.instance)
        return np.sum(
            [
                np.bincount(part.variables.ravel(), value.ravel(), count)
                for part, value in zip(self.parts, values, strict=True)
            ],
            axis=0,
        )
