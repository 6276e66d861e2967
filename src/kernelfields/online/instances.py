"""Online learning on any structure: what `Sweep` does natively for chains, one instance after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..losses import require_sums
from ..objective import Term, slices_of
from ..structures import Scores, StructureBatch, bounded_argmax
from ._base import OnlineRule
from .instance_weights import DenseWeights, InstanceWeights, SparseWeights


class InstanceSweep:
    """The weights of a linear model on any structure, changed by a rule after every instance.

    A change of the weights of sparse features takes time in proportion to the features that an instance has;
    one of other weights to the number of weights. Chains have `Sweep`.

    Parameters
    ----------
    structure : StructureBatch
        The batch; it finds best outputs and, for `Descent`, sums over all of them.
    terms : sequence of Term
        Spaces with orthonormal coordinates.
    outputs : integers
        The right outputs.
    weights : (S,) array, optional
        How many times each instance counts.
    fixed : scores, optional
        Fixed scores, −inf for what is forbidden.
    """

    def __init__(
        self,
        structure: StructureBatch,
        terms: Sequence[Term],
        outputs: Array,
        weights: Array | None = None,
        fixed: Scores | None = None,
    ) -> None:
        self.structure, self.terms = structure, tuple(terms)
        self.outputs, self.weights, self.fixed = np.asarray(outputs), weights, fixed
        self.core = InstanceCore(self)
        self.steps = 0
        self.sequences = structure.n_instances
        self.uncertain = False

    def trial(self, ids: Array) -> Callable[[float], float]:
        """Return the objective of some instances after one pass of descent through them, by its step."""
        (decays,), order = self.decays, np.asarray(ids)

        def value_after(step: float) -> float:
            if not 1e-12 < step < 1e6:
                return np.inf
            before = self.core.weights()
            self.core.load(np.zeros_like(before))
            self.core.descend(order, step, decays, 0, 0.0)
            squares = [float(part @ part) for part in self.core.split(self.core.weights())]
            penalty = 0.5 * len(order) * float(decays @ squares)
            value = self.core.descend(order, 0.0, decays, 0, 0.0) + penalty
            self.core.load(before)
            return float(value) if np.isfinite(value) else np.inf

        return value_after

    @property
    def n_instances(self) -> int:
        """S."""
        return self.structure.n_instances

    @property
    def decays(self) -> tuple[Array]:
        """λ/S of every term."""
        return (np.array([term.penalty / max(self.sequences, 1) for term in self.terms]),)

    def learn(self, rule: OnlineRule, order: Array) -> float:
        """Go through some instances, in this order; return the sum of their losses before each change."""
        loss = rule.learn(self, np.asarray(order))  # type: ignore[arg-type]  # it asks for what both have
        self.steps += len(order)
        return loss

    def begin_average(self) -> None:
        """Average the weights from here on, those of now included."""
        self.core.begin_average()

    def element(self) -> Array:
        """Return the present weights."""
        return self.core.weights()

    def average(self) -> Array:
        """Return the mean of the weights over all steps since `begin_average`; else the present ones."""
        return self.core.average()

    def load(self, element: Array) -> None:
        """Go on from these weights; an average begun before is dropped."""
        self.core.load(element)

    def variance(self) -> Array | None:
        """Return the variances of the weights, for rules that know them; else None."""
        return self.core.variance() if self.uncertain else None

    def load_variance(self, element: Array) -> None:
        """Go on with these variances."""
        self.core.load_variance(element)
        self.uncertain = True

    def set_variance(self, value: float) -> None:
        """Make all weights equally uncertain."""
        self.load_variance(np.full(sum(term.space.size for term in self.terms), value))


class InstanceCore:
    """Weights and the rules that change them, under the names that the native core has."""

    def __init__(self, sweep: InstanceSweep) -> None:
        self._slices = tuple(slices_of(sweep.terms).values())
        self._parts: list[InstanceWeights] = [
            SparseWeights(term, sweep.structure) if SparseWeights.suits(term) else DenseWeights(term)
            for term in sweep.terms
        ]
        self._sweep = sweep
        self._instances: dict[int, _Instance] = {}

    def split(self, element: Array) -> list[Array]:
        """Return the weights of every term."""
        return [element[place] for place in self._slices]

    def weights(self) -> Array:
        """Return the present weights."""
        return np.concatenate([part.weights() for part in self._parts])

    def average(self) -> Array:
        """Return the mean of the weights since `begin_average`."""
        return np.concatenate([part.average() for part in self._parts])

    def variance(self) -> Array:
        """Return the variances of the weights."""
        return np.concatenate([part.variance() for part in self._parts])

    def load(self, element: Array) -> None:
        """Go on from these weights."""
        for part, numbers in zip(self._parts, self.split(element), strict=True):
            part.load(numbers)

    def load_variance(self, element: Array) -> None:
        """Go on with these variances."""
        for part, numbers in zip(self._parts, self.split(element), strict=True):
            part.load_variance(numbers)

    def begin_average(self) -> None:
        """Average the weights from here on."""
        for part in self._parts:
            part.begin_average()

    def perceptron(self, order: Array) -> float:
        """Perceptron: w ← w + d."""
        total = 0.0
        for mistake in self._mistakes(order):
            self._add(mistake.weight)
            total += mistake.weight * mistake.margin
        return total

    def passive_aggressive(self, order: Array, variant: int, c: float, error_sensitive: bool) -> float:
        """Passive-aggressive: w ← w + τ d."""
        total = 0.0
        for mistake in self._mistakes(order):
            loss = mistake.margin + (np.sqrt(mistake.wrong) if error_sensitive else 1.0)
            square = mistake.square
            if square > 0:
                steps = (loss / square, min(c, loss / square), loss / (square + 0.5 / c))
                self._add(mistake.weight * steps[variant])
            total += mistake.weight * loss
        return total

    def arow(self, order: Array, gamma: float) -> float:
        """AROW: w_k ← w_k + α σ_k d_k."""
        total = 0.0
        for mistake in self._mistakes(order):
            loss = mistake.margin + mistake.wrong
            alpha = mistake.weight * loss / (sum(part.spread() for part in self._parts) + gamma)
            for part in self._parts:
                part.add_spread(alpha, gamma)
            total += mistake.weight * loss
        return total

    def descend(self, order: Array, step: float, decays: Array, time: int, least: float) -> float:
        """Descent: w ← (w − η ∇loss) / (1 + η λ/S)."""
        total = 0.0
        for t, i in enumerate(order.tolist(), start=time):
            instance = self._instance(i)
            loss, gradient = instance.log_loss(self._scores(i))
            if not np.isfinite(loss):
                return np.nan
            eta = step / (1 + step * decays[0] * t)
            for part, decay in zip(self._parts, decays.tolist(), strict=True):
                part.descend(i, instance.structure, gradient, eta, decay, least)
                part.tick()
            total += loss
        return total

    def _mistakes(self, order: Array) -> Iterator[_Mistake]:
        """Yield what is wrong, with d kept in all parts; count a step behind each."""
        for i in order.tolist():
            mistake = self._mistake(i)
            if mistake is not None:
                yield mistake
            for part in self._parts:
                part.tick()

    def _mistake(self, i: int) -> _Mistake | None:
        """Compare the best output with the right one; None if they are the same."""
        instance, theta = self._instance(i), self._scores(i)
        found = instance.difference(theta)
        if found is None:
            return None
        difference, margin, wrong = found
        square = sum(part.collect(i, instance.structure, difference) for part in self._parts)
        return _Mistake(margin if np.isfinite(margin) else np.nan, wrong, instance.weight, square)

    def _instance(self, i: int) -> _Instance:
        if i not in self._instances:
            self._instances[i] = _Instance(self._sweep, i)
        return self._instances[i]

    def _scores(self, i: int) -> dict[str, Array]:
        """θ of an instance."""
        instance = self._instance(i)
        theta = instance.fixed_scores()
        for part in self._parts:
            part.add_scores(i, instance.structure, theta)
        return theta

    def _add(self, factor: float) -> None:
        for part in self._parts:
            part.add(factor)


class _Mistake(NamedTuple):
    """The best output of an instance, where it is not the right one."""

    margin: float
    wrong: int
    weight: float
    square: float
    """‖d‖²."""


class _Instance:
    """One instance: its structure, its right output."""

    def __init__(self, sweep: InstanceSweep, i: int) -> None:
        offsets = sweep.structure.output_offsets
        self.structure: Any = sweep.structure.take([i])
        self.right = np.ascontiguousarray(sweep.outputs[offsets[i] : offsets[i + 1]], dtype=np.int32)
        self.fixed = None if sweep.fixed is None else sweep.structure.cut(sweep.fixed, [i])
        self.weight = 1.0 if sweep.weights is None else float(sweep.weights[i])

    def fixed_scores(self) -> dict[str, Array]:
        """θ without what is learnt."""
        theta = {clique: np.zeros(shape) for clique, shape in self.structure.shapes.items()}
        for clique, values in ({} if self.fixed is None else self.fixed).items():
            theta[clique] += values
        return theta

    def difference(self, theta: dict[str, Array]) -> tuple[Scores, float, int] | None:
        """Return parts(right) − parts(best), by how much the best wins, and how many places differ."""
        best = bounded_argmax(self.structure, theta).labels
        if np.array_equal(best, self.right):
            return None
        difference = {clique: np.zeros(shape) for clique, shape in self.structure.shapes.items()}
        self.structure.subtract_parts(difference, best)
        self.structure.subtract_parts(difference, self.right, np.array([-1.0]))
        margin = self.structure.score(theta, best) - self.structure.score(theta, self.right)
        return difference, float(margin[0]), int((best != self.right).sum())

    def log_loss(self, theta: dict[str, Array]) -> tuple[float, Scores]:
        """−log p of the right output, and its gradient in the scores, both times the weight."""
        expected = require_sums(self.structure).marginals(theta)
        log_partition, mismatch = expected.log_partition, expected.parts
        self.structure.subtract_parts(mismatch, self.right)
        loss = float((log_partition - self.structure.score(theta, self.right))[0])
        if self.weight != 1:
            mismatch = {clique: self.weight * values for clique, values in mismatch.items()}
        return self.weight * loss, mismatch
