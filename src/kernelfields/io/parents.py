"""Parents of the positions of one tree, as files say them."""

from __future__ import annotations

from typing import Any

from ..errors import InputError

ROOT = -1
"""The parent of a position that has none."""


def require_parents(parents: Any, count: int) -> None:
    """Refuse what is not one parent per position, −1 for roots, or leads round in a circle.

    Parameters
    ----------
    parents : list of int
        What a file says.
    count : int
        Positions of the item.
    """
    if not isinstance(parents, list):
        raise InputError('"parents" is not a list.')
    if len(parents) != count:
        raise InputError(f"there are {count} tokens, but {len(parents)} parents.")
    for t, parent in enumerate(parents):
        if type(parent) is not int or not ROOT <= parent < count:
            shown = parent if type(parent) is int else "not a whole number"
            raise InputError(f"the parent of token {t} is {shown}, expected {ROOT} to {count - 1}.")
    _require_ends(parents)


def _require_ends(parents: list[int]) -> None:
    """Follow parents from every position until a root, or a position from which a root was reached before."""
    ends = [parent == ROOT for parent in parents]
    for start in range(len(parents)):
        way, seen, t = [], set[int](), start
        while not ends[t]:
            if t in seen:
                raise InputError(f"token {t} is its own ancestor, by its parents.")
            way.append(t)
            seen.add(t)
            t = parents[t]
        for passed in way:
            ends[passed] = True
