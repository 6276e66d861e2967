"""The kernel of common fragments of trees."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..checks import require_flag, require_share
from ..errors import InputError, quoted
from ._base import Kernel
from .observations import Observations, items


class TreeFragments(Kernel):
    """k(s, t) = Σ_u λ^{size(u)} |s|_u |t|_u over fragments u of labelled ordered trees, |s|_u its count in s.

    The tree kernel of [collins2001]. A fragment is a node with descendants such that of every node either
    all children are in it or none (subset trees); its size is the number of nodes with children in it. Of
    leaves there are no fragments. If complete, only fragments that go down to the leaves count (subtrees
    [vishwanathan2002]). Observations are trees (label, child, …), as `io.read_brackets` gives them, whose
    leaves are words; or text in brackets. Values grow exponentially with trees: take λ well below 1 and
    ``Normalized(TreeFragments())``. Not universal.

    Let Δ(m, n) add up the fragments that nodes m of s and n of t are both the root of: 0 if their labels or
    those of their children differ, else λ Π_j (1 + Δ(m_j, n_j)) over children that are not leaves, without
    the 1 if complete. Then k = Σ_{m, n} Δ(m, n). Equal subtrees, of one tree or of several, are looked at
    once, and only pairs of nodes whose children agree.

    Parameters
    ----------
    decay : float
        0 < λ ≤ 1.
    complete : bool
        Whether only complete subtrees count.

    Examples
    --------
    >>> trees = ["(NP (D the) (N dog))", "(NP (D a) (N dog))"]
    >>> TreeFragments(decay=1.0)(trees)  # (N dog), (NP D N), (NP D (N dog)) in both
    array([[6., 3.],
           [3., 6.]])
    >>> TreeFragments(decay=1.0, complete=True)(trees)  # (N dog) only
    array([[3., 1.],
           [1., 3.]])
    """

    def __init__(self, decay: float = 0.4, complete: bool = False) -> None:
        self.decay = decay
        self.complete = complete

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return k(x_i, y_j), computed for one x and all y at a time."""
        subtrees = Subtrees()
        right = subtrees.counts(Y)
        common = _CommonFragments(self, subtrees)
        matrix = subtrees.matrix(right)
        left = right if Y is X else subtrees.counts(X)
        rows = [matrix @ common.total(*counts) for counts in left]
        return np.stack(rows) if rows else np.empty((0, len(right)))

    def diagonal(self, X: Observations) -> Array:
        """Return k(x_i, x_i)."""
        return np.array([self.block([x], [x])[0, 0] for x in items(X)])


class _CommonFragments:
    """Δ of subtrees with all those numbered so far, which are sorted by what their roots expand to."""

    def __init__(self, kernel: TreeFragments, subtrees: Subtrees) -> None:
        require_flag("complete of TreeFragments", kernel.complete)
        self.decay = require_share("decay of TreeFragments", kernel.decay, zero=False)
        self.least = 0.0 if kernel.complete else 1.0
        self.subtrees = subtrees
        rules = np.array(subtrees.rules, dtype=np.int64)
        self.count = len(rules)
        order = np.argsort(rules, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(rules[order])) + 1) if self.count else []
        self.alike = {subtrees.rules[some[0]]: some for some in parts}
        """Subtrees by what they expand to."""
        self.below = {
            rule: np.array([subtrees.children[n] for n in some], dtype=np.int64).reshape(len(some), -1)
            for rule, some in self.alike.items()
        }
        """Their children, (subtrees, children)."""

    def total(self, own: Array, times: Array) -> Array:
        """Return Σ_s times_s Δ(s, t) for every t; s are all subtrees of a tree, children first."""
        place = {int(number): k for k, number in enumerate(own)}
        values = np.zeros((len(own), self.count))
        for k, number in enumerate(own):
            rule = self.subtrees.rules[number]
            if rule not in self.alike:
                continue
            found = np.full(len(self.alike[rule]), self.decay)
            for child, theirs in zip(self.subtrees.children[number], self.below[rule].T, strict=True):
                found *= self.least + values[place[child], theirs]
            values[k, self.alike[rule]] = found
        return np.asarray(times @ values)


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
