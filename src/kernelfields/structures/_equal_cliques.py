"""Cliques over the same number of vertices, those over the same vertices found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ._base import Cliques


class Source(NamedTuple):
    """Cliques of one type whose members have to be turned the same way to be sorted."""

    name: str
    turn: tuple[int, ...]
    """Axes of the sorted table, as axes of the table given."""
    ids: Array
    """Which cliques of the type."""
    factors: Array
    """The factor of each, among those of its size."""
    shared: bool
    instances: Array
    """The instance of each."""


class EqualCliques:
    """All factors over the same number of vertices."""

    def __init__(self, size: int, members: Array, sources: list[Source]) -> None:
        self.size = size
        self.members = members
        self.sources = sources
        self.counts = np.stack(
            [np.bincount(source.factors, minlength=len(members)) for source in sources], axis=1
        )
        """How many cliques of each source a factor has."""
        own = np.zeros(len(members), dtype=bool)
        for source in sources:
            if not source.shared:
                own[source.factors] = True
        alike = kinds_of(self.counts)[1]
        self.kinds = np.where(own, alike.max(initial=-1) + 1 + np.arange(len(members)), alike)
        """Factors of one kind have equal tables."""
        self.places = np.empty(len(members), dtype=np.int64)
        """Their places among all factors of the batch."""


def equal_cliques(size: int, kinds: dict[str, Cliques]) -> EqualCliques:
    """Sort the members of all cliques of one size, and find those that are equal."""
    turns, members, owners = {}, [], {}
    for name, cliques in kinds.items():
        turn = np.argsort(cliques.members, axis=1)
        turns[name] = turn
        members.append(np.take_along_axis(cliques.members, turn, axis=1))
        owners[name] = np.repeat(np.arange(len(cliques.offsets) - 1), np.diff(cliques.offsets))
    every = np.concatenate(members)
    first, number = kinds_of(every)
    sources, start = [], 0
    for name, cliques in kinds.items():
        factors = number[start : start + cliques.count]
        start += cliques.count
        code = turns[name] @ (size ** np.arange(size))
        for one in np.unique(code):
            ids = np.flatnonzero(code == one)
            axes = tuple(int(axis) for axis in turns[name][ids[0]])
            sources.append(Source(name, axes, ids, factors[ids], cliques.shared, owners[name][ids]))
    return EqualCliques(size, every[first], sources)


def kinds_of(rows: Array) -> tuple[Array, Array]:
    """Number rows by their entries, equal ones alike; return where each kind is first, and those numbers."""
    result = rows[:, 0]
    for column in rows.T[1:]:  # numbers of rows so far, then of those with one column more: never large
        many = int(column.max(initial=0)) + 1
        if int(result.max(initial=0)) * many >= 2**62:
            result = np.unique(result, return_inverse=True)[1]
        result = result * many + column
    _, first, number = np.unique(result, return_index=True, return_inverse=True)
    return first, number
