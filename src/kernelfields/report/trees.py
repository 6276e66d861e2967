"""The order in which the vertices of a tree are written below each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TreePlace(NamedTuple):
    """A line of a tree."""

    vertex: int
    depth: int
    """0 at roots."""


def outline(parents: Sequence[int]) -> list[TreePlace]:
    """Return all vertices of a forest, parents before their children, children in order."""
    children: list[list[int]] = [[] for _ in parents]
    roots: list[int] = []
    for vertex, parent in enumerate(parents):
        (roots if parent < 0 else children[parent]).append(vertex)
    result, waiting = [], [TreePlace(root, 0) for root in reversed(roots)]
    while waiting:
        place = waiting.pop()
        result.append(place)
        waiting += [TreePlace(child, place.depth + 1) for child in reversed(children[place.vertex])]
    return result
