"""Greedy selection of labelled cliques."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, optional, require_flag, whole
from ..structures import LabelledBatch
from ._growing_base import Proposal, Selection, fresh, rivals, rounds_of
from .atoms import Atoms
from .criteria import Criterion, FunctionalGradient
from .orders import steepest
from .task import GrowthTask, View


@dataclass(frozen=True)
class GreedyCliques(Selection):
    """Functions k(x_c, ·) [label] of single labelled cliques, the best of all first [lafferty2004].

    Candidates are the labelled vertices of the training set, or arcs of parses and other answers, and with
    `KernelScores` among the parts those of their cliques: edges, factors, triples, segments. What has no
    kernel has free scores. All active coefficients are refitted after every step.

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
        Whether every step adds the ``step`` best candidates of each kernel, those on edges too, as the paper
        does with a graph kernel and an RBF kernel. Otherwise kernels on answers are visited in turn, and the
        candidates of all other kernels compete with those of the kernel visited.
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
        """Return the best candidates of each kernel, or of one kernel on answers and all on other cliques."""
        if self.each_kernel:
            return [one for name in view.task.pools for one in self._best(view, [name], random)]
        return self._best(view, _in_turn(view.task, visit), random)

    def _best(self, view: View, names: list[str], random: np.random.RandomState) -> list[Proposal]:
        """Return the best candidates of some kernels, which compete."""
        judged = [self._judge_candidates(view, name, random) for name in names]
        merits = np.concatenate([merit for _, _, merit in judged])
        groups = [_rivals(view, name, keys) * len(names) + k for k, (name, keys, _) in enumerate(judged)]
        chosen = steepest(merits, self.steps(view) * self.step, np.concatenate(groups))
        ends = np.cumsum([0, *(len(keys) for _, keys, _ in judged)])
        result = []
        for k, (name, keys, _) in enumerate(judged):
            mine = keys[chosen[(chosen >= ends[k]) & (chosen < ends[k + 1])] - ends[k]]
            if self.every_labelling and len(mine):
                mine = self._add_labellings(view, name, mine)
            if len(mine):
                result.append(Proposal(name, mine, _functions(mine, view.task.pools[name].width)))
        return result

    def patience(self, task: GrowthTask) -> int:
        """Return the number of visits that see all kernels, times more if candidates are drawn at random."""
        rounds = 1 if self.sample is None else 20 * rounds_of(task, self.sample)
        return rounds if self.each_kernel else rounds * len(task.pools)

    def _judge_candidates(
        self, view: View, name: str, random: np.random.RandomState
    ) -> tuple[str, Array, Array]:
        """Return the keys o r + label of candidates, and the merit of each."""
        pool = view.task.pools[name]
        observations = np.unique(pool.seen)
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

    def _add_labellings(self, view: View, name: str, keys: Array) -> Array:
        """Return all labellings of the cliques of some candidates."""
        width = view.task.pools[name].width
        cliques = np.array(list(dict.fromkeys((keys // width).tolist())), dtype=np.int64)
        every = (cliques[:, None] * width + np.arange(width)).ravel()
        allowed = fresh(view, name, every)
        if self.seen_only:
            allowed &= np.isin(every, seen_keys(view.task, name))
        return every[allowed]


def _in_turn(task: GrowthTask, visit: int) -> list[str]:
    """Return one of the pools of functions of answers, and all others."""
    answers = [name for name, pool in task.pools.items() if pool.clique == task.structure.answer]
    return [answers[visit % len(answers)], *(name for name in task.pools if name not in answers)]


def _rivals(view: View, name: str, keys: Array) -> Array:
    """Return group numbers; of candidates in one group, one at a time is enough."""
    pool = view.task.pools[name]
    return rivals(*np.divmod(keys, pool.width), pool.width) if pool.centring else keys


def _functions(keys: Array, width: int) -> Atoms:
    observations, labels = np.divmod(keys, width)
    return Atoms.single(observations, labels)


def seen_keys(task: GrowthTask, name: str) -> Array:
    """Return the keys of the labelled cliques that occur in the training set.

    Cliques with a label that was not observed are left out; where a clique has more members than labels, as
    runs have, so are all those of its sequence.
    """
    pool, batch, outputs = task.pools[name], task.structure, task.outputs
    cliques, missing = batch.cliques[pool.clique], np.zeros(len(outputs), dtype=bool)
    if isinstance(batch, LabelledBatch):
        missing = outputs < 0
    there = batch.parts(np.where(missing, 0, outputs))[pool.clique].reshape(cliques.count, pool.width) > 0
    if missing.any() and len(cliques.values) == cliques.members.shape[1]:
        there[missing[cliques.members].any(axis=1)] = False
    elif missing.any():
        before = np.concatenate([[0], np.cumsum(missing)])[batch.offsets]
        there[np.repeat(np.diff(before) > 0, np.diff(cliques.offsets))] = False
    occurring, values = np.nonzero(there)
    return np.unique(pool.seen[occurring] * pool.width + values)
