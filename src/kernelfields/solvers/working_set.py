"""The n-slack working-set algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, optional, require_not_negative, whole
from ._base import Monitor, Observer, Reason, Result, Stop
from ._margin_base import BestPoint, BlockDualLike, MarginSolver, Pace
from .simplex_qp import simplex_qp

SWEEPS = 100
"""Sweeps over the blocks at most for one programme over the working set.

Where blocks are nearly parallel, sweeps creep: new planes are then worth more than further sweeps. With 1,000
of them two sequences took 40 s for 55 rounds.
"""

TOGETHER = 500
"""Planes at most that are mixed for all instances jointly where sweeps over the blocks creep."""

SHARE = 0.2
"""Share of the present gap to which a programme over the working set is solved."""


@dataclass(frozen=True)
class WorkingSet(MarginSolver):
    """The n-slack algorithm [tsochantaridis2005, Alg. 1]: a slack variable for every instance.

    Each round searches the largest plane of every instance, in one batch, and adds those that are more
    than ε above the slack, ξ_i = the largest plane of the working set; then it solves the dual over the
    working set, instance by instance with exact steps [chang2013]. Where that creeps, as it does where
    penalties are small and planes of different instances are nearly parallel, it solves it for all
    instances jointly. Ends when nothing was added: then no constraint is violated by more than ε, and R is
    at most Σ_i weight_i ε above its minimum.

    Parameters
    ----------
    epsilon : float, optional
        ε; if not given, the search ends at the certified gap asked for, and adds every plane that is in
        the way of it.
    patience : int
        Rounds without use after which a constraint leaves the working set.
    """

    epsilon: float | None = None
    patience: int = 10
    _checks: ClassVar[Mapping[str, Check]] = {"epsilon": optional(require_not_negative), "patience": whole(0)}

    def maximize(self, dual: BlockDualLike, stop: Stop, observer: Observer | None = None) -> Result:
        """Maximise from where the dual is."""
        if self.epsilon is not None:
            stop = Stop(0.0, 0.0, stop.iterations)
        best, pace = BestPoint(Monitor(dual.problem, stop, observer)), Pace(stop)
        blocks = [_Block(dual, i) for i in range(dual.size)]
        iteration, reason = 0, None
        try:
            while reason is None:
                reached, added, aim = self._round(dual, blocks, stop)
                reason = best.look(iteration, reached)
                if reason is None and added == 0 and self.epsilon is not None:
                    reason = Reason.GAP
                if reason is None and self.epsilon is None and pace.creeps(best.progress):
                    reason = Reason.CREEPING
                if reason is None:
                    iteration += 1
                    _solve(dual, blocks, aim)
                    for block in blocks:
                        block.forget(self.patience)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return best.monitor.result(best.point, reason)

    def _round(self, dual: BlockDualLike, blocks: list[_Block], stop: Stop) -> tuple[Any, int, float]:
        """Add violated planes; how many, and the gap to which the programme is to be solved next."""
        reached = dual.reached(0)
        total = max(float(dual.weights.sum()), np.finfo(float).tiny)
        slack = stop.gap * abs(reached.value) / (2 * total) if self.epsilon is None else self.epsilon
        violation, added, slacks = 0.0, 0, np.zeros(len(blocks))
        for block, plane in zip(blocks, dual.planes(), strict=True):
            scores = dual.scores(block.index)
            slacks[block.index] = largest = block.largest(scores)
            excess = float(plane.level + plane.direction @ scores) - largest
            weight = dual.weights[block.index]
            violation = max(violation, excess / weight if weight > 0 else 0.0)
            if excess > slack * weight:
                block.add(plane)
                added += 1
        reached.violation = violation
        reached.slacks = slacks / np.where(dual.weights > 0, dual.weights, 1.0)
        reached.constraints = sum(len(block.shares) for block in blocks)
        final = (0.5 if self.epsilon is None else 0.1) * slack * total
        # A programme solved far below the present gap is thrown away with the next planes: blocks are
        # coupled, and its last digits took nearly all of the time.
        return reached, added, max(final, SHARE * (reached.value - reached.lower_bound))


class _Block:
    """The planes of one instance in the working set, that of the observed labels first."""

    def __init__(self, dual: BlockDualLike, i: int) -> None:
        self.dual, self.index = dual, i
        mixture = dual.mixtures[i]
        self.levels = np.zeros(1)
        self.directions = np.zeros((1, len(mixture)))
        self.images = np.zeros((1, len(mixture)))
        self.shares = np.ones(1)
        self.idle = np.zeros(1, dtype=int)
        if mixture.any():  # a mixture of planes is one itself
            self._append(float(dual.levels[i]), mixture.copy())
            self.shares = np.array([0.0, 1.0])

    @property
    def gram(self) -> Array:
        """Inner products of the planes."""
        return self.directions @ self.images.T

    def values(self) -> Array:
        """The planes at w."""
        return np.asarray(self.levels + self.directions @ self.dual.scores(self.index))

    def largest(self, scores: Array) -> float:
        """Return the largest plane at some scores, ξ."""
        return float((self.levels + self.directions @ scores).max())

    def add(self, plane: Any) -> None:
        """Take a plane in."""
        self._append(plane.level, plane.direction)

    def _append(self, level: float, direction: Array) -> None:
        self.levels = np.append(self.levels, level)
        self.directions = np.concatenate([self.directions, direction[None]])
        self.images = np.concatenate([self.images, self.dual.images(self.index, direction[None])])
        self.shares = np.append(self.shares, 0.0)
        self.idle = np.append(self.idle, 0)

    def improve(self, least: float) -> float:
        """Maximise over this block; how far it was from its maximum at most."""
        if len(self.shares) == 1:
            return 0.0
        values = self.values()
        gap = float(values.max() - values @ self.shares)
        if gap <= least:
            return gap
        gram = self.gram
        self.mix(simplex_qp(gram, values + gram @ self.shares, self.shares))
        return gap

    def mix(self, shares: Array) -> None:
        """Give the planes other shares, and move the dual with them."""
        change = shares - self.shares
        self.dual.move(self.index, float(change @ self.levels), change @ self.directions)
        self.shares = shares

    def forget(self, patience: int) -> None:
        """Let planes go that were not used for long."""
        self.idle = np.where(self.shares > 0, 0, self.idle + 1)
        kept = self.idle <= patience
        kept[0] = True
        if not kept.all():
            self.levels, self.shares, self.idle = self.levels[kept], self.shares[kept], self.idle[kept]
            self.directions, self.images = self.directions[kept], self.images[kept]


def _solve(dual: BlockDualLike, blocks: list[_Block], aim: float) -> None:
    """Maximise the dual over the working set: sweeps over the blocks until their gaps add up to little."""
    least = 0.1 * aim / max(len(blocks), 1)
    active = blocks
    for _ in range(SWEEPS):
        gaps = np.array([block.improve(least) for block in active])
        if gaps.sum() <= aim:
            if len(active) == len(blocks):
                return
            active = blocks  # look at all of them before it is believed
        else:
            active = [block for block, gap in zip(active, gaps, strict=True) if gap > least] or blocks
    if sum(len(block.shares) for block in blocks) <= TOGETHER:
        _solve_together(dual, blocks, aim)


def _solve_together(dual: BlockDualLike, blocks: list[_Block], aim: float) -> None:
    """Maximise the dual over the working set by one programme."""
    levels, shares = (
        np.concatenate(parts)
        for parts in zip(*((block.levels, block.shares) for block in blocks), strict=True)
    )
    groups = np.repeat(np.arange(len(blocks)), [len(block.shares) for block in blocks])
    gram = dual.gram([block.directions for block in blocks])
    shares = simplex_qp(gram, levels, shares, aim, groups)
    for i, block in enumerate(blocks):
        block.mix(shares[groups == i])
