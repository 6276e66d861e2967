"""The path of a space that grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..objective import Point
from ..solvers import Progress, Reason
from ._growing_base import Selection
from .span import Extension
from .task import GrowthState, GrowthTask, View

DEPENDENT_VISITS = 100
"""Number of visits with only dependent candidates that count as one visit without candidates."""


class SelectionStep(NamedTuple):
    """One step of a selection."""

    functions: int
    """p so far."""
    observations: int
    """Number of training observations whose kernel values a prediction needs."""
    value: float
    """R."""
    gap: float
    """Certified relative gap, in the span of the selected functions; inf if none is known."""
    held_out: float | None
    """Log-likelihood of held-out labellings, if there are any."""
    error: float | None
    """Share of held-out answers that are wrong, decoded one by one."""
    visits: int
    """Number of visits so far."""
    seconds: float
    """Time since the start, without that for held-out data."""


class SelectionReason(Enum):
    """Why a selection ended, as a sentence."""

    SIZE = "The number of functions asked for was reached."
    THRESHOLD = "No candidate is steeper than the threshold."
    GAP = "The certified relative gap in the whole space is below the tolerance."
    CHANGE = "The last step lowered the objective by less than the change asked for."
    OBSERVER = "The observer asked to stop."
    INTERRUPTED = "Interrupted; the functions selected so far were kept."


class HeldOutLike(Protocol):
    """Judges a state on held-out data."""

    def judge(self, state: GrowthState) -> tuple[float, float]:
        """Return log-likelihood and error."""


class Growth:
    """Runs a selection step by step; the current state is available at any time.

    Parameters
    ----------
    task, selection : GrowthTask, Selection
        What is minimised, and how the space grows.
    seed : int
        Seed of random draws; each visit derives its own, so that a path can be continued.
    held_out : optional
        Judges every step.
    observer : callable, optional
        Sees a `Progress` after every step; True ends the selection.
    """

    def __init__(
        self,
        task: GrowthTask,
        selection: Selection,
        seed: int,
        held_out: HeldOutLike | None = None,
        observer: Callable[[Progress, Any], bool | None] | None = None,
    ) -> None:
        self.task = task
        self.selection = selection
        self.seed = seed
        self.held_out = held_out
        self.observer = observer
        self.state = task.start()
        self.path: list[SelectionStep] = []
        self.kept: list[tuple[dict[str, int], dict[str, Any]]] = []
        """Sizes and elements of every step."""
        self.visits = 0
        self.ending = SelectionReason.SIZE
        self._looked_at = 0
        self.seconds = 0.0
        """Time so far, without that for held-out data."""

    def run(self) -> GrowthState:
        """Grow until a limit is reached, or Ctrl-C."""
        try:
            self.ending = self._run()
        except KeyboardInterrupt:
            self.ending = SelectionReason.INTERRUPTED
        return self.state

    def _run(self) -> SelectionReason:
        batch = self.task.structure
        limit = self.selection.limit(batch.cliques[batch.answer].count)
        patience, misses = self.selection.patience(self.task), 0.0
        point = self._fit(self.state, {})
        if point is None:
            return SelectionReason.INTERRUPTED
        while self.state.size < limit:
            if self._close_enough(point):
                return SelectionReason.GAP
            started = time.perf_counter()
            added, spent = self._added(point, limit)
            self.seconds += time.perf_counter() - started
            dealt_with = any(len(spent[name]) > len(keys) for name, keys in self.state.spent.items())
            misses = 0.0 if added else misses + (1 / DEPENDENT_VISITS if dealt_with else 1)
            if misses >= patience:
                return SelectionReason.THRESHOLD
            self.state = self.state._replace(spent=spent)
            if added:
                point = self._fit(self.state, added)
                if point is None:
                    return SelectionReason.INTERRUPTED
                if self._asked_to_stop(point):
                    return SelectionReason.OBSERVER
                if self._hardly_changed():
                    return SelectionReason.CHANGE
        return SelectionReason.SIZE

    def _added(self, point: Point, limit: int) -> tuple[dict[str, Extension], dict[str, Any]]:
        """Visit candidates once; return the spaces with those chosen, and the keys dealt with."""
        random = np.random.RandomState([self.seed, self.visits])
        proposals = self.selection.propose(View(self.task, self.state, point), self.visits, random)
        self.visits += 1
        added, spent, room = {}, dict(self.state.spent), limit - self.state.size
        for name, keys, functions in proposals:
            some = np.arange(min(room, functions.size))
            one = self.state.grown[name].appended(functions.take(some))
            spent[name] = np.concatenate([spent[name], keys[some]])
            room -= len(one.kept)
            if len(one.kept):
                added[name] = one
        return added, spent

    def _fit(self, before: GrowthState, added: dict[str, Extension]) -> Point | None:
        """Refit, update the state and extend the path; return None if interrupted."""
        started = time.perf_counter()
        self.state, point, reason = self.selection.refitting.run(self.task, before, added)
        state = self.state
        self.seconds += time.perf_counter() - started
        held_out = error = None
        if self.held_out is not None:
            held_out, error = self.held_out.judge(state)
        gap = _gap(point)
        if added or not self.path:
            self.path.append(
                SelectionStep(
                    state.size,
                    state.observations,
                    point.value,
                    gap,
                    held_out,
                    error,
                    self.visits,
                    self.seconds,
                )
            )
            self.kept.append((state.sizes, state.parts))
        return None if reason is Reason.INTERRUPTED else point

    def _close_enough(self, point: Point) -> bool:
        if self.selection.gap is None or self.state.size < 1.25 * self._looked_at:
            return False
        self._looked_at = self.state.size
        return View(self.task, self.state, point).full_gap() <= self.selection.gap * abs(point.value)

    def _hardly_changed(self) -> bool:
        before, now = (step.value for step in self.path[-2:])
        least = self.selection.change * abs(now)
        return least > 0 and before - now < least

    def _asked_to_stop(self, point: Point) -> bool:
        if self.observer is None:
            return False
        bound = -np.inf if point.certificate is None else point.certificate.lower_bound
        norm = float(np.sqrt(max(point.problem.inner(point.gradient, point.gradient), 0.0)))
        progress = Progress(len(self.path) - 1, point.value, norm, bound, self.seconds)
        return bool(self.observer(progress, point))

    def at_rest(self) -> Growth:
        """Return the same without what looks on."""
        self.held_out = self.observer = None
        return self

    def best(self) -> int:
        """Return the step with the largest held-out likelihood."""
        return int(np.argmax([-np.inf if step.held_out is None else step.held_out for step in self.path]))

    def at(self, step: int) -> GrowthState:
        """Return the state after a step."""
        sizes, parts = self.kept[step]
        grown = {name: one.first(sizes[name]) for name, one in self.state.grown.items()}
        return self.state._replace(grown=grown, parts=parts)


def _gap(point: Point) -> float:
    certificate = point.certificate
    return float("inf") if certificate is None else certificate.relative_gap
