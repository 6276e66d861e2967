"""How well functions selected so far do on held-out sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..data.labels import UNOBSERVED
from ..fitting.held_out import HeldOutSet
from ..gram import KernelBlocks
from ..objective import Term
from ..selection import GrowthState, GrowthTask
from ..structures import Scores


class SelectionHeldOut:
    """Log-likelihood and error of held-out labellings; kernel values with the basis are kept.

    Parameters
    ----------
    task : GrowthTask
        What is being minimised.
    observations : observations
        Those held out.
    held_out : HeldOutSet
        Their sequences and labels.
    free : list of Term
        The scores of labels alone, on them.
    offset : scores, optional
        What is not learnt.
    """

    def __init__(
        self,
        task: GrowthTask,
        observations: Any,
        held_out: HeldOutSet,
        free: list[Term],
        offset: Scores | None,
    ) -> None:
        self.task = task
        self.observations = observations
        self.chain, self.labels, self.loss = held_out.chain, held_out.labels, held_out.loss
        self.free = free
        self.offset = offset
        self._rows: dict[str, list[Array]] = {name: [] for name in task.pools}

    def judge(self, state: GrowthState) -> tuple[float, float]:
        """Return the log-likelihood, and the share of labels that are wrong, decoded one by one."""
        theta = self.scores(state)
        guess = self.chain.marginals(theta).parts["node"].argmax(axis=1)
        observed = self.labels != UNOBSERVED
        return -self.loss.at(theta).value, float(np.mean(guess[observed] != self.labels[observed]))

    def scores(self, state: GrowthState) -> dict[str, Array]:
        """θ of the held-out sequences."""
        theta = {clique: np.zeros(shape) for clique, shape in self.chain.shapes.items()}
        for clique, values in ({} if self.offset is None else self.offset).items():
            theta[clique] += values
        for name, grown in state.grown.items():
            pool, functions = grown.pool, grown.functions()
            coefficients = functions.coefficients(state.parts[name])
            scores = self._times(name, state, functions.table(coefficients))
            seen = scores if pool.clique == "node" else scores[self.chain.edge_tails]
            theta[pool.clique] += seen.reshape(theta[pool.clique].shape)
            if pool.share:
                theta["edge"] += functions.pair_scores(coefficients, self.chain.n_labels)
        for term in self.free:
            term.space.add_scores(state.parts[term.name], theta[term.space.clique])
        return theta

    def _times(self, name: str, state: GrowthState, table: Array) -> Array:
        """Kernel values with the basis, those of its new members computed now, times coefficients."""
        grown, rows = state.grown[name], self._rows[name]
        known = sum(len(some) for some in rows)
        if known < len(grown.basis):
            new = grown.pool.observations[grown.basis[known:]]
            blocks = KernelBlocks(grown.pool.kernel, new, self.observations, grown.values.dtype)
            values = np.empty(blocks.shape, grown.values.dtype)
            blocks.fill(values, 0, 0)
            rows.append(values)
            while len(rows) > 1 and len(rows[-2]) <= 2 * len(rows[-1]):  # few blocks, each copied seldom
                rows[-2:] = [np.concatenate(rows[-2:])]
        result, start = np.zeros((self.chain.n_vertices, table.shape[1])), 0
        for some in rows:
            part = table[start : start + len(some)].astype(some.dtype)
            result += some[: len(part)].T @ part
            start += len(some)
        return result
