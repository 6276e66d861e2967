"""Online learning on any structure: what `Sweep` does natively for chains, one instance after the other."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..losses import require_sums
from ..objective import Term, slices_of
from ..structures import Scores, StructureBatch, bounded_argmax
from ._base import OnlineRule


class InstanceSweep:
    """The weights of a linear model on any structure, changed by a rule after every instance.

    A change takes time in proportion to the number of weights, not to that of the features that an
    instance has; chains with sparse features have `Sweep`.

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
        (decay,), order = self.decays, np.asarray(ids)

        def value_after(step: float) -> float:
            if not 1e-12 < step < 1e6:
                return np.inf
            core = self.core.at_zero()
            core.descend(order, step, decay, 0, 0.0)
            penalty = 0.5 * len(order) * float(decay @ np.square(core.w))
            value = core.descend(order, 0.0, decay, 0, 0.0) + penalty
            return float(value) if np.isfinite(value) else np.inf

        return value_after

    @property
    def n_instances(self) -> int:
        """S."""
        return self.structure.n_instances

    @property
    def decays(self) -> tuple[Array]:
        """λ/S of every weight."""
        each = [np.full(term.space.size, term.penalty / max(self.sequences, 1)) for term in self.terms]
        return (np.concatenate(each),)

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
        return self.core.w.copy()

    def average(self) -> Array:
        """Return the mean of the weights over all steps since `begin_average`; else the present ones."""
        return self.core.average()

    def load(self, element: Array) -> None:
        """Go on from these weights; an average begun before is dropped."""
        self.core.w, self.core.late = np.array(element, dtype=np.float64), None

    def variance(self) -> Array | None:
        """Return the variances of the weights, for rules that know them; else None."""
        return self.core.sigma.copy() if self.uncertain else None

    def load_variance(self, element: Array) -> None:
        """Go on with these variances."""
        self.core.sigma, self.uncertain = np.array(element, dtype=np.float64), True

    def set_variance(self, value: float) -> None:
        """Make all weights equally uncertain."""
        self.load_variance(np.full(len(self.core.w), value))


class InstanceCore:
    """Weights and the rules that change them, under the names that the native core has."""

    def __init__(self, sweep: InstanceSweep) -> None:
        self.terms, self.slices = sweep.terms, slices_of(sweep.terms)
        self.w = np.zeros(sum(term.space.size for term in sweep.terms))
        self.sigma = np.ones_like(self.w)
        self.late: Array | None = None
        """Σ_k k · (change k) since averaging began: the mean of m + 1 weights is w − late/(m + 1)."""
        self.averaged = 0
        self._instances = [_Instance(sweep, i) for i in range(sweep.n_instances)]

    def at_zero(self) -> InstanceCore:
        """Return the same instances with weights of zero."""
        other = copy.copy(self)
        other.w, other.late = np.zeros_like(self.w), None
        return other

    def begin_average(self) -> None:
        """Average the weights from here on."""
        self.late, self.averaged = np.zeros_like(self.w), 0

    def average(self) -> Array:
        """Return the mean of the weights since then."""
        return self.w.copy() if self.late is None else self.w - self.late / (self.averaged + 1)

    def perceptron(self, order: Array) -> float:
        """Perceptron: w ← w + d."""
        return sum(
            self._change(mistake, mistake.weight) * mistake.margin for mistake in self._mistakes(order)
        )

    def passive_aggressive(self, order: Array, variant: int, c: float, error_sensitive: bool) -> float:
        """Passive-aggressive: w ← w + τ d."""
        total = 0.0
        for mistake in self._mistakes(order):
            loss = mistake.margin + (np.sqrt(mistake.wrong) if error_sensitive else 1.0)
            square = float(mistake.difference @ mistake.difference)
            if square > 0:
                steps = (loss / square, min(c, loss / square), loss / (square + 0.5 / c))
                self._change(mistake, mistake.weight * steps[variant])
            total += mistake.weight * loss
        return total

    def arow(self, order: Array, gamma: float) -> float:
        """AROW: w_k ← w_k + α σ_k d_k."""
        total = 0.0
        for mistake in self._mistakes(order):
            loss, d = mistake.margin + mistake.wrong, mistake.difference
            alpha = mistake.weight * loss / (float(d @ (self.sigma * d)) + gamma)
            self._add(alpha * self.sigma * d)
            self.sigma = 1 / (1 / self.sigma + d * d / gamma)
            total += mistake.weight * loss
        return total

    def descend(self, order: Array, step: float, decay: Array, time: int, least: float) -> float:
        """Descent: w ← (w − η ∇loss) / (1 + η λ/S); ``least`` is a shortcut of the native core."""
        total = 0.0
        for t, i in enumerate(order, start=time):
            instance = self._instances[i]
            loss, gradient = instance.log_loss(self.w)
            if not np.isfinite(loss):
                return np.nan
            eta = step / (1 + step * decay[0] * t)
            self.averaged += 1
            self._add((self.w - eta * gradient) / (1 + eta * decay) - self.w)
            total += loss
        return total

    def _mistakes(self, order: Array) -> Iterator[_Mistake]:
        for i in order:
            self.averaged += 1
            mistake = self._instances[i].mistake(self.w)
            if mistake is None:
                continue
            if not np.isfinite(mistake.margin):
                mistake.margin = np.nan
            yield mistake

    def _change(self, mistake: _Mistake, factor: float) -> float:
        self._add(factor * mistake.difference)
        return factor

    def _add(self, change: Array) -> None:
        self.w = self.w + change
        if self.late is not None:
            self.late += self.averaged * change


class _Mistake:
    """The best output of an instance, where it is not the right one."""

    def __init__(self, difference: Array, margin: float, wrong: int, weight: float) -> None:
        self.difference, self.margin, self.wrong, self.weight = difference, margin, wrong, weight


class _Instance:
    """One instance: its structure, its spaces, its right output."""

    def __init__(self, sweep: InstanceSweep, i: int) -> None:
        offsets = sweep.structure.output_offsets
        self.structure: Any = sweep.structure.take([i])
        self.right = np.ascontiguousarray(sweep.outputs[offsets[i] : offsets[i + 1]], dtype=np.int32)
        # Weights are in double precision here; features of tokens may not be.
        self.spaces = [term.space.take(self.structure, [i]).precise() for term in sweep.terms]
        self.slices = tuple(slices_of(sweep.terms).values())
        self.fixed = None if sweep.fixed is None else sweep.structure.cut(sweep.fixed, [i])
        self.weight = 1.0 if sweep.weights is None else float(sweep.weights[i])

    def scores(self, w: Array) -> dict[str, Array]:
        """θ of the instance."""
        theta = {clique: np.zeros(shape) for clique, shape in self.structure.shapes.items()}
        for clique, values in ({} if self.fixed is None else self.fixed).items():
            theta[clique] += values
        for space, place in zip(self.spaces, self.slices, strict=True):
            space.add_scores(w[place], theta[space.clique])
        return theta

    def pulled(self, gradient: Scores) -> Array:
        """Return the derivative in the weights."""
        return np.concatenate([space.adjoint(gradient[space.clique]) for space in self.spaces])

    def mistake(self, w: Array) -> _Mistake | None:
        """Compare the best output with the right one; None if they are the same."""
        theta = self.scores(w)
        best = bounded_argmax(self.structure, theta).labels
        if np.array_equal(best, self.right):
            return None
        difference = {clique: np.zeros(shape) for clique, shape in self.structure.shapes.items()}
        self.structure.subtract_parts(difference, best)
        self.structure.subtract_parts(difference, self.right, np.array([-1.0]))
        margin = self.structure.score(theta, best) - self.structure.score(theta, self.right)
        wrong = int((best != self.right).sum())
        return _Mistake(self.pulled(difference), float(margin[0]), wrong, self.weight)

    def log_loss(self, w: Array) -> tuple[float, Array]:
        """−log p of the right output, and its gradient in the weights, both times the weight."""
        theta = self.scores(w)
        expected = require_sums(self.structure).marginals(theta)
        log_partition, mismatch = expected.log_partition, expected.parts
        self.structure.subtract_parts(mismatch, self.right)
        loss = float((log_partition - self.structure.score(theta, self.right))[0])
        return self.weight * loss, self.weight * self.pulled(mismatch)
