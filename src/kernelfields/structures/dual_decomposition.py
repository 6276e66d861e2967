"""The best labelling of graphs by alternating directions, with rules about whole labellings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, require_positive, shown, whole
from ..errors import InputError
from ._base import Scores
from ._oracles import BoundedLabelling
from ._search_base import MaxSearch, bounded, improved
from .factor_tables import FactorTables
from .fusion import PairScores
from .logic import Logic, RuleGroups, kept_by
from .merged_cliques import MergedCliques

LOOK = 10
"""Iterations between two looks at bound and labels."""


def _rules(name: str, value: object) -> object:
    if not isinstance(value, tuple) or not all(isinstance(rule, Logic) for rule in value):
        raise InputError(f"{name} is {shown(value)}; it must be a tuple of rules, (ExactlyOne(1),) say.")
    return value


@dataclass(frozen=True)
class DualDecomposition(MaxSearch):
    """Alternating directions dual decomposition, AD³ [martins2015].

    The linear program over the local polytope, as many small ones that must agree: a vertex has exactly one
    label; a pair of labels is there if both are; and rules such as "exactly one vertex has this
    label" hold. Each of them moves to the nearest point that it can accept, in closed form; the shared
    variables are the means of these, and multipliers remember who disagrees. Whatever the multipliers,
    the sum of the best that each part can do alone bounds the best score from above.

    Every ten iterations vertices take labels, the surest first, each the likeliest that no rule forbids by
    then; without rules also better ones while there are any (ICM). The best labelling of all is kept.
    For graphs with rules; without rules `TreeReweightedMax` is faster.

    Parameters
    ----------
    rules : tuple of Logic
        `ExactlyOne`, `AtMost`, `Implies`, for every instance.
    max_iter : int
        Most iterations.
    tol : float
        Stop once variables move, and disagree with each other, by less than this (root mean square).
    step : float
        Weight of disagreement at first, in units of scores; then it adapts.
    """

    rules: tuple[Logic, ...] = ()
    max_iter: int = 1000
    tol: float = 1e-6
    step: float = 0.1
    _checks: ClassVar[Mapping[str, Check]] = {
        "rules": _rules,
        "max_iter": whole(),
        "tol": require_positive,
        "step": require_positive,
    }

    def find(self, cliques: MergedCliques, scores: Scores) -> BoundedLabelling:
        """Iterate on the whole batch at once."""
        graph, tables = cliques.graph, cliques.tables(scores)
        pairs = PairScores.of(tables)
        rules = [(rule, rule.on(graph)) for rule in self.rules]
        state = Agreement(pairs, rules, self.step)
        S = graph.n_instances
        labels, value, bound = np.zeros(graph.n_vertices, np.int32), np.full(S, -np.inf), np.full(S, np.inf)
        done = np.zeros(S, dtype=bool)
        for iteration in range(1, self.max_iter + 1):
            state.iterate()
            if iteration % LOOK and iteration < self.max_iter:
                continue
            state.adapt()
            bound = np.minimum(bound, state.bound())
            tried = self._rounded(state.node, tables, rules)
            reached = _allowed(pairs.scores(tried), tried, rules)
            better = reached > value
            labels = np.where(np.repeat(better, np.diff(graph.offsets)), tried, labels)
            value = np.where(better, reached, value)
            still = np.maximum(state.moved, state.apart) < self.tol
            done = BoundedLabelling(labels, value, bound, still).certified | (bound == -np.inf) | still
            if done.all():
                break
        found = bounded(cliques, scores, labels, bound, done)
        return found._replace(value=_allowed(found.value, labels, rules))

    def _rounded(self, node: Array, tables: FactorTables, rules: list[tuple[Logic, RuleGroups]]) -> Array:
        """Return a labelling near the shared variables."""
        likely = np.where(tables.node > -np.inf, node, -np.inf)
        labels = likely.argmax(axis=1).astype(np.int32)
        if not rules:
            return improved(tables, labels)
        kept = np.zeros(len(labels), dtype=bool)
        for rule, groups in rules:
            rule.repair(labels, likely, groups, kept)
        return labels


def _allowed(value: Array, labels: Array, rules: list[tuple[Logic, RuleGroups]]) -> Array:
    """Return values, −inf where a rule is broken."""
    for rule, groups in rules:
        value = np.where(kept_by(labels, rule, groups, len(value)), value, -np.inf)
    return value


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
