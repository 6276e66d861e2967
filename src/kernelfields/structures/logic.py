"""Rules about whole labellings: how many vertices have a label, what follows from what along edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, require_whole, whole
from .graph import GraphBatch


class RuleGroups(NamedTuple):
    """Indicators that a vertex has a label, in groups about which a rule says something."""

    vertex: Array
    label: Array
    group: Array
    """Never falling."""
    instance: Array
    """The instance of every group."""


@dataclass(frozen=True)
class Logic(Checked, ABC):
    """A rule about groups of indicators z, the same for every group."""

    @abstractmethod
    def on(self, graph: GraphBatch) -> RuleGroups:
        """Return the groups of a batch."""

    @abstractmethod
    def holds(self, z: Array, groups: RuleGroups) -> Array:
        """Return for every group whether indicators of 0 and 1 keep the rule."""

    @abstractmethod
    def nearest(self, z: Array, groups: RuleGroups) -> Array:
        """Return the point nearest to z among mixtures of indicators that keep the rule."""

    @abstractmethod
    def repair(self, labels: Array, likely: Array, groups: RuleGroups, kept: Array) -> None:
        """Change labels, in place, towards the rule; ``kept`` vertices stay, and those that matter become so.

        ``likely`` (N, L) says what each vertex would rather have, −inf where it cannot.
        """

    @abstractmethod
    def best(self, gain: Array, groups: RuleGroups) -> Array:
        """Return max ⟨gain, z⟩ over indicators that keep the rule, for every group."""


@dataclass(frozen=True)
class AtMost(Logic):
    """At most ``count`` vertices of an instance have a label.

    Parameters
    ----------
    label : int
        Which.
    count : int
        How many.
    """

    label: int
    count: int = 1
    _checks: ClassVar[Mapping[str, Check]] = {"label": whole(0), "count": whole(0)}

    def on(self, graph: GraphBatch) -> RuleGroups:
        """Return a group for every instance."""
        return _of_label(graph, self.label)

    def holds(self, z: Array, groups: RuleGroups) -> Array:
        """Count."""
        return _sums(z, groups) <= self.count

    def nearest(self, z: Array, groups: RuleGroups) -> Array:
        """Cut to [0, 1]; where that is too much, subtract the same from all first."""
        inside = np.clip(z, 0.0, 1.0)
        over = _sums(inside, groups) > self.count
        return np.where(over[groups.group], _with_sum(z, groups, self.count), inside)

    def repair(self, labels: Array, likely: Array, groups: RuleGroups, kept: Array) -> None:
        """Let the unlikeliest of those that are too many have their second choice."""
        for s in np.flatnonzero(~self.holds(_indicators(labels, groups), groups)):
            mine = groups.vertex[groups.group == s]
            having = mine[labels[mine] == self.label]
            _second_choice(
                having[np.argsort(-likely[having, self.label])][self.count :], labels, likely, kept
            )

    def best(self, gain: Array, groups: RuleGroups) -> Array:
        """Add up the largest, while they are positive."""
        order = np.lexsort([-gain, groups.group])
        starts = np.searchsorted(groups.group, groups.group)  # of the group of each
        used = np.where(np.arange(len(gain)) - starts < self.count, np.maximum(gain[order], 0.0), 0.0)
        return _sums(used, groups)


@dataclass(frozen=True)
class ExactlyOne(Logic):
    """Exactly one vertex of each instance has a label.

    Parameters
    ----------
    label : int
        Which.
    """

    label: int
    _checks: ClassVar[Mapping[str, Check]] = {"label": whole(0)}

    def on(self, graph: GraphBatch) -> RuleGroups:
        """Return a group for every instance."""
        return _of_label(graph, self.label)

    def holds(self, z: Array, groups: RuleGroups) -> Array:
        """Count."""
        return _sums(z, groups) == 1

    def nearest(self, z: Array, groups: RuleGroups) -> Array:
        """Subtract the same from all, and cut to [0, 1]."""
        return _with_sum(z, groups, 1)

    def repair(self, labels: Array, likely: Array, groups: RuleGroups, kept: Array) -> None:
        """Let the likeliest vertex have the label, and the others their second choice."""
        for s in range(len(groups.instance)):
            mine = groups.vertex[groups.group == s]
            mine = mine[~kept[mine]]
            if len(mine) == 0:
                continue
            chosen = mine[likely[mine, self.label].argmax()]
            labels[chosen], kept[chosen] = self.label, True
            _second_choice(mine[(labels[mine] == self.label) & (mine != chosen)], labels, likely, kept)

    def best(self, gain: Array, groups: RuleGroups) -> Array:
        """Return the largest; −inf where there is none."""
        best = np.full(len(groups.instance), -np.inf)
        np.maximum.at(best, groups.group, gain)
        return best


@dataclass(frozen=True)
class Implies(Logic):
    """If the tail of an edge has a label, its head has another.

    Parameters
    ----------
    label : int
        Of the tail.
    other : int
        Of the head.
    """

    label: int
    other: int
    _checks: ClassVar[Mapping[str, Check]] = {"label": whole(0), "other": whole(0)}

    def on(self, graph: GraphBatch) -> RuleGroups:
        """Return a group for every edge, tail and head."""
        _require_label(graph, self.label)
        _require_label(graph, self.other)
        E = graph.n_edges
        label = np.tile([self.label, self.other], E)
        instance = np.repeat(np.arange(graph.n_instances), np.diff(graph.edge_offsets))
        return RuleGroups(graph.edges.ravel(), label, np.repeat(np.arange(E), 2), instance)

    def holds(self, z: Array, groups: RuleGroups) -> Array:
        """Look at both."""
        tail, head = z.reshape(-1, 2).T
        return tail <= head

    def nearest(self, z: Array, groups: RuleGroups) -> Array:
        """Take the mean of both where the first is larger."""
        both = z.reshape(-1, 2)
        mean = np.where(both[:, :1] > both[:, 1:], both.mean(axis=1, keepdims=True), both)
        return np.clip(mean, 0.0, 1.0).ravel()

    def repair(self, labels: Array, likely: Array, groups: RuleGroups, kept: Array) -> None:
        """Let heads follow their tails."""
        for e in np.flatnonzero(~self.holds(_indicators(labels, groups), groups)):
            head = groups.vertex[2 * e + 1]
            if not kept[head] and likely[head, self.other] > -np.inf:
                labels[head] = self.other

    def best(self, gain: Array, groups: RuleGroups) -> Array:
        """Return the best of neither, the head alone, and both."""
        tail, head = gain.reshape(-1, 2).T
        return np.maximum(np.maximum(head, tail + head), 0.0)


def _of_label(graph: GraphBatch, label: int) -> RuleGroups:
    _require_label(graph, label)
    owner = np.repeat(np.arange(graph.n_instances), np.diff(graph.offsets))
    return RuleGroups(
        np.arange(graph.n_vertices), np.full(graph.n_vertices, label), owner, np.arange(graph.n_instances)
    )


def _require_label(graph: GraphBatch, label: int) -> None:
    require_whole("The label of a rule", label, 0, graph.n_labels - 1)


def kept_by(labels: Array, rule: Logic, groups: RuleGroups, instances: int) -> Array:
    """Return for every instance whether its labels keep a rule."""
    broken = ~rule.holds(_indicators(labels, groups), groups)
    return np.bincount(groups.instance, broken, instances) == 0


def _indicators(labels: Array, groups: RuleGroups) -> Array:
    return (labels[groups.vertex] == groups.label).astype(np.float64)


def _second_choice(vertices: Array, labels: Array, likely: Array, kept: Array) -> None:
    """Let vertices have the likeliest label but their own, where there is another and they are free."""
    for v in vertices[~kept[vertices]]:
        others = likely[v].copy()
        others[labels[v]] = -np.inf
        if others.max() > -np.inf:
            labels[v] = others.argmax()


def _sums(z: Array, groups: RuleGroups) -> Array:
    return np.bincount(groups.group, z, len(groups.instance))


def _with_sum(z: Array, groups: RuleGroups, total: int) -> Array:
    """Return the nearest points of [0, 1]^n with a given sum, n at least that: z − τ, cut.

    Σ max(0, min(1, z − τ)) is linear in τ between the numbers z and z − 1. Where τ is 1 below the number of
    rank ``total`` the sum is at least that, and where τ is that number at most: others do not matter.
    """
    group, count = groups.group, len(groups.instance)
    order = np.lexsort([-z, group])
    first = np.searchsorted(group, np.arange(count))
    ranked = np.minimum(first + max(total, 1), np.append(first[1:], len(z))) - 1
    middle = np.zeros(count) if len(z) == 0 else z[order][np.maximum(ranked, 0)]
    near = np.clip(z - middle[group], -2.0, 2.0)
    place, turn, owner = np.concatenate([near, near - 1.0]), np.repeat([1.0, -1.0], len(z)), np.tile(group, 2)
    order = np.lexsort([-place, owner])
    place, turn, owner = place[order], turn[order], owner[order]
    slope = np.round(_within(turn, owner))  # how many are between 0 and 1 below each place
    step = np.append(place[:-1] - place[1:], 0.0) * slope
    reached = _within(step, owner) - step  # the sum at each place
    before = np.bincount(owner, reached < total, count).astype(int)
    at = np.searchsorted(owner, np.arange(count)) + np.maximum(before - 1, 0)
    at = np.minimum(at, max(len(place) - 1, 0))
    if len(z) == 0:
        return z
    tau = place[at] - (total - reached[at]) / np.maximum(slope[at], 1.0)
    return np.clip(near - tau[group], 0.0, 1.0)


def _within(values: Array, owner: Array) -> Array:
    """Return cumulative sums that start again with every group."""
    sums = np.cumsum(values)
    start = np.searchsorted(owner, owner)
    return sums - np.where(start > 0, sums[start - 1], 0.0)
