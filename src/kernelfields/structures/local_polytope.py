"""The linear program over the local polytope of one graph."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..errors import InfeasibleError, InputError
from .factor_tables import FactorTables


class PolytopePoint(NamedTuple):
    """The best point μ of a local polytope, and proof of it."""

    node: Array
    """(n, L): μ of the vertices."""
    tables: list[Array]
    """μ of the factors by size, (C, L, L) for pairs, in the order of the instance's factors of that size."""
    bound: float
    """No point has a larger ⟨θ, μ⟩: the value of the dual solution, computed from it exactly."""


class LocalPolytope:
    """max ⟨θ, μ⟩ over distributions on vertices and on factors that agree on what they share.

    The dual has a message m for every label of every member of a factor; whatever the messages,

        Σ_v max_x [θ_v(x) + Σ_f m_fv(x)] + Σ_f max_x [θ_f(x) − Σ_v m_fv(x_v)]

    is at least the best score [wainwright2008graphical, section 8].

    Parameters
    ----------
    tables : FactorTables
        Scores of a batch.
    s : int
        Which instance.
    """

    def __init__(self, tables: FactorTables, s: int) -> None:
        a, b = (int(tables.offsets[k]) for k in (s, s + 1))
        self.node = tables.node[a:b]
        self.vertices, self.labels = self.node.shape
        factors = np.arange(tables.first_factor[s], tables.first_factor[s + 1])
        sizes = np.diff(tables.first_slot)[factors]
        self.groups: list[tuple[Array, Array]] = []
        """For every size of factor: members (C, a), counted within the instance, and scores (C, L^a)."""
        for size in np.unique(sizes).tolist():
            chosen = factors[sizes == size]
            members = tables.member[tables.first_slot[chosen][:, None] + np.arange(size)] - a
            entries = np.arange(self.labels**size)
            self.groups.append((members, tables.tables[tables.table[chosen][:, None] + entries]))

    def solve(self) -> PolytopePoint:
        """Return the best point, by HiGHS."""
        from scipy.optimize import linprog  # 15 MB that few need

        theta = np.concatenate([self.node.ravel(), *(scores.ravel() for _, scores in self.groups)])
        allowed = theta > -np.inf
        found = linprog(
            -np.where(allowed, theta, 0.0),
            A_eq=self._equations,
            b_eq=np.concatenate([np.ones(self.vertices), np.zeros(self._equations.shape[0] - self.vertices)]),
            bounds=np.stack([np.zeros(len(theta)), np.where(allowed, np.inf, 0.0)], axis=1),
            method="highs",
        )
        if found.status == 2:
            raise InfeasibleError("No point of the local polytope is allowed.")
        if found.x is None:
            raise InputError(f"The linear program was not solved: {found.message}")
        cuts = np.cumsum([self.node.size, *(scores.size for _, scores in self.groups)])[:-1]
        node, *rest = np.split(found.x, cuts)
        shapes = [(len(members), *(self.labels,) * members.shape[1]) for members, _ in self.groups]
        return PolytopePoint(
            node.reshape(self.node.shape),
            [mu.reshape(shape) for mu, shape in zip(rest, shapes, strict=True)],
            self.bound(-found.eqlin.marginals[self.vertices :]),
        )

    def feasible(self) -> bool:
        """Whether any point has a score above −inf; where none has, neither has any labelling."""
        try:
            self.solve()
        except InfeasibleError:
            return False
        return True

    def value(self, point: PolytopePoint) -> float:
        """⟨θ, μ⟩."""
        total = _product(self.node, point.node)
        for (_, scores), mu in zip(self.groups, point.tables, strict=True):
            total += _product(scores, mu.reshape(scores.shape))
        return total

    def bound(self, messages: Array) -> float:
        """Return the value of the dual at some messages: one for every label of every member."""
        L, node, total, start = self.labels, self.node.copy(), 0.0, 0
        for members, scores in self.groups:
            count, size = members.shape
            own = messages[start : start + count * size * L].reshape(count, size, L)
            start += count * size * L
            left = scores.reshape(count, *(L,) * size)
            for place in range(size):
                np.add.at(node, members[:, place], own[:, place])
                left = left - own[:, place].reshape(count, *(L if q == place else 1 for q in range(size)))
            total += float(left.reshape(count, -1).max(axis=1).sum())
        return total + float(node.max(axis=1).sum())

    @cached_property
    def _equations(self) -> sparse.csr_matrix:
        """Σ_x μ_v(x) = 1; then for each label of each member what factor and vertex say of it is the same."""
        L, n = self.labels, self.vertices
        rows, columns, values = [np.repeat(np.arange(n), L)], [np.arange(n * L)], [np.ones(n * L)]
        row, column = n, n * L
        for members, scores in self.groups:
            count, size = members.shape
            entry = np.arange(L**size)
            for place in range(size):
                label = entry // L ** (size - 1 - place) % L
                first = row + (np.arange(count) * size + place) * L
                rows += [(first[:, None] + label).ravel(), (first[:, None] + np.arange(L)).ravel()]
                columns += [
                    (column + np.arange(count)[:, None] * L**size + entry).ravel(),
                    (members[:, place, None] * L + np.arange(L)).ravel(),
                ]
                values += [np.ones(count * L**size), np.full(count * L, -1.0)]
            row, column = row + count * size * L, column + scores.size
        placed = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return sparse.csr_matrix(placed, shape=(row, column))


def _product(theta: Array, mu: Array) -> float:
    """⟨θ, μ⟩, where μ is zero for what is forbidden."""
    return float(np.sum(np.where(theta > -np.inf, theta, 0.0) * mu))
