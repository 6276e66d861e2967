"""Block-coordinate Frank-Wolfe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._base import Array, Monitor, Observer, Reason, Result, Stop
from ._margin_base import Best, BlockDualLike, MarginSolver

STEPS = 10
"""Steps at one instance over kept planes at most."""

ENOUGH = 1e-3
"""Share by which a kept plane must be above the mixture to be worth a step."""


@dataclass(frozen=True)
class BlockFrankWolfe(MarginSolver):
    """Block-coordinate Frank-Wolfe [lacostejulien2013, Alg. 4] with a cache of planes [shah2015].

    Visits the instances in random order. At each, the largest plane at the present w is searched for, and
    the mixture of the instance goes towards it, as far as is best: the step that maximises the dual is
    known in closed form, there is nothing to tune. Every pass ends with the duality gap.

    Between two such passes there are cheaper ones over planes kept from earlier searches.

    Parameters
    ----------
    averaging : bool
        Whether a weighted average of the points after every pass, weight in proportion to the number of
        the pass, is looked at as well: both are primal and dual points, the better gap counts.
    cached_passes : int
        Passes over kept planes for each pass that searches.
    memory : int
        Planes kept for each instance, those least recently best leave first; 0 for the plain algorithm.
    seed : int
        Of the order.
    """

    averaging: bool = True
    cached_passes: int = 5
    memory: int = 20
    seed: int = 0

    def maximize(self, dual: BlockDualLike, stop: Stop, observer: Observer | None = None) -> Result:
        """Maximise from where the dual is."""
        best = Best(Monitor(dual.problem, stop, observer))
        random = np.random.default_rng(self.seed)
        caches: list[list[Any]] = [[] for _ in range(dual.size)]
        average = Average()
        iteration = 0
        reason = best.look(iteration, dual.reached(0))
        try:
            while reason is None:
                for i in random.permutation(dual.size):
                    self._search(dual, int(i), caches[i])
                for _ in range(self.cached_passes if self.memory else 0):
                    for i in random.permutation(dual.size):
                        _visit(dual, int(i), caches[i], dual.scores(int(i)))
                iteration += 1
                kept = sum(map(len, caches))
                now = dual.reached(kept)
                reason = best.look(iteration, now)
                if self.averaging and reason is None:
                    mean = average.with_next(now)
                    if mean.value < best.point.value:
                        best.point = mean
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return best.monitor.result(best.point, reason)

    def _search(self, dual: BlockDualLike, i: int, cache: list[Any]) -> None:
        """Take in the largest plane, and go towards it."""
        scores = dual.scores(i)
        plane = dual.plane(i, scores)
        scores = towards(dual, i, plane, scores)
        if self.memory:
            cache.append(plane)
            del cache[: -self.memory]
            _visit(dual, i, cache, scores)


def _visit(dual: BlockDualLike, i: int, cache: list[Any], scores: Array) -> None:
    """Go towards the best of the kept planes, some times: at one instance, a step needs no new scores."""
    levels = np.array([plane.level for plane in cache])
    directions = np.array([plane.direction for plane in cache])
    for _ in range(STEPS):
        values = levels + directions @ scores
        best = int(np.argmax(values))
        if values[best] <= (1 + ENOUGH) * (dual.levels[i] + dual.mixtures[i] @ scores):
            break
        scores = towards(dual, i, cache[best], scores)
    cache.append(cache.pop(best))  # those least recently best leave first


def towards(dual: BlockDualLike, i: int, plane: Any, scores: Array) -> Array:
    """Move a mixture towards a plane, or towards that of the observed labels, as far as is best.

    Along the change (l, d) the dual rises by t·(l + ⟨d, θ⟩) − ½t²‖d‖². Gives the scores after it.
    """
    level, direction = plane.level, plane.direction
    if level + direction @ scores < 0:
        level, direction = 0.0, np.zeros_like(direction)
    change, rise = direction - dual.mixtures[i], level - dual.levels[i]
    slope = rise + change @ scores
    if slope <= 0:
        return scores
    image = dual.images(i, change[None])[0]
    size = float(change @ image)
    step = 1.0 if size <= slope else slope / size
    dual.move(i, step * rise, step * change)
    return scores - step * image


@dataclass
class Average:
    """Σ_k k·point_k / Σ_k k, of points that are primal and dual ones at once."""

    count: int = 0
    element: Any = None
    level: float = 0.0

    def with_next(self, reached: Any) -> Any:
        """Take a point in; give the average."""
        self.count += 1
        share = 2.0 / (self.count + 1)
        if self.element is None:
            self.element, self.level = reached.element.copy(), reached.dual.level
        else:
            self.element += share * (reached.element - self.element)
            self.level += share * (reached.dual.level - self.level)
        point = reached.problem.at(self.element.copy())
        return reached.at(point, self.level)
