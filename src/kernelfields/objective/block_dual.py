"""The dual of a max-margin problem, one block of variables per instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import UnsupportedError
from ..losses import Hinge, Planes
from ..structures import StructureBatch
from .certificate import Certificate, Dual
from .margin_terms import InstanceTerm, instance_term
from .problem import Point, Problem


class Plane(NamedTuple):
    """A plane below the loss of one instance, times its weight: a constraint of the SVM."""

    level: float
    """b."""
    direction: Array
    """s·(parts(ŷ) − parts(y)) as a flat array, all clique types one behind the other."""


@dataclass
class MarginPoint:
    """The primal and the dual point that a solver has reached."""

    point: Point
    dual: Dual
    lower_bound: float
    constraints: int
    """Planes that the solver works with."""
    violation: float
    """How far the loss of an instance is above its planes at most, the ε of the working set."""
    slacks: Array | None = None
    """ξ: the largest plane of each instance in the working set, over its weight."""

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.point.problem

    @property
    def element(self) -> Array:
        """Where."""
        return self.point.element

    @property
    def value(self) -> float:
        """R."""
        return self.point.value

    @property
    def gradient(self) -> Array:
        """A subgradient of R."""
        return self.point.gradient

    @property
    def mismatch(self) -> Array:
        """Features of the planes that the losses touch, over λ."""
        return self.point.mismatch

    def at(self, point: Point, level: float) -> MarginPoint:
        """Return another point, with the level of the mixture that it is minus of."""
        return margin_point(point, level, self.constraints, self.violation)

    @property
    def certificate(self) -> Certificate:
        """R with the value of the dual point."""
        return Certificate(self.value, self.lower_bound)


class BlockDual:
    """max Σ_i Σ_ŷ α_i(ŷ) b_i(ŷ) − ½‖w‖²,  w = −Σ_i Σ_ŷ α_i(ŷ) r(g_i(ŷ)),  each α_i a distribution,

    the dual of Σ_i hinge_i + Σ_τ (λ_τ/2)‖f_τ‖², ‖·‖ and the Riesz elements r of the λ-weighted inner
    product. Planes g_i live in the score space of one instance, where ⟨r(g), w⟩ = ⟨g, θ_i(w)⟩, and so
    do the mixtures Σ_ŷ α_i(ŷ) g_i(ŷ), the only thing that has to be kept of α_i. Moving one of them
    changes w at the cost of one instance, in linear and in kernel spaces.

    Parameters
    ----------
    problem : Problem
        With a `Hinge` loss and a penalty on every space.
    """

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem.loss, Hinge):
            raise UnsupportedError(
                f"Max-margin solvers need a hinge loss, not {type(problem.loss).__name__}."
            )
        if any(term.penalty <= 0 or term.norm for term in problem.terms):
            raise UnsupportedError(
                "Max-margin solvers need a positive penalty on every space, and no norm besides."
            )
        self.problem = problem
        self.loss: Hinge = problem.loss
        self.size = problem.structure.n_instances
        self.weights = np.ones(self.size) if self.loss.weights is None else self.loss.weights
        self.element = problem.zero()
        self.levels = np.zeros(self.size)
        self._instances: dict[int, _DualInstance] = {}

    @cached_property
    def mixtures(self) -> list[Array]:
        """Σ_ŷ α_i(ŷ) g_i(ŷ) of every instance; at first that of y alone, which is 0."""
        return [np.zeros(self.instance(i).width) for i in range(self.size)]

    def instance(self, i: int) -> _DualInstance:
        """One instance, made when first asked for."""
        if i not in self._instances:
            self._instances[i] = _DualInstance(self.problem, i)
        return self._instances[i]

    def scores(self, i: int) -> Array:
        """θ_i(w), flat, without fixed scores."""
        return self.instance(i).scores(self.element)

    def plane(self, i: int, scores: Array) -> Plane:
        """Return the largest plane of an instance at its scores."""
        return self.instance(i).plane(scores)

    def planes(self) -> list[Plane]:
        """Return the largest plane of every instance at w, by one search over the whole batch."""
        point = self.point()
        found = self.loss.planes(self.problem.arrays.with_offset(point.theta))
        offsets = self.problem.structure.output_offsets
        return [self.instance(i).plane_of(found, offsets) for i in range(self.size)]

    def images(self, i: int, directions: Array) -> Array:
        """Scores on the instance of r(g), for every row g."""
        return np.array([self.instance(i).image(g) for g in directions]).reshape(directions.shape)

    def gram(self, directions: Sequence[Array]) -> Array:
        """Inner products of Riesz elements of directions: some rows for every instance, with all others."""
        result = []
        for i, rows in enumerate(directions):
            for direction in rows:
                element = np.zeros(self.problem.size)
                self.instance(i).add(element, direction)
                result.append(
                    np.concatenate(
                        [others @ self.instance(j).scores(element) for j, others in enumerate(directions)]
                    )
                )
        return np.array(result)

    def move(self, i: int, level: float, change: Array) -> None:
        """Change a mixture, and w with it."""
        self.levels[i] += level
        self.mixtures[i] += change
        self.instance(i).add(self.element, -change)

    def restart(self, levels: Array, mixtures: list[Array]) -> None:
        """Start from mixtures found before, perhaps with other penalties."""
        self.element = self.problem.zero()
        for i, (level, mixture) in enumerate(zip(levels, mixtures, strict=True)):
            self.levels[i] = level
            self.mixtures[i][...] = mixture
            self.instance(i).add(self.element, -mixture)

    def point(self) -> Point:
        """R at w, images computed anew."""
        self.element = self.problem.refreshed(self.element)
        return self.problem.at(self.element.copy())

    def reached(self, constraints: int, violation: float = np.inf) -> MarginPoint:
        """Return w with the dual point behind it."""
        point = self.point()
        return margin_point(point, float(self.levels.sum()), constraints, violation)


def margin_point(point: Point, level: float, constraints: int, violation: float = np.inf) -> MarginPoint:
    """Return a primal point that is also a dual one, w = −mixture, with the level of the mixture."""
    dual = Dual(level, -point.element)
    return MarginPoint(point, dual, dual.bound(point.problem), constraints, violation)


class _DualInstance:
    """One instance: its structure, its loss, and the spaces on it."""

    def __init__(self, problem: Problem, i: int) -> None:
        assert isinstance(problem.loss, Hinge)
        self.index = i
        self.loss = problem.loss.take([i])
        self.structure: StructureBatch = self.loss.structure
        fixed = problem.arrays.offset
        self.offset = None if fixed is None else problem.structure.cut(fixed, [i])
        self.terms: list[tuple[slice, InstanceTerm]] = [
            (place, instance_term(term, self.structure, i))
            for term, place in zip(problem.terms, problem.slices.values(), strict=True)
        ]
        self._others = [term for _, term in self.terms if term.own is None]
        self.weight = 1.0 if self.loss.weights is None else float(self.loss.weights[0])
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self.structure.shapes.values())])
        self.width = int(ends[-1])
        self._views = [
            (clique, slice(a, b), shape)
            for (clique, shape), a, b in zip(self.structure.shapes.items(), ends[:-1], ends[1:], strict=True)
        ]
        self._own = [
            (place, (shape[0], int(np.prod(shape[1:]))), np.sum(blind, axis=0))
            for clique, place, shape in self._views
            if (
                blind := [
                    term.own for _, term in self.terms if term.clique == clique and term.own is not None
                ]
            )
        ]
        """Inner products of the cliques of one type, where labels do not matter to them."""

    def split(self, flat: Array) -> dict[str, Array]:
        """Flat scores by clique type: views."""
        return {clique: flat[place].reshape(shape) for clique, place, shape in self._views}

    def scores(self, element: Array) -> Array:
        """θ_i, flat."""
        flat = np.zeros(self.width)
        theta = self.split(flat)
        for place, term in self.terms:
            term.add_scores(element[place], theta[term.clique])
        return flat

    def plane(self, scores: Array) -> Plane:
        """The largest plane."""
        theta = self.split(scores)
        if self.offset is not None:
            theta = {clique: values + self.offset[clique] for clique, values in theta.items()}
        return self._plane(self.loss.planes(theta))

    def plane_of(self, found: Planes, offsets: Array) -> Plane:
        """The plane of this instance among those of the batch."""
        i = self.index
        outputs = found.outputs[offsets[i] : offsets[i + 1]]
        return self._plane(
            Planes(outputs, found.level[i : i + 1], found.scale[i : i + 1], found.value[i : i + 1])
        )

    def _plane(self, found: Planes) -> Plane:
        flat = np.zeros(self.width)
        if not found.scale[0]:
            return Plane(0.0, flat)
        parts = self.split(flat)
        factor = self.weight * found.scale
        self.structure.subtract_parts(parts, found.outputs, -factor)
        self.structure.subtract_parts(parts, self.loss.outputs, factor)
        return Plane(
            self.weight * float(found.level[0]) + float(factor[0]) * self._fixed(found.outputs), flat
        )

    def _fixed(self, outputs: Array) -> float:
        """What fixed scores add to the difference between an output and the observed one."""
        if self.offset is None:
            return 0.0
        both = (self.structure.score(self.offset, y)[0] for y in (outputs, self.loss.outputs))
        return float(next(both) - next(both))

    def image(self, gradient: Array) -> Array:
        """Scores of the Riesz element of a flat gradient, flat."""
        flat = np.zeros(self.width)
        theta, parts = self.split(flat), self.split(gradient)
        for place, rows, own in self._own:
            np.matmul(own, gradient[place].reshape(rows), out=flat[place].reshape(rows))
        for term in self._others:
            theta[term.clique] += term.image(parts[term.clique])
        return flat

    def add(self, element: Array, gradient: Array) -> None:
        """Add the Riesz element of a flat gradient."""
        parts = self.split(gradient)
        for place, term in self.terms:
            term.add(element[place], parts[term.clique])
