"""Edges between the positions of one graph, as files say them."""

from __future__ import annotations

from itertools import chain
from operator import eq
from typing import Any

from ..errors import InputError


def require_edges(edges: Any, count: int) -> None:
    """Refuse what is not a list of pairs of different positions, none of them twice in the same order.

    Parameters
    ----------
    edges : list of pairs of int
        What a file says.
    count : int
        Positions of the item.
    """
    if not isinstance(edges, list):
        raise InputError('"edges" is not a list.')
    if _are_edges(edges, count):
        return
    seen: dict[tuple[int, int], int] = {}
    for n, edge in enumerate(edges):
        if not isinstance(edge, list) or len(edge) != 2 or not all(type(end) is int for end in edge):
            raise InputError(f"edge {n} is not a list of two whole numbers.")
        a, b = edge
        if not (0 <= a < count and 0 <= b < count):
            raise InputError(f"edge {n} joins {a} and {b}, but there are {count} tokens.")
        if a == b:
            raise InputError(f"edge {n} joins token {a} to itself.")
        if (a, b) in seen:
            raise InputError(f"edges {seen[a, b]} and {n} both lead from {a} to {b}.")
        seen[a, b] = n


def _are_edges(edges: list[Any], count: int) -> bool:
    """Return whether nothing is wrong with edges: ten times as fast as to find out which of them is."""
    if not edges:
        return True
    if set(map(type, edges)) != {list} or set(map(len, edges)) != {2}:
        return False
    ends = list(chain.from_iterable(edges))
    if set(map(type, ends)) != {int} or min(ends) < 0 or max(ends) >= count:
        return False
    tails, heads = ends[::2], ends[1::2]
    return not any(map(eq, tails, heads)) and len(set(zip(tails, heads, strict=True))) == len(edges)
