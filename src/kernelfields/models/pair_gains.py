"""How much a graph of labels can gain at most by one more pair of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.sparse import coo_array

from ..arrays import Array
from ..objective import Problem
from ..structures import Factors

FARTHEST = 40.0
"""Log odds ratios beyond ± this are as good as certain."""
SIGNS = np.array([[1.0, -1.0], [-1.0, 1.0]])
"""What a pair table changes by, its margins kept."""


class Coupled(NamedTuple):
    """Distributions of one pair of labels, with the margins that they have now."""

    change: Array
    """c, (n,): p(1, 1) less what it was."""
    divergence: float
    """Σ_i w_i KL(r_i ‖ p_i)."""
    tables: Array
    """r, (n, 2, 2)."""


class LabelPairGains:
    """What each pair of labels that a graph of labels does not join can gain, at most.

    A model f, optimal in its own spaces, has distributions p_i over the labels of row i. Adding the space
    of a pair (k, m) of labels, four scores with the penalty λ, cannot lower the objective by more than

        Σ_i w_i KL(q_i ‖ p_i) + ‖M(q)‖²/(2λ) + ½‖δ(q)‖²

    whatever the distributions q_i are. M(q) = Σ_i w_i (q_i(y_k, y_m) − observed), a table, and δ(q) is the
    representer of what the expected parts of the present model change by when q takes the place of p.

    *Proof.* By duality the extended model has min R = max_q Σ_i w_i H(q_i) − ½‖a(q)‖² − ‖M(q)‖²/(2λ), a the
    representer of expected minus observed parts in the old spaces. There a(q) = a(p) + δ, and a(p) = −f since
    f is optimal: −½‖a(q)‖² = −½‖f‖² + ⟨f, δ⟩ − ½‖δ‖². From log p_i = ⟨θ, parts⟩ − g follows Σ_i w_i H(q_i) =
    Σ_i w_i H(p_i) − ⟨f, δ⟩ − Σ_i w_i KL(q_i ‖ p_i). The terms ⟨f, δ⟩ cancel; Σ_i w_i H(p_i) − ½‖f‖² is R(f).
    If f is not quite optimal, R(f) is above its own dual value by at most its gap, and a(p) = ρ − f with
    ‖ρ‖² ≤ 2·gap: the bound is one up to gap + √(2·gap)·‖δ‖. Norms among the penalties do no harm: the
    conjugate of what is strongly convex is smooth, and −½‖δ‖² still bounds what is left of it.

    q = p is the bound ‖∇R‖²/(2λ) of [altun2004exp, Cor. 10]. With many rows it says little: it does not know
    that distributions are hard to move. Here q_i is p_i with other odds of the pair, log odds ratio + h, and
    the margins of both labels as they were. The first two terms are then smallest where h = −⟨M, S⟩/λ,
    S = ((1, −1), (−1, 1)), an equation with one unknown; and if nothing joins k to m so far, not even
    through other labels, nothing else changes: δ = 0. Otherwise one sweep over the extended graph says
    what δ is, and the bound is that of the best mixture (1 − t)·p + t·q, at most a parabola in t.

    Bounds of several pairs add up, as bounds of what they gain together, if the pairs join parts of the graph
    that nothing joins so far and make no cycle of them: p_i with the new odds of all pairs at once
    still has the margins of every part.

    Parameters
    ----------
    batch : GraphBatch
        Rows of K labels, 2K of them in all, of which vertex k has 2k and 2k + 1, that sum over labellings
        and differentiate their marginals.
    scores : scores
        θ of the model on them.
    labels : (n K,) array
        Which labels were observed.
    pairs : list of two numbers
        Which labels the graph joins.
    gap : float
        How far R(f) can be from its optimum.
    penalty : float
        λ of pair tables.
    problem : Problem, optional
        The objective of the model, for the norm of δ; without it, labels that are joined already have the
        bound of q = p.
    weights : (n,) array, optional
        w.
    """

    def __init__(
        self,
        batch: Any,
        scores: dict[str, Array],
        labels: Array,
        pairs: Any,
        *,
        gap: float,
        penalty: float,
        problem: Problem | None = None,
        weights: Array | None = None,
    ) -> None:
        n, K = batch.n_instances, batch.n_labels // 2
        self.batch, self.scores, self.gap, self.penalty, self.problem = batch, scores, gap, penalty, problem
        self.weights = np.ones(n) if weights is None else weights
        self.observed = (labels.reshape(n, K) - 2 * np.arange(K)).astype(np.float64)
        self.node = batch.marginals(scores).parts["node"]
        self.margins = self._ones(self.node)
        self.component = components(pairs, K)
        self._covariances: dict[int, Array] = {}
        self._expected: dict[str, Array] | None = None

    def bound(self, k: int, m: int) -> float:
        """Return the most that the pair (k, m) can gain, but for the gap."""
        table = self._table(k, m)
        start = self._mismatch(k, m, table)
        plain = float((start**2).sum()) / (2 * self.penalty)
        coupled = self._coupled(k, m, table)
        moved = start + float(self.weights @ coupled.change) * SIGNS
        if self.component[k] != self.component[m]:
            return min(plain, coupled.divergence + float((moved**2).sum()) / (2 * self.penalty))
        extended = self._extended(k, m)  # refused where it is too large
        if self.problem is None:
            return plain
        side = self._side_effect(extended, k, m, coupled.tables, table)
        return min(plain, self._mixed(start, moved, coupled, side))

    def _mixed(self, start: Array, moved: Array, coupled: Coupled, side: float) -> float:
        """Return the least over t of the bound of a mixture; ``side`` is ‖δ‖."""
        change = moved - start
        square = side**2 + float((change**2).sum()) / self.penalty
        slope = (
            coupled.divergence + np.sqrt(2 * self.gap) * side + float((start * change).sum()) / self.penalty
        )
        t = min(max(-slope / square, 0.0), 1.0) if square > 0 else 0.0
        return float((start**2).sum()) / (2 * self.penalty) + t * slope + 0.5 * t**2 * square

    def _extended(self, k: int, m: int) -> Any:
        """Return the batch with a clique more in every row, which has scores of its own there."""
        batch = self.batch
        members = batch.offsets[:-1, None] + np.array([k, m])
        return batch.with_factors({"pair": Factors(members, shared=False)})

    def _side_effect(self, extended: Any, k: int, m: int, after: Array, before: Array) -> float:
        """Return ‖δ‖, by a sweep over the graph with the pair in it."""
        assert self.problem is not None
        L = self.batch.n_labels
        scores = np.zeros((self.batch.n_instances, L, L))
        with np.errstate(divide="ignore", invalid="ignore"):
            tilt = np.log(after) - np.log(before)
        scores[:, 2 * k : 2 * k + 2, 2 * m : 2 * m + 2] = np.where(before > 0, tilt, 0.0)
        parts = extended.marginals({**self.scores, "pair": scores}, self.weights).parts
        if self._expected is None:
            self._expected = self.batch.marginals(self.scores, self.weights).parts
        delta = self.problem.representer({name: parts[name] - now for name, now in self._expected.items()})
        return float(np.sqrt(max(self.problem.inner(delta, delta), 0.0)))

    def _coupled(self, k: int, m: int, table: Array) -> Coupled:
        """Return the pair with the log odds ratio + h that makes the first two terms smallest."""
        start = float((self._mismatch(k, m, table) * SIGNS).sum())

        def excess(h: float) -> float:
            return h + (start + 4 * float(self.weights @ _shifted(table, h))) / self.penalty

        far = float(np.clip(-start / self.penalty, -FARTHEST, FARTHEST))
        h = (
            far
            if excess(0.0) * excess(far) >= 0
            else scipy.optimize.brentq(excess, min(far, 0.0), max(far, 0.0), xtol=1e-9)
        )
        change = _shifted(table, float(h))
        tables = np.maximum(table + change[:, None, None] * SIGNS, 0.0)
        return Coupled(
            change, float(self.weights @ scipy.special.rel_entr(tables, table).sum(axis=(1, 2))), tables
        )

    def _table(self, k: int, m: int) -> Array:
        """Return p_i(y_k, y_m), (n, 2, 2)."""
        one, other = self.margins[:, k], self.margins[:, m]
        both = one * other
        if self.component[k] == self.component[m]:
            both = both + self._covariance(k)[:, m]
        both = np.clip(both, np.maximum(0.0, one + other - 1.0), np.minimum(one, other))
        return np.stack([1 - one - other + both, other - both, one - both, both], axis=1).reshape(-1, 2, 2)

    def _covariance(self, k: int) -> Array:
        """Return Cov_i(y_k, y_m) for all m: how all margins change with the score of label k."""
        if k not in self._covariances:
            node = np.zeros_like(self.node)
            node.reshape(len(self.margins), -1, self.batch.n_labels)[:, k, 2 * k + 1] = 1.0
            along = {name: np.zeros_like(values) for name, values in self.scores.items()}
            self._covariances[k] = self._ones(
                self.batch.covariance(self.scores, {**along, "node": node})["node"]
            )
        return self._covariances[k]

    def _ones(self, node: Array) -> Array:
        """Return what arrays over vertices say about label 1 of each, (n, K)."""
        K = self.batch.n_labels // 2
        return node.reshape(-1, K, 2 * K)[:, np.arange(K), 2 * np.arange(K) + 1].astype(np.float64)

    def _mismatch(self, k: int, m: int, table: Array) -> Array:
        """Return M(p), (2, 2)."""
        one, other = self.observed[:, k], self.observed[:, m]
        seen = np.stack([(1 - one) * (1 - other), (1 - one) * other, one * (1 - other), one * other], axis=1)
        return np.tensordot(self.weights, table - seen.reshape(-1, 2, 2), axes=1)


def _shifted(table: Array, h: float) -> Array:
    """Return by how much p(1, 1) grows if the log odds ratio grows by h, and the margins stay."""
    one, other = table[:, 1].sum(axis=1), table[:, :, 1].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log = np.log(table)
        odds = np.exp(np.clip(log[:, 0, 0] + log[:, 1, 1] - log[:, 0, 1] - log[:, 1, 0] + h, -700.0, 700.0))
        size = 1 + (odds - 1) * (one + other)
        root = np.sqrt(np.maximum(size**2 - 4 * odds * (odds - 1) * one * other, 0.0))
        both = np.where(size > 0, 2 * odds * one * other / (size + root), (root - size) / (2 * (1 - odds)))
    both = np.where(np.isfinite(both), both, table[:, 1, 1])
    return np.clip(both, np.maximum(0.0, one + other - 1.0), np.minimum(one, other)) - table[:, 1, 1]


def components(pairs: Any, n_labels: int) -> Array:
    """Return for every label the number of the part of the graph that it belongs to."""
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    links = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_labels, n_labels))
    return np.asarray(scipy.sparse.csgraph.connected_components(links, directed=False)[1])
