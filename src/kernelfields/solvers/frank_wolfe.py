"""Block-coordinate Frank-Wolfe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, require_flag, whole
from ._base import Monitor, Observer, Reason, Result, Stop
from ._margin_base import BestPoint, BlockDualLike, MarginSolver, Pace
from .simplex_qp import simplex_qp

ENOUGH = 1e-4
"""Share of its loss by which an instance must be short of its maximum over kept planes to be moved."""


@dataclass(frozen=True)
class BlockFrankWolfe(MarginSolver):
    """Block-coordinate Frank-Wolfe [lacostejulien2013, Alg. 4] with a cache of planes [shah2015].

    Visits the instances in random order. At each, the largest plane at the present w is searched for, and
    the mixture of the instance goes towards it, as far as is best: the step that maximises the dual is
    known in closed form, there is nothing to tune. With a cache, the mixture becomes the best of all
    mixtures of itself and the planes kept from earlier searches, and between two passes with searches
    there are cheaper ones without. Every pass with searches ends with the duality gap; where a hundred of
    them show that the limit will come first, the search ends.

    Parameters
    ----------
    averaging : bool
        Whether a weighted average of the points after every pass, weight in proportion to the number of
        the pass, is looked at as well: both are primal and dual points, the better value counts.
    cached_passes : int
        Passes over kept planes for each pass that searches.
    memory : int
        Planes kept for each instance, those longest unused leave first; 0 for the plain algorithm.
    seed : int
        Of the order.
    """

    averaging: bool = True
    cached_passes: int = 3
    memory: int = 10
    seed: int = 0
    _checks: ClassVar[Mapping[str, Check]] = {
        "averaging": require_flag,
        "cached_passes": whole(0),
        "memory": whole(0),
        "seed": whole(0, 2**63 - 1),
    }

    def maximize(self, dual: BlockDualLike, stop: Stop, observer: Observer | None = None) -> Result:
        """Maximise from where the dual is."""
        best, pace = BestPoint(Monitor(dual.problem, stop, observer)), Pace(stop)
        random = np.random.default_rng(self.seed)
        caches = [_Cache(dual, i, self.memory) for i in range(dual.size)]
        average = IterateAverage()
        iteration = 0
        reason = best.look(iteration, dual.reached(0))
        try:
            while reason is None:
                for i in random.permutation(dual.size).tolist():
                    self._search(dual, i, caches[i])
                for _ in range(self.cached_passes if self.memory else 0):
                    for i in random.permutation(dual.size).tolist():
                        caches[i].improve(dual.scores(i))
                iteration += 1
                now = dual.reached(sum(len(cache.levels) for cache in caches))
                if self.averaging:
                    mean = average.with_next(now)
                    best.point = mean if best.point.value > mean.value else best.point
                reason = best.look(iteration, now)
                if reason is None and pace.creeps(best.progress):
                    reason = Reason.CREEPING
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return best.monitor.result(best.point, reason)

    def _search(self, dual: BlockDualLike, i: int, cache: _Cache) -> None:
        """Go towards the largest plane, or towards the best mixture of all that are kept."""
        scores = dual.scores(i)
        plane = dual.plane(i, scores)
        if self.memory == 0:
            towards(dual, i, plane, scores)
        else:
            cache.add(plane)
            cache.improve(scores)


class _Cache:
    """Planes of one instance, with their images."""

    def __init__(self, dual: BlockDualLike, i: int, memory: int) -> None:
        self.dual, self.index, self.memory = dual, i, memory
        width = len(dual.mixtures[i])
        self.levels = np.zeros(0)
        self.directions, self.images = np.zeros((0, width)), np.zeros((0, width))
        self.image = dual.images(i, dual.mixtures[i][None])[0]
        self.used = np.zeros(0)
        self.clock = 0

    def add(self, plane: Any) -> None:
        """Keep a plane; the one longest unused may have to leave."""
        if len(self.levels) and (plane.direction == self.directions).all(axis=1).any():
            return
        kept = np.arange(len(self.levels))
        if len(kept) >= self.memory:
            kept = np.delete(kept, np.argmin(self.used))
        image = self.dual.images(self.index, plane.direction[None])
        self.levels = np.append(self.levels[kept], plane.level)
        self.directions = np.concatenate([self.directions[kept], plane.direction[None]])
        self.images = np.concatenate([self.images[kept], image])
        self.used = np.append(self.used[kept], self.clock)

    def improve(self, scores: Array) -> None:
        """Make the mixture the best of all mixtures of itself and the planes."""
        dual, i = self.dual, self.index
        mixture, level = dual.mixtures[i], float(dual.levels[i])
        values = self.levels + self.directions @ scores
        now = level + float(mixture @ scores)
        self.clock += 1
        if values.max(initial=0.0) - now <= ENOUGH * abs(now):
            return
        directions = np.concatenate([mixture[None], np.zeros((1, len(mixture))), self.directions])
        images = np.concatenate([self.image[None], np.zeros((1, len(mixture))), self.images])
        gram = directions @ images.T
        start = np.zeros(len(gram))
        start[0] = 1.0
        shares = simplex_qp(gram, np.concatenate([[now, 0.0], values]) + gram[:, 0], start)
        levels = np.concatenate([[level, 0.0], self.levels])
        self.image = shares @ images
        self.used[shares[2:] > 0] = self.clock
        dual.move(i, float(shares @ levels) - level, shares @ directions - mixture)


def towards(dual: BlockDualLike, i: int, plane: Any, scores: Array) -> None:
    """Move a mixture towards a plane as far as is best.

    Along the change (l, d) the dual rises by t·(l + ⟨d, θ⟩) − ½t²‖d‖².
    """
    change, rise = plane.direction - dual.mixtures[i], plane.level - dual.levels[i]
    slope = rise + change @ scores
    if slope <= 0:
        return
    size = float(change @ dual.images(i, change[None])[0])
    step = 1.0 if size <= slope else slope / size
    dual.move(i, step * rise, step * change)


@dataclass
class IterateAverage:
    """Σ_k k·point_k / Σ_k k, of points that are primal and dual ones at once."""

    count: int = 0
    element: Any = None
    level: float = 0.0

    def with_next(self, reached: Any) -> Any:
        """Take a point in; return the average."""
        self.count += 1
        share = 2.0 / (self.count + 1)
        if self.element is None:
            self.element, self.level = reached.element.copy(), reached.dual.level
        else:
            self.element += share * (reached.element - self.element)
            self.level += share * (reached.dual.level - self.level)
        point = reached.problem.at(self.element.copy())
        return reached.at(point, self.level)
