"""The objective that is minimised while a space grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..losses import Loss
from ..objective import Point, Problem, Term
from ..spaces import BoundSpace, Functions, RowMap, Selected, SelectedCliques
from ..structures import LabelledBatch, Scores, StructureBatch
from .atoms import Atoms
from .pool import Pool
from .span import SelectedSpan


class GrowthState(NamedTuple):
    """The selected functions and their coefficients."""

    grown: dict[str, SelectedSpan]
    parts: dict[str, Array]
    """The element of every term, by name."""
    spent: dict[str, Array]
    """Keys of the candidates that were added, or found to be combinations of others."""

    @property
    def size(self) -> int:
        """Number of functions."""
        return sum(grown.size for grown in self.grown.values())

    @property
    def observations(self) -> int:
        """Number of observations whose kernel values they need."""
        return len(np.unique(np.concatenate([grown.basis for grown in self.grown.values()])))

    @property
    def sizes(self) -> dict[str, int]:
        """Number of functions of each space."""
        return {name: grown.size for name, grown in self.grown.items()}


@dataclass(frozen=True)
class GrowthTask:
    """R(f) over f = Σ of functions from pools, and free scores of labels."""

    loss: Loss
    pools: dict[str, Pool]
    """The pools by the names of their terms."""
    outputs: Array
    """Labels of the vertices, −1 where unobserved, or outputs of another kind."""
    free: tuple[Term, ...] = ()
    offset: Scores | None = None
    dtype: Any = np.float64

    @property
    def structure(self) -> StructureBatch:
        """The batch."""
        return self.loss.structure

    def space(self, pool: Pool, functions: Functions) -> BoundSpace:
        """Bind functions of a pool to the batch."""
        if pool.share:
            assert isinstance(self.structure, LabelledBatch)
            return SelectedCliques(self.structure, functions, pool.seen)
        return Selected(self.structure, pool.clique, functions, pool.seen)

    def start(self) -> GrowthState:
        """Return the state in which nothing is selected and all coefficients are zero."""
        parts = {name: np.zeros(0) for name in self.pools}
        parts |= {term.name: np.zeros(term.space.size) for term in self.free}
        nothing = {name: np.zeros(0, dtype=np.int64) for name in self.pools}
        return GrowthState(
            {name: SelectedSpan.empty(pool) for name, pool in self.pools.items()}, parts, nothing
        )

    def problem(self, grown: dict[str, SelectedSpan]) -> Problem:
        """Return R on the span of the selected functions."""
        terms = [
            Term(name, self.space(pool, grown[name].functions()), pool.penalty)
            for name, pool in self.pools.items()
        ]
        return Problem.of(self.loss, [*terms, *self.free], self.offset, self.dtype)

    def point(self, state: GrowthState) -> Point:
        """Return R at a state."""
        problem = self.problem(state.grown)
        return problem.at(element_of(problem, state.parts))


def element_of(problem: Problem, parts: dict[str, Array]) -> Array:
    """Concatenate parts to an element; spaces that have grown since get zeros for new functions."""
    result = problem.zero()
    for name, place in problem.slices.items():
        part = parts[name]
        result[place][: len(part)] = part
    return result


def parts_of(problem: Problem, element: Array) -> dict[str, Array]:
    """Split an element into parts."""
    return {name: element[place].copy() for name, place in problem.slices.items()}


class View:
    """The gradient of R, as candidates see it: ⟨∇R, h⟩ for functions h that were not selected."""

    def __init__(self, task: GrowthTask, state: GrowthState, point: Point) -> None:
        self.task = task
        self.state = state
        self.point = point
        self._coefficients: dict[str, Array] = {}

    def coefficients(self, name: str) -> Array:
        """Return ∇R of a space as an expansion over all its observations, dθ + λα, (n, r)."""
        if name not in self._coefficients:
            self._coefficients[name] = self._expanded(name)
        return self._coefficients[name]

    def _expanded(self, name: str) -> Array:
        pool, grown = self.task.pools[name], self.state.grown[name]
        gradient = self.point.loss.gradient[pool.clique]
        flat = gradient.reshape(len(gradient), pool.width).astype(np.float64)
        result = np.array(RowMap(pool.seen, pool.size).spread(flat))
        functions = grown.functions()
        table = functions.table(functions.coefficients(self.state.parts[name]))
        result[grown.basis] += pool.penalty * table
        return result

    def slopes(self, name: str, observations: Array) -> Array:
        """Return ⟨∇R, k(x_o, ·) [label]⟩ = (K(dθ + λα))_o for some observations, (q, r): q n kernel values.

        They are centred over labels if functions are.
        """
        pool = self.task.pools[name]
        result = pool.times(observations, self.coefficients(name))
        return result - pool.centring * result.sum(axis=1, keepdims=True)

    def slopes_of(self, name: str, functions: Atoms) -> Array:
        """Return ⟨∇R, h⟩ of functions, (c,)."""
        distinct, at = np.unique(functions.observations, return_inverse=True)
        vertices = self.slopes(name, distinct)[at, functions.labels] if len(distinct) else np.zeros(0)
        pairs = self.pair_slopes(name).ravel()[functions.pairs] if len(functions.pairs) else np.zeros(0)
        return functions.summed(vertices, pairs)

    def gradient_terms(self, name: str, functions: Atoms) -> Array:
        """Return |a| of the term a h that functions have in the expansion of ∇R, (c,); no kernel values.

        Label pairs without input belong to all edges at once. Those tied to an atom, as in `SGPS`, count by
        the mean over edges, which is their share.
        """
        vertices = np.abs(self.coefficients(name)[functions.observations, functions.labels])
        pairs = np.zeros(0)
        if len(functions.pairs):
            tied = np.isin(functions.pair_owners, functions.owners)
            edges = np.where(tied, max(1, self.task.structure.cliques["edge"].count), 1)
            total = np.abs(self.pair_slopes(name)).ravel() / self.task.pools[name].share
            pairs = total[functions.pairs] / edges
        return functions.summed(vertices, pairs)

    def pair_slopes(self, name: str) -> Array:
        """Return ⟨∇R, κ [pair]⟩ = κ dθ + λ V, (L, L)."""
        pool, functions = self.task.pools[name], self.state.grown[name].functions()
        L = self.task.structure.n_answers
        scores = functions.pair_scores(functions.coefficients(self.state.parts[name]), L)
        return pool.share * self.point.loss.gradient["edge"].astype(np.float64) + pool.penalty * scores

    def gain_bounds(self, name: str, functions: Atoms, slopes: Array) -> Array:
        """Bound how much each function can lower R, all coefficients refitted [altun2006, Lemma 6].

        The bound is ⟨∇R, h⟩² / (2λ‖h_⊥‖²) if coefficients are optimal; otherwise add their gap.
        """
        left = self.state.grown[name].residuals(functions)
        penalty = self.task.pools[name].penalty
        with np.errstate(divide="ignore"):
            return np.square(slopes) / (2 * penalty * np.maximum(left, 0.0))

    def full_gap(self) -> float:
        """Bound how far R is above its minimum over all functions of all pools: n² kernel values per pool."""
        problem, total = self.point.problem, 0.0
        for name, pool in self.task.pools.items():
            inner = np.vdot(self.coefficients(name), self.slopes(name, np.arange(pool.size)))
            if pool.share:
                inner += np.square(self.pair_slopes(name)).sum() / pool.share
            total += float(inner) / (2 * pool.penalty)
        for term in self.task.free:
            part = self.point.gradient[problem.slices[term.name]]
            total += 0.5 * term.metric * term.space.inner(part, part)
        return total
