"""Gradient tree boosting of clique scores, round by round."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Array, rows_of
from ..fitting.run import Observer
from ..losses import LogLoss, PartialLog
from ..objective import Point, Problem, Term
from ..solvers import NewtonCG, Progress, Reason, Stop
from ..structures import EdgeBatch, Scores
from .trees import Bins, Forest, GrownTree, TreeSettings

SUFFICIENT = 1e-4
HALVINGS = 20
ENOUGH = 1e-6
"""Relative gap at which the free scores of the start count as fitted."""

DONE = "All rounds were done."
STUCK = "No tree lowers the objective any more."
NO_BETTER = "The loss of held-out data had stopped falling."
INTERRUPTED = "Interrupted; the rounds done so far were kept."


class Boosting:
    """Scores as sums of trees, and free scores of labels beside them.

        R = Σ_i loss_i(θ) + Σ_τ (λ_τ / 2) ‖w_τ‖²,    θ = fixed + free(w) + Σ_m step_m · trees_m(x)

    One round takes the derivatives of the loss in the scores of every clique, expected minus observed parts,
    and their curvatures μ(1 − μ); grows one tree per label on them, a Newton step in every leaf
    [friedman2001greedy; dietterich2008gradient]; and goes along the sum of those trees until R has
    fallen: the product of the gradient with a tree is −Σ_leaf (Σ g)² / (Σ h + λ), so that it always
    descends, but curvatures between cliques and labels are left out, so that a full step may be too
    long. Then the free scores take one step of Newton's method, with exact curvatures.

    Parameters
    ----------
    loss : Loss
        Of the training set.
    terms : list of Term
        Free scores.
    fixed : scores, optional
        −inf for what is forbidden.
    bins : mapping
        For each clique type that has trees, the inputs of its cliques.
    settings : TreeSettings
        How large trees grow.
    shrinkage : float
        The longest step.
    """

    def __init__(
        self,
        loss: LogLoss | PartialLog,
        terms: list[Term],
        fixed: Scores | None,
        bins: Mapping[str, Bins],
        settings: TreeSettings,
        shrinkage: float,
    ) -> None:
        self.loss, self.terms, self.fixed = loss, terms, fixed
        self.bins, self.settings, self.shrinkage = bins, settings, shrinkage
        self.structure: Any = loss.structure
        shapes = self.structure.shapes
        self.scores = {clique: np.zeros(shapes[clique]) for clique in bins}
        self.forests = {clique: Forest.on(b, int(np.prod(shapes[clique][1:]))) for clique, b in bins.items()}
        self.point: Point
        self._refit(np.zeros(sum(term.space.size for term in terms)), iterations=50)

    @property
    def element(self) -> Array:
        """W."""
        return self.point.element

    def boost(self, random: Any, drawn: Array | None = None) -> bool:
        """Do one round, with trees grown on some sequences or on all; say whether R has fallen."""
        gradient = self.point.loss.gradient
        curvature = self._curvatures()
        found = {clique: self._grow(clique, gradient, curvature, random, drawn) for clique in self.bins}
        along = {
            clique: np.stack([one.values for one in grown], axis=1).reshape(self.scores[clique].shape)
            for clique, grown in found.items()
        }
        step = self._step(along, gradient)
        if step == 0:
            return False
        for clique, grown in found.items():
            self.scores[clique] += step * along[clique]
            self.forests[clique].add([one.tree for one in grown], step)
        self._refit(self.element, iterations=1)
        return True

    def _grow(
        self, clique: str, gradient: Scores, curvature: Scores, random: Any, drawn: Array | None
    ) -> list[GrownTree]:
        """One tree per column of scores."""
        g, h = (values[clique].reshape(len(values[clique]), -1) for values in (gradient, curvature))
        rows = None if drawn is None else rows_of(self._offsets(clique), drawn)
        bins = self.bins[clique]
        return [bins.grow(g[:, k], h[:, k], self.settings, random, rows) for k in range(g.shape[1])]

    def _curvatures(self) -> dict[str, Array]:
        """μ(1 − μ) of every clique, times the weight of its sequence."""
        theta = self.point.problem.arrays.with_offset(self.point.theta)
        expected = self.structure.marginals(theta).parts
        weights = self.loss.weights
        result = {clique: expected[clique] * (1 - expected[clique]) for clique in self.bins}
        if weights is not None:
            for clique, values in result.items():
                each = np.repeat(weights, np.diff(self._offsets(clique)))
                values *= each.reshape(-1, *(1,) * (values.ndim - 1))
        return result

    def _offsets(self, clique: str) -> Array:
        """Where the cliques of each sequence begin."""
        return np.asarray(self.structure.offsets if clique == "node" else self.structure.edge_offsets)

    def _step(self, along: Mapping[str, Array], gradient: Scores) -> float:
        """Return the longest step, by halves from the shrinkage on, that lowers the loss enough, or 0."""
        slope = sum(float(np.vdot(gradient[clique], values)) for clique, values in along.items())
        if not slope < 0:
            return 0.0
        theta = self.point.problem.arrays.with_offset(self.point.theta)
        step = self.shrinkage
        for _ in range(HALVINGS):
            moved = {**theta, **{clique: theta[clique] + step * values for clique, values in along.items()}}
            if self.loss.at(moved).value <= self.point.loss.value + SUFFICIENT * step * slope:
                return step
            step /= 2
        return 0.0

    def _refit(self, element: Array, iterations: int) -> None:
        """Fit the free scores beside the trees, nearly."""
        problem = Problem.of(self.loss, self.terms, self._offset())
        stop = Stop(gap=ENOUGH, gradient=ENOUGH, iterations=iterations)
        result = NewtonCG(inner_iterations=10).minimize(problem, element, stop)
        self.point = result.point
        if result.reason is Reason.INTERRUPTED:
            raise KeyboardInterrupt

    def _offset(self) -> dict[str, Array]:
        """Scores of the trees, and what is forbidden."""
        zero = np.zeros(())
        offset = {
            clique: self.scores.get(clique, np.broadcast_to(zero, shape))
            for clique, shape in self.structure.shapes.items()
        }
        if self.fixed is None:
            return offset
        return {clique: values + self.fixed[clique] for clique, values in offset.items()}


class BoostingHeldOut:
    """Sequences that no tree is grown on: says when their loss has stopped falling.

    Parameters
    ----------
    value : callable
        Loss of w and of the scores of trees, on these sequences.
    inputs : mapping
        For each clique type that has trees, the inputs of its cliques.
    shapes : mapping
        The shapes of the scores of these cliques.
    patience : int
        Rounds to wait for an improvement.
    """

    def __init__(
        self,
        value: Callable[[Array, Mapping[str, Array]], float],
        inputs: Mapping[str, Array],
        shapes: Mapping[str, tuple[int, ...]],
        patience: int,
    ) -> None:
        self.value, self.inputs, self.patience = value, inputs, patience
        self.scores = {clique: np.zeros(shapes[clique]) for clique in inputs}
        self.losses: list[float] = []
        self.element: Array | None = None
        self.rounds = 0
        """How many rounds did best, and w after them."""

    def look(self, boosting: Boosting) -> bool:
        """Look at a round; say whether to stop."""
        done = len(self.losses)
        for clique, matrix in self.inputs.items():
            if done:
                more = boosting.forests[clique].scores(matrix, first=done - 1)
                self.scores[clique] += more.reshape(self.scores[clique].shape)
        value = self.value(boosting.element, self.scores)
        if not self.losses or value < min(self.losses):
            self.rounds, self.element = done, boosting.element
        self.losses.append(value)
        return done - self.rounds >= self.patience


def run(
    boosting: Boosting,
    rounds: int,
    random: Any,
    subsample: float,
    held_out: BoostingHeldOut | None,
    report: Observer | None,
) -> tuple[list[float], str]:
    """Boost; return the objective before every round and after the last one, and why it ended."""
    values, started, reason = [boosting.point.value], time.perf_counter(), DONE
    structure: EdgeBatch = boosting.structure
    stop = held_out is not None and held_out.look(boosting)
    try:
        for k in range(1, rounds + 1):
            drawn = _draw(random, structure.n_instances, subsample)
            fallen = boosting.boost(random, drawn)
            if not fallen and drawn is None:
                reason = STUCK
                break
            if not fallen:
                continue
            values.append(boosting.point.value)
            if report is not None:
                seconds = time.perf_counter() - started
                report(Progress(k, values[-1], np.nan, -np.inf, seconds), None)
            stop = held_out is not None and held_out.look(boosting)
            if stop:
                reason = NO_BETTER
                break
    except KeyboardInterrupt:
        reason = INTERRUPTED
    return values, reason


def _draw(random: Any, count: int, share: float) -> Array | None:
    """Some sequences without repetition, in their order; None for all."""
    if share >= 1:
        return None
    return np.sort(random.permutation(count)[: max(1, round(share * count))])
