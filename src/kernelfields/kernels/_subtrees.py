"""Trees as the subtrees below their nodes, each distinct one numbered once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..errors import InputError, quoted
from .observations import Observations, items

_PIECE = re.compile(r"[()]|[^()\s]+")
Node = tuple[list[Any], list[Any] | None]
"""Label and children (numbers of subtrees, leaves as tuples of one); and the parent, to be completed."""


class Subtrees:
    """All distinct subtrees of some trees: what a node expands to, and the subtrees of its children.

    Numbers rise from children to parents.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._rules: dict[Hashable, int] = {}
        self.labels: list[Any] = []
        self.rules: list[int] = []
        """What the root of each subtree expands to: its label and those of its children."""
        self.children: list[list[int]] = []
        """Numbers of the subtrees below the root of each, leaves left out."""

    def counts(self, X: Observations) -> list[tuple[Array, Array]]:
        """Return, for every tree, the subtrees below its nodes, in order, and how often each occurs."""
        every = (_parsed(x) if isinstance(x, str) else _walked(x) for x in items(X))
        found = [np.array([self._numbered(*node) for node in nodes]) for nodes in every]
        return [np.unique(numbers, return_counts=True) for numbers in found]

    def matrix(self, counts: list[tuple[Array, Array]]) -> Any:
        """Return the same as an (n, subtrees) CSR matrix."""
        ends = np.cumsum([0, *(len(numbers) for numbers, _ in counts)])
        columns, values = (np.concatenate([[], *(one[k] for one in counts)]) for k in range(2))
        return sp.csr_matrix((values, columns.astype(np.int64), ends), (len(counts), len(self.rules)))

    def _numbered(self, node: list[Any], parent: list[Any] | None) -> int:
        """Return the number of a subtree, and note it as a child of its parent."""
        label, *children = node
        number = self._numbers.setdefault((label, *children), len(self.rules))
        if number == len(self.rules):
            inner = [child for child in children if not isinstance(child, tuple)]
            rule = (label, *(c if isinstance(c, tuple) else self.labels[c] for c in children))
            self.rules.append(self._rules.setdefault(rule, len(self._rules)))
            self.labels.append(("", label))  # not to be taken for a leaf
            self.children.append(inner)
        if parent is not None:
            parent.append(number)
        return number


def _walked(tree: Any) -> Iterator[Node]:
    """Yield the nodes of nested tuples, children first; without recursion, for trees may be deep."""
    _require_node(tree, tree)
    waiting: list[tuple[list[Any], list[Any] | None, Iterator[Any]]] = [([tree[0]], None, iter(tree[1:]))]
    while waiting:
        node, parent, rest = waiting[-1]
        for child in rest:
            if isinstance(child, tuple | list):
                _require_node(child, tree)
                waiting.append(([child[0]], node, iter(child[1:])))
                break
            node.append((child,))
        else:
            waiting.pop()
            yield node, parent


def _require_node(node: Any, tree: Any) -> None:
    if not isinstance(node, tuple | list) or not node or isinstance(node[0], tuple | list):
        raise InputError(f"{quoted(repr(tree), 60)} is no tree: a tree is (label, child, …), or in brackets.")


def _parsed(text: str) -> Iterator[Node]:
    """Yield the nodes of a tree in brackets, children first."""
    waiting: list[list[Any]] = []
    closed = False
    for piece in _PIECE.findall(text):
        if closed or (piece != "(" and not waiting):
            break
        if piece == "(":
            waiting.append([])
        elif piece != ")":
            waiting[-1].append((piece,) if waiting[-1] else piece)
        else:
            node = waiting.pop()
            if not node or not isinstance(node[0], str):
                break
            closed = not waiting
            yield node, waiting[-1] if waiting else None
    else:
        if closed:
            return
    raise InputError(f"{quoted(text, 60)} is no tree: (S (NP dog) (VP barks)), say, is one.")
