"""Greedy selection of labelled cliques."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, optional, require_flag, whole
from ._growing_base import Proposal, Selection, fresh, rivals
from .atoms import Atoms
from .criteria import Criterion, FunctionalGradient
from .orders import steepest
from .pool import Pool
from .task import GrowthTask, View


@dataclass(frozen=True)
class GreedyCliques(Selection):
    """Functions k(x_c, ·) [label] of single labelled cliques, the best of all first [lafferty2004].

    Candidates are the vertices of the training set, and also its edges if the model has a kernel on edges;
    otherwise label pairs have free scores. With several kernels the candidates of each are visited in turn,
    or each gives its best ones in every step.
    All active coefficients are refitted after every step.

    Parameters
    ----------
    size, step, threshold, gap, refit
        As in `Selection`.
    by : Criterion
        How candidates are judged: `FunctionalGradient`, the paper's choice and the cheapest; `GapShare`;
        `GainBound`; or `ExactGain`, the paper's alternative.
    every_labelling : bool
        Whether a chosen clique is added with all its labellings; each counts as a function.
    seen_only : bool
        Whether candidates are limited to labellings that occur in the training set.
    each_kernel : bool
        Whether every step adds the ``step`` best candidates of each kernel, that on edges too, as the paper
        does with a graph kernel and an RBF kernel. Otherwise kernels on vertices are visited in turn, and the
        candidates of the kernel on edges compete with those of the kernel visited.
    sample : int, optional
        Number of observations, drawn at random for every step, that candidates come from; all if not given.
        Each takes N kernel values per step, which are not stored.
    """

    by: Criterion = field(default_factory=FunctionalGradient)
    every_labelling: bool = False
    seen_only: bool = False
    each_kernel: bool = False
    sample: int | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        **Selection._checks,
        "every_labelling": require_flag,
        "seen_only": require_flag,
        "each_kernel": require_flag,
        "sample": optional(whole()),
    }

    def propose(self, view: View, visit: int, random: np.random.RandomState) -> list[Proposal]:
        """Return the best candidates of each kernel, or of one kernel on vertices and that on edges."""
        if self.each_kernel:
            return [one for name in view.task.pools for one in self._best(view, [name], random)]
        return self._best(view, _in_turn(view.task, visit), random)

    def _best(self, view: View, names: list[str], random: np.random.RandomState) -> list[Proposal]:
        """Return the best candidates of some kernels, which compete."""
        judged = [self._judged(view, name, random) for name in names]
        merits = np.concatenate([merit for _, _, merit in judged])
        groups = [_rivals(view.task.pools[name], k, keys) for k, (name, keys, _) in enumerate(judged)]
        chosen = steepest(merits, self.steps(view) * self.step, np.concatenate(groups))
        ends = np.cumsum([0, *(len(keys) for _, keys, _ in judged)])
        result = []
        for k, (name, keys, _) in enumerate(judged):
            mine = keys[chosen[(chosen >= ends[k]) & (chosen < ends[k + 1])] - ends[k]]
            if self.every_labelling and len(mine):
                mine = self._completed(view, name, mine)
            if len(mine):
                result.append(Proposal(name, mine, _functions(mine, view.task.pools[name].width)))
        return result

    def patience(self, task: GrowthTask) -> int:
        """Return the number of visits that see all kernels, times more if candidates are drawn at random."""
        pools = list(task.pools.values())
        rounds = 1 if self.sample is None else 20 * max(1, -(-pools[0].size // self.sample))
        return rounds if self.each_kernel else rounds * len(pools)

    def _judged(self, view: View, name: str, random: np.random.RandomState) -> tuple[str, Array, Array]:
        """Return the keys o r + label of candidates, and the merit of each."""
        pool = view.task.pools[name]
        observations = np.unique(view.task.looks(pool.clique))
        some = None if self.sample is None else self.steps(view) * self.sample
        if some is not None and some < len(observations):
            observations = np.sort(random.choice(observations, some, replace=False))
        keys = (observations[:, None] * pool.width + np.arange(pool.width)).ravel()
        allowed = fresh(view, name, keys)
        if self.seen_only:
            allowed &= np.isin(keys, seen_keys(view.task, name))
        if not allowed.any():
            return name, keys[:0], np.zeros(0)
        keys = keys[allowed]
        return name, keys, self.by.judge(view, name, _functions(keys, pool.width), self.threshold)

    def _completed(self, view: View, name: str, keys: Array) -> Array:
        """Return all labellings of the cliques of some candidates."""
        width = view.task.pools[name].width
        cliques = np.array(list(dict.fromkeys((keys // width).tolist())), dtype=np.int64)
        every = (cliques[:, None] * width + np.arange(width)).ravel()
        allowed = fresh(view, name, every)
        if self.seen_only:
            allowed &= np.isin(every, seen_keys(view.task, name))
        return every[allowed]


def _in_turn(task: GrowthTask, visit: int) -> list[str]:
    vertices = [name for name, pool in task.pools.items() if pool.clique == "node"]
    edges = [name for name, pool in task.pools.items() if pool.clique == "edge"]
    return [vertices[visit % len(vertices)], *edges]


def _rivals(pool: Pool, number: int, keys: Array) -> Array:
    """Return group numbers; of candidates in one group, one at a time is enough. No two pools share any."""
    alone = keys if pool.clique == "edge" else rivals(*np.divmod(keys, pool.width), pool.width)
    return 2 * alone + number


def _functions(keys: Array, width: int) -> Atoms:
    observations, labels = np.divmod(keys, width)
    return Atoms.single(observations, labels)


def seen_keys(task: GrowthTask, name: str) -> Array:
    """Return the keys of the labelled cliques that occur in the training set."""
    pool, labels = task.pools[name], task.labels.astype(np.int64)
    if pool.clique == "edge":
        tails, heads = labels[task.structure.edge_tails], labels[task.structure.edge_heads]
        known, labels = (tails >= 0) & (heads >= 0), tails * task.structure.n_labels + heads
    else:
        known = labels >= 0
    return np.unique((task.looks(pool.clique) * pool.width + labels)[known])
