"""How well functions selected so far do on held-out sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..data.labels import UNOBSERVED
from ..data.training import Training
from ..fitting.held_out import HeldOutSet
from ..gram import KernelBlocks
from ..selection import GrowthState, GrowthTask
from .model import KnownScores, Model
from .parts import BoundParts
from .scorers import fuse_scorers


class SelectionHeldOut:
    """Log-likelihood and error of held-out labellings; kernel values with the basis are kept.

    Parameters
    ----------
    task : GrowthTask
        What is being minimised.
    observations : observations
        Those held out.
    training : Training
        What is learnt from.
    held_out : HeldOutSet
        What is not.
    fixed : tuple of KnownScores
        Their scores that are not learnt.
    others : BoundParts
        The parts that look at labels alone.
    """

    def __init__(
        self,
        task: GrowthTask,
        observations: Any,
        training: Training,
        held_out: HeldOutSet,
        fixed: tuple[KnownScores, ...],
        others: BoundParts,
    ) -> None:
        self.task = task
        self.observations = observations
        self.training, self.held_out = training, held_out
        self.fixed, self.others = fixed, others
        self._rows: dict[str, list[Array]] = {name: [] for name in task.pools}

    def judge(self, state: GrowthState) -> tuple[float, float]:
        """Return the log-likelihood, and the share of labels that are wrong, decoded one by one."""
        chain, labels = self.held_out.chain, self.held_out.labels
        theta = self.model(state).scores(self.held_out.inputs, chain).scores
        guess = chain.marginals(theta).parts["node"].argmax(axis=1)
        observed = labels != UNOBSERVED
        return -self.held_out.loss.at(theta).value, float(np.mean(guess[observed] != labels[observed]))

    def model(self, state: GrowthState) -> Model:
        """Return the model of what is selected so far, on the held-out data."""
        chain, scorers = self.held_out.chain, list(self.fixed)
        for name, grown in state.grown.items():
            pool, functions = grown.pool, grown.functions()
            coefficients = functions.coefficients(state.parts[name])
            scores = self._times(name, state, functions.table(coefficients))
            seen = scores if pool.clique == "node" else scores[chain.edge_tails]
            scorers.append(KnownScores({pool.clique: seen.reshape(chain.shapes[pool.clique])}))
            if pool.share:
                scorers.append(KnownScores({"edge": functions.pair_scores(coefficients, chain.n_labels)}))
        labels = fuse_scorers(self.others.scorers_of(self.task.free, state.parts), chain.n_labels)
        return Model(self.training.structure, self.training.encoded.classes, (*scorers, *labels))

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
        result, start = np.zeros((self.held_out.chain.n_vertices, table.shape[1])), 0
        for some in rows:
            part = table[start : start + len(some)].astype(some.dtype)
            result += some[: len(part)].T @ part
            start += len(some)
        return result
