"""Constituency trees as nested tuples: (label, child, child, …), whose leaves are (tag, word) or numbers.

>>> tree = ("S", ("NP", ("DT", "the"), ("NN", "dog")), ("VP", ("VBZ", "barks")))
>>> [phrase for phrase in phrases_of(tree)]
[Phrase(label='S', start=0, end=3), Phrase(label='NP', start=0, end=2), Phrase(label='VP', start=2, end=3)]

The number of a word within its sentence, from 0 on, may stand in the place of (tag, word): so trees are
predicted. Nothing here calls itself: trees from files may be deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..checks import shown
from ..errors import InputError

PhraseTree = tuple[Any, ...]
"""(label, child, …) or (tag, word)."""


class Phrase(NamedTuple):
    """A labelled span of words."""

    label: str
    start: int
    """Its first word, counted from 0."""
    end: int
    """The word after its last one."""


class Leaf(NamedTuple):
    """A word with its tag."""

    tag: str
    word: str


def is_leaf(tree: Any) -> bool:
    """Return whether a tree is a word: its number, or a pair (tag, word)."""
    if isinstance(tree, int | np.integer):
        return not isinstance(tree, bool)
    return isinstance(tree, tuple | list) and len(tree) == 2 and isinstance(tree[1], str)


def leaves_of(tree: PhraseTree) -> list[Any]:
    """Return the words of a tree from left to right: with their tags, or their numbers."""
    found: list[Any] = []
    waiting: list[Any] = [tree] if tree != () else []
    while waiting:
        top = waiting.pop()
        if is_leaf(top):
            found.append(top if isinstance(top, int) else Leaf(*top))
        else:
            waiting += reversed(top[1:])
    return found


def phrases_of(tree: PhraseTree) -> Iterator[Phrase]:
    """Return the phrases of a tree, parents before their children; words are no phrases."""
    sizes = _sizes(tree) if tree else {}
    waiting: list[tuple[Any, int]] = [(tree, 0)] if tree else []
    while waiting:
        top, start = waiting.pop()
        if is_leaf(top):
            continue
        yield Phrase(top[0], start, start + sizes[id(top)])
        below = []
        for child in top[1:]:
            below.append((child, start))
            start += sizes[id(child)]
        waiting += reversed(below)


def _sizes(tree: PhraseTree) -> dict[int, int]:
    """Return the number of words of every subtree, by its identity; one that occurs twice has one size."""
    sizes: dict[int, int] = {}
    waiting: list[tuple[Any, bool]] = [(tree, False)]
    while waiting:
        top, counted = waiting.pop()
        if is_leaf(top):
            sizes[id(top)] = 1
        elif counted:
            sizes[id(top)] = sum(sizes[id(child)] for child in top[1:])
        else:
            waiting.append((top, True))
            waiting += [(child, False) for child in top[1:]]
    return sizes


def require_tree(tree: Any, what: str) -> PhraseTree:
    """Return a tree, or refuse what is none; ``what`` calls it in messages.

    Lists are taken for tuples. The tree of a sentence without words is ().
    """
    if isinstance(tree, tuple) and not tree:
        return tree
    waiting: list[tuple[Any, bool]] = [(tree, False)]
    done: list[Any] = []
    words = 0
    while waiting:
        top, complete = waiting.pop()
        if complete:
            children = len(top) - 1
            done[-children:] = [(top[0], *done[-children:])]
            continue
        if isinstance(top, Integral) and not isinstance(top, bool):
            if top != words:
                raise InputError(f"{what} has the word {top}, expected word {words}.")
            done.append(int(top))
            words += 1
            continue
        _require_node(top, what)
        if is_leaf(top):
            done.append((top[0], top[1]))
            words += 1
        else:
            waiting.append((top, True))
            waiting += [(child, False) for child in reversed(top[1:])]
    return done[0]


def _require_node(node: Any, what: str) -> None:
    if not isinstance(node, tuple | list):
        raise InputError(
            f"{what} has {shown(node)} in the place of a subtree, which is (label, child, …) or (tag, word)."
        )
    if not node or not isinstance(node[0], str):
        raise InputError(f"{what} has a subtree without a label: {shown(node)}.")
    if len(node) == 1:
        raise InputError(f"{what} has {shown(node[0])} without a word or a subtree below it.")
