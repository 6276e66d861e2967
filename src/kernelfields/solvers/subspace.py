"""Subspace descent: one block of spaces at a time, the others fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, proper_share, whole
from ._base import Monitor, Observer, ProblemLike, Progress, Reason, Result, Solver, Stop, require_smooth
from .newton_cg import NewtonCG


@dataclass(frozen=True)
class Subspace(Solver):
    """Block coordinate descent over the blocks of a problem, its clique types [altun2004exp, 5.1, 5.2].

    One iteration goes through all blocks in turn and minimises over each, nearly, with the others as
    they are: a smaller problem that never touches the other spaces, so that, for instance, label
    pairs are refitted without a product with a kernel. Convergence is linear, the faster the less the
    blocks have to do with each other.

    Parameters
    ----------
    inner : Solver
        How to minimise over one block.
    share : float
        A block is left when the norm of its gradient is below this share of what it was.
    inner_iterations : int
        Limit of iterations on one block.
    """

    inner: Solver = field(default_factory=NewtonCG)
    share: float = 0.1
    inner_iterations: int = 20
    _checks: ClassVar[Mapping[str, Check]] = {"share": proper_share, "inner_iterations": whole()}

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        require_smooth(problem, self)
        monitor = Monitor(problem, stop, observer)
        point = problem.at(start)
        iteration = 0
        reason = monitor.look(iteration, point)
        try:
            while reason is None:
                element = point.element.copy()
                for block in problem.blocks:
                    self._descend(problem, block, element)
                found = problem.at(element)
                if not found.value < point.value:
                    reason = Reason.STUCK
                    break
                point = found
                iteration += 1
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)

    def _descend(self, problem: ProblemLike, block: Sequence[str], element: Array) -> None:
        """Minimise over one block of an element, nearly and in place."""
        places = [problem.slices[name] for name in block]
        norms: list[float] = []

        def enough(progress: Progress, _: Any) -> bool:
            norms.append(progress.gradient_norm)
            return norms[-1] <= self.share * norms[0]

        part = np.concatenate([element[place] for place in places])
        stop = Stop(gap=0.0, gradient=0.0, iterations=self.inner_iterations)
        result = self.inner.minimize(problem.only(block, element), part, stop, enough)
        if result.reason is Reason.INTERRUPTED:
            raise KeyboardInterrupt
        ends = np.cumsum([place.stop - place.start for place in places])
        for place, values in zip(places, np.split(result.point.element, ends[:-1]), strict=True):
            element[place] = values
