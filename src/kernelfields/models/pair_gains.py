"""How much a graph of labels can gain at most by one more pair of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from ..arrays import Array
from ..errors import TableSizeError
from ..structures import EdgeBatch, Factors
from ..structures.graph_links import engine_of

FARTHEST = 40.0
"""Log odds ratios beyond ± this are as good as certain."""
MOST_BETWEEN = 6
"""Labels between two others that are summed over by themselves: 2^6 tables for every row."""
SIGNS = np.array([[1.0, -1.0], [-1.0, 1.0]])
"""What a pair table changes by, its margins kept."""

Pair = tuple[int, int]


class LabelPairGains:
    """What each pair of labels that a graph of labels does not join can gain, at most.

    A model f, optimal in its own spaces, has distributions p_i over the labels of row i. Adding the space
    of a pair (k, m) of labels, four scores with the penalty λ, cannot lower the objective by more than

        Σ_i w_i KL(q_i ‖ p_i) + ‖M(q)‖²/(2λ),        M(q) = Σ_i w_i (q_i(y_k, y_m) − observed),

    for any distributions q_i with the margins that p_i has on the cliques of the model.

    *Proof.* By duality the extended model has min R = max_q Σ_i w_i H(q_i) − ½‖a(q)‖² − ‖M(q)‖²/(2λ), a the
    representer of expected minus observed parts in the old spaces. There q expects what p does: a(q) = a(p),
    and a(p) = −f since f is optimal. From log p_i = ⟨θ, parts⟩ − g, linear in the parts, follows
    Σ_i w_i H(q_i) = Σ_i w_i H(p_i) − Σ_i w_i KL(q_i ‖ p_i); and Σ_i w_i H(p_i) − ½‖f‖² = R(f). If f is not
    quite optimal, R(f) is above that by at most its gap, which is to be added.

    q = p is the bound ‖∇R‖²/(2λ) of [altun2004exp, Cor. 10]. With many rows it says little: it does not know
    that distributions are hard to move. Here labels Z are found that separate k from m in the graph, so that
    both are independent given Z; and q_i is p_i with other odds of the pair, log odds ratio h for every value
    of Z, the margins of both labels given Z as they were. All cliques lie on one side of Z or the other,
    and keep their margins. The bound is smallest where h = −⟨M, S⟩/λ, S = ((1, −1), (−1, 1)), an equation
    with one unknown. Labels that nothing joins have no Z.

    Bounds of several pairs add up, as bounds of what they gain together, if the pairs join parts of the graph
    that nothing joins so far and make no cycle of them: p_i with the new odds of all pairs at once
    still has the margins of every part.

    Parameters
    ----------
    batch : EdgeBatch
        Rows of K labels, 2K of them in all, of which vertex k has 2k and 2k + 1.
    inference : "exact" or settings of another way
        How to sum over labellings, exactly.
    scores : scores
        θ of the model on them.
    labels : (n K,) array
        Which labels were observed.
    pairs : list of two numbers
        Which labels the graph joins.
    penalty : float
        λ of pair tables.
    weights : (n,) array, optional
        w.
    """

    def __init__(
        self,
        batch: EdgeBatch,
        inference: Any,
        scores: dict[str, Array],
        labels: Array,
        pairs: Sequence[Pair],
        *,
        penalty: float,
        weights: Array | None = None,
    ) -> None:
        n, K = batch.n_instances, batch.n_labels // 2
        self._offsets, self._edges = batch.offsets, batch.cliques["edge"].members
        self._engine = engine_of(inference)
        self._neighbours = neighbours(pairs, K)
        self._penalty = penalty
        self._weights = np.ones(n) if weights is None else weights
        self._observed = labels.reshape(n, K) - 2 * np.arange(K)
        own = scores["node"].reshape(n, K, K, 2)[:, np.arange(K), np.arange(K)]
        tables = [scores["edge"][2 * a : 2 * a + 2, 2 * b : 2 * b + 2] for a, b in pairs]
        self._scores = {
            "node": np.ascontiguousarray(own.reshape(-1, 2), dtype=np.float64),
            "edge": np.tile(np.array(tables, dtype=np.float64).reshape(-1, 2, 2), (n, 1, 1)),
        }
        self._margins = self._joint([]).reshape(n, K, 2)

    def bound(self, k: int, m: int) -> float:
        """Return the most that the pair (k, m) can gain, but for the gap; too large a graph is refused."""
        between = separator(self._neighbours, k, m)
        if not between:
            return self._least(
                k, m, self._margins[:, k, :, None] * self._margins[:, m, None, :], self._weights
            )
        pair = self._joint([k, m])  # refused where the extended graph is too large
        plain = self._plain(self._mismatch(k, m, pair, self._weights))
        if len(between) > MOST_BETWEEN:
            return plain
        try:
            joint = self._joint([k, m, *between])
        except TableSizeError:
            return plain
        tables = np.moveaxis(joint.reshape(len(joint), 2, 2, -1), 3, 1).reshape(-1, 2, 2)
        mass = tables.sum(axis=(1, 2))
        weights = np.repeat(self._weights, 2 ** len(between)) * mass
        likely = mass > np.finfo(np.float64).tiny
        return self._least(k, m, tables[likely] / mass[likely, None, None], weights[likely])

    def _joint(self, members: Sequence[int]) -> Array:
        """Return the distribution of some labels of every row, (n, 2, …, 2); without any, of each alone."""
        factors = {"joint": Factors(self._offsets[:-1, None] + np.array(members), shared=False)}
        batch = self._engine.on(
            self._offsets, self._edges, 2, shared_edges=False, factors=factors if members else {}
        )
        zeros = {"joint": np.zeros(batch.shapes["joint"])} if members else {}
        parts = batch.marginals({**self._scores, **zeros}).parts  # type: ignore[attr-defined]
        return np.asarray(parts["joint" if members else "node"])

    def _least(self, k: int, m: int, tables: Array, weights: Array) -> float:
        """Return the bound with the best h, for tables of the pair, (…, 2, 2), that count so many times."""
        start = self._mismatch(k, m, tables, weights)
        slope = float((start * SIGNS).sum())

        def excess(h: float) -> float:
            return h + (slope + 4 * float(weights @ shifted(tables, h))) / self._penalty

        far = float(np.clip(-slope / self._penalty, -FARTHEST, FARTHEST))
        ends = min(far, 0.0), max(far, 0.0)
        h = far if excess(0.0) * excess(far) >= 0 else float(scipy.optimize.brentq(excess, *ends, xtol=1e-9))
        change = shifted(tables, h)
        after = np.maximum(tables + change[:, None, None] * SIGNS, 0.0)
        divergence = float(weights @ scipy.special.rel_entr(after, tables).sum(axis=(1, 2)))
        return min(self._plain(start), divergence + self._plain(start + float(weights @ change) * SIGNS))

    def _plain(self, mismatch: Array) -> float:
        """‖M‖²/(2λ)."""
        return float((mismatch**2).sum()) / (2 * self._penalty)

    def _mismatch(self, k: int, m: int, tables: Array, weights: Array) -> Array:
        """Return M, (2, 2)."""
        seen = np.zeros((2, 2))
        np.add.at(seen, (self._observed[:, k], self._observed[:, m]), self._weights)
        return np.tensordot(weights, tables, axes=1) - seen


def shifted(tables: Array, h: float) -> Array:
    """Return by how much p(1, 1) grows if the log odds ratio grows by h, and the margins stay."""
    one, other = tables[:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log = np.log(tables)
        odds = np.exp(np.clip(log[:, 0, 0] + log[:, 1, 1] - log[:, 0, 1] - log[:, 1, 0] + h, -300.0, 300.0))
        size = 1 + (odds - 1) * (one + other)
        root = np.sqrt(np.maximum(size**2 - 4 * odds * (odds - 1) * one * other, 0.0))
        both = np.where(size > 0, 2 * odds * one * other / (size + root), (root - size) / (2 * (1 - odds)))
    both = np.where(np.isfinite(both), both, tables[:, 1, 1])
    return np.clip(both, np.maximum(0.0, one + other - 1.0), np.minimum(one, other)) - tables[:, 1, 1]


def neighbours(pairs: Sequence[Pair], n_labels: int) -> list[set[int]]:
    """Return the labels that each label is joined to."""
    found: list[set[int]] = [set() for _ in range(n_labels)]
    for a, b in pairs:
        found[a].add(b)
        found[b].add(a)
    return found


def separator(joined: Sequence[set[int]], k: int, m: int) -> list[int]:
    """Return few labels without which nothing leads from k to m, which are not joined themselves.

    Of the neighbours of either, those from which the other can be reached without the rest of them.
    """
    sides = []
    for start, end in ((k, m), (m, k)):
        behind = _reached(joined, end, joined[start] | {start})
        sides.append(sorted(v for v in joined[start] if joined[v] & behind))
    return min(sides, key=len)


def _reached(joined: Sequence[set[int]], start: int, without: set[int]) -> set[int]:
    """Return what can be reached from a label, itself included."""
    found, ahead = {start}, [start]
    while ahead:
        new = joined[ahead.pop()] - found - without
        found |= new
        ahead += new
    return found
