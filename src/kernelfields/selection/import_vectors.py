"""Import vectors: vertices chosen by what a step of Newton's method gains with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, optional, whole
from ._growing_base import Proposal, Selection, rounds_of
from .atoms import Atoms
from .newton_gains import NewtonGains
from .orders import steepest
from .task import GrowthTask, View


@dataclass(frozen=True)
class ImportVectors(Selection):
    """The vertices with which R falls most, each with all its labels: the import vector machine [zhu2001].

    Every vertex that is not yet selected is tried: its functions k(x_v, ·) [label], for all labels, join
    those selected, all coefficients make one step of Newton's method, and the vertex with the smallest R is
    added. Then all are refitted. The search ends when a step lowers R by a share below ``change``.

    `GreedyCliques` chooses by slopes, `ExactGain` by a search along single functions, others kept as they
    are; here all coefficients answer to the candidate. That finds better vertices and takes far longer: each
    candidate of each step takes as many sweeps over the training set as there are labels.

    Parameters
    ----------
    size, threshold, gap, refit, growth
        As in `Selection`; a vertex counts as many functions as its labels add to the span, L − 1.
    step : int
        Number of vertices added at once.
    change : float
        ε, the relative change of R at which to stop; 0 for none.
    sample : int, optional
        Number of vertices, drawn at random for every step, that are tried; all if not given. Of 59 the best
        is among the best 5 % with a probability of 95 % [smola2000].

    Examples
    --------
    >>> from kernelfields import KernelLogisticRegression
    >>> from kernelfields.selection import ImportVectors
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]], ["A", "A", "B", "B", "A", "A"]
    >>> model = KernelLogisticRegression("rbf", penalty=0.01, basis=ImportVectors(size=2)).fit(X, y)
    >>> model.predict(X).tolist()
    ['A', 'A', 'B', 'B', 'A', 'A']
    >>> model.basis_.shape
    (2, 1)
    """

    step: int = 1
    change: float = field(default=1e-3, kw_only=True)
    sample: int | None = None
    _checks: ClassVar[Mapping[str, Check]] = {**Selection._checks, "sample": optional(whole())}

    def propose(self, view: View, visit: int, random: np.random.RandomState) -> list[Proposal]:
        """Return the vertices, or cliques that have a kernel, with the largest gains."""
        gains, found = NewtonGains(view), []
        for name in view.task.pools:
            for o in self._candidates(view, name, random):
                found.append((name, int(o), gains.of(name, _labellings(view, name, o))))
        chosen = steepest(np.array([gain for _, _, gain in found]), self.steps(view) * self.step)
        result = []
        for name, o, _ in (found[j] for j in chosen):
            functions = _labellings(view, name, o)
            keys = o * view.task.pools[name].width + functions.labels
            result.append(Proposal(name, keys, functions))
        return _joined(result)

    def patience(self, task: GrowthTask) -> int:
        """Return 1, or a number of visits among which any given vertex very likely is."""
        return 1 if self.sample is None else 20 * rounds_of(task, self.sample)

    def _candidates(self, view: View, name: str, random: np.random.RandomState) -> Array:
        """Return observations that are not selected, and steeper than the threshold for some label."""
        width, spent = view.task.pools[name].width, view.state.spent[name]
        observations = np.setdiff1d(view.task.pools[name].seen, spent // width)
        some = None if self.sample is None else self.steps(view) * self.sample
        if some is not None and some < len(observations):
            observations = np.sort(random.choice(observations, some, replace=False))
        if not len(observations):
            return observations
        slopes = np.abs(view.slopes(name, observations)).max(axis=1)
        return observations[slopes > self.threshold]


def _labellings(view: View, name: str, observation: int) -> Atoms:
    """Return the functions of an observation with every label."""
    labels = np.arange(view.task.pools[name].width)
    return Atoms.single(np.full(len(labels), observation), labels)


def _joined(proposals: list[Proposal]) -> list[Proposal]:
    """Return one proposal for every pool."""
    result: dict[str, Proposal] = {}
    for name, keys, functions in proposals:
        before = result.get(name)
        if before is not None:
            keys = np.concatenate([before.keys, keys])
            functions = before.functions.then(functions)
        result[name] = Proposal(name, keys, functions)
    return list(result.values())
