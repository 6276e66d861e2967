"""Heads of the words of one sentence, as files say them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class HeadFault(NamedTuple):
    """A word whose head makes no tree."""

    word: int
    """Counted from 1."""
    reason: str


def require_heads(heads: Sequence[int], single_root: bool) -> HeadFault | None:
    """Return the first thing that is wrong with heads, counted from 1 and 0 for the root; None for a tree.

    Parameters
    ----------
    heads : list of int
        The head of every word.
    single_root : bool
        Whether exactly one word must have the root as its head.
    """
    roots = []
    for m, head in enumerate(heads, 1):
        if not 0 <= head <= len(heads):
            return HeadFault(m, f"the head of word {m} is {head}, expected 0 (the root) to {len(heads)}.")
        if head == m:
            return HeadFault(m, f"word {m} is its own head.")
        if head == 0:
            roots.append(m)
    if single_root and len(roots) > 1:
        a, b = roots[:2]
        return HeadFault(b, f"word {b} has the root as its head, and so has word {a}: a tree has one root.")
    return _cycle(heads)


def _cycle(heads: Sequence[int]) -> HeadFault | None:
    """Follow heads from every word until the root, or a word from which the root was reached before."""
    reaches = [True] + [False] * len(heads)
    for start in range(1, len(heads) + 1):
        way, m = dict[int, None](), start
        while not reaches[m]:
            if m in way:
                return HeadFault(m, f"word {m} is its own ancestor, by its heads.")
            way[m] = None
            m = heads[m - 1]
        for passed in way:
            reaches[passed] = True
    return None
