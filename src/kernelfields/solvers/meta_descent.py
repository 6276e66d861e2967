"""Stochastic meta-descent: gradient descent whose step lengths learn, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ..arrays import Array
from ..checks import Check, require_not_negative, require_share, whole
from ..errors import InputError, UnsupportedError
from ._base import (
    Monitor,
    Observer,
    ProblemLike,
    Reason,
    Result,
    Solver,
    Stop,
    require_second_order,
    require_smooth,
)

GROWTH = 1.1
"""What an iteration that went well adds to the gains that the next failure begins with."""

LEAST = 0.03
"""Share of those gains below which none falls: a gain of zero would never come back."""


@runtime_checkable
class SampledProblem(ProblemLike, Protocol):
    """A sum over instances."""

    @property
    def orthogonal(self) -> bool:
        """Whether elements are orthonormal coordinates, up to one factor for each part."""

    @property
    def n_instances(self) -> int:
        """Of how many."""

    def sampled(self, ids: Any) -> Any:
        """Return the problem on some of them, an unbiased estimate of the whole up to a factor."""


class DescentState(NamedTuple):
    """What is carried from batch to batch."""

    element: Array
    gains: Array
    change: Array
    """v."""


def _below_one(name: str, value: Any) -> None:
    """Check a share that is not all."""
    if require_share(name, value) == 1:
        raise InputError(f"{name} is {value}; it must be below 1.")


@dataclass(frozen=True)
class MetaDescent(Solver):
    """Stochastic meta-descent [vishwanathan2006accelerated, section 3].

    Steps w ← w − p ∘ g along gradients g of small batches of instances, with a gain p_k for every
    coordinate, or one for every space where coordinates are not orthogonal. Gains grow where steps
    agree and shrink where they turn back:

        p ← p ∘ clip(1 − μ z, ½, 2),    z = g ∘ v / mean|g ∘ v|,    v ← ℓ v − p ∘ (g + ℓ H v),

    v being the derivative of w in the logarithms of the gains, which takes one Hessian product of the
    batch. An iteration goes through all batches once, in an order of its own, and is then looked at as a
    whole: one that has raised R is taken back, gains begin anew at half of what they last began with, and
    batches are doubled, so that the method ends as descent on the whole and can be certified. (The
    paper's z is not divided by its mean, which ties μ to the scale of R, and its batches keep their size.)

    Quick at first where instances are many and alike; slow to the end.

    Parameters
    ----------
    batch : int
        Instances of a batch, at first.
    meta : float
        μ, how fast gains change.
    memory : float
        ℓ, below 1.
    seed : int
        Of the order of the instances.
    """

    batch: int = 8
    meta: float = 0.1
    memory: float = 0.9
    seed: int = 0
    _checks: ClassVar[Mapping[str, Check]] = {
        "batch": whole(),
        "meta": require_not_negative,
        "memory": _below_one,
        "seed": whole(0, 2**63 - 1),
    }

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        require_smooth(problem, self)
        require_second_order(problem, self)
        if not isinstance(problem, SampledProblem):
            raise UnsupportedError(
                f"MetaDescent needs a problem in pieces, which {type(problem).__name__} does not give."
            )
        monitor = Monitor(problem, stop, observer)
        point = problem.at(start)
        iteration, size = 0, self.batch
        reason = monitor.look(iteration, point)
        random = np.random.default_rng(self.seed)
        try:
            first, scale = (_first_gains(problem, point) if reason is None else start), 1.0
            state = DescentState(point.element, first, np.zeros_like(start))
            batches = _batches(problem, size, random)
            while reason is None:
                moved = self._pass(problem, batches, state, random)
                found = problem.at(moved.element)
                if found.value < point.value:
                    point, scale = found, GROWTH * scale
                    state = moved._replace(gains=np.maximum(moved.gains, LEAST * scale * first))
                else:
                    scale, size = 0.5 * scale, 2 * size
                    state = DescentState(point.element, scale * first, np.zeros_like(start))
                    batches = _batches(problem, size, random)
                iteration += 1
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)

    def _pass(
        self, problem: SampledProblem, batches: list[Any], state: DescentState, random: Any
    ) -> DescentState:
        """Go through all batches."""
        element, gains, change = state
        for k in random.permutation(len(batches)):
            point = batches[k].at(element)
            gradient = point.gradient
            gains = gains * np.clip(1 - self.meta * _agreement(problem, gradient, change), 0.5, 2.0)
            along = gradient + self.memory * point.hessian_product(change) if change.any() else gradient
            element = element - gains * gradient
            change = self.memory * change - gains * along
        return DescentState(element, gains.astype(element.dtype, copy=False), change)


def _batches(problem: SampledProblem, size: int, random: np.random.Generator) -> list[Any]:
    """Return the problem in pieces."""
    order = random.permutation(problem.n_instances)
    if size >= len(order):
        return [problem]
    return [problem.sampled(np.sort(order[k : k + size])) for k in range(0, len(order), size)]


def _first_gains(problem: SampledProblem, point: Any) -> Array:
    """Half of what exact curvature along the gradient suggests, divided as curvatures are, if known."""
    known = problem.curvatures(point)
    shape = np.ones_like(point.gradient) if known is None else 1 / known
    along = shape * point.gradient
    curvature = problem.inner(along, point.hessian_product(along))
    share = problem.inner(along, point.gradient) / curvature if curvature > 0 else 1.0
    return np.asarray(0.5 * share * shape)


def _agreement(problem: SampledProblem, gradient: Array, change: Array) -> Array:
    """z: of every coordinate, or of every space as a whole."""
    if problem.orthogonal:
        product = gradient * change
    else:
        product = np.empty_like(gradient)
        for place in problem.slices.values():
            masked = np.zeros_like(gradient)
            masked[place] = gradient[place]
            product[place] = problem.inner(masked, change)
    size = float(np.abs(product).mean()) if len(product) else 0.0
    return product / size if size > 0 else product
