"""Transduction by switching labels [joachims1999]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .binary_margin import BinaryMargin, MarginFunction


class SwitchingStep(NamedTuple):
    """A support vector machine that was fitted on the way."""

    machine: int
    """The label against all others, by its place in ``classes_``; 1 if there are two."""
    negative_weight: float
    """C* of unlabelled rows held to be negative, as a multiple of the weight of labelled rows."""
    positive_weight: float
    """The same of those held to be positive."""
    switched: int
    """Number of pairs whose labels were switched before this fit; 0 for the first fit with these weights."""
    value: float
    """The objective with these weights."""


class Stage(NamedTuple):
    """C* of unlabelled rows, as multiples of the weight of labelled rows."""

    negative: float
    positive: float

    def weights(self, labels: Array) -> Array:
        """Return that of each row."""
        return np.where(labels > 0, self.positive, self.negative)


class Transduced(NamedTuple):
    """What label switching found."""

    function: MarginFunction
    labels: Array
    """±1 of all rows."""
    steps: list[SwitchingStep]


@dataclass(frozen=True)
class LabelSwitching:
    """Minimises over f, b and the labels ŷ of unlabelled rows, a given number of them positive,

        (λ/2)‖f‖² + Σ_labelled w_i ξ_i + w* Σ_unlabelled ξ_j,    ξ = max(0, 1 − y (f(x) + b)).

    The first labels are those of the machine without unlabelled rows. Their weight then rises from next to
    nothing to w*, doubled from stage to stage; in each stage labels are switched, and the machine fitted
    again, while a positive row m and a negative row l have ξ_m + ξ_l > 2 with both ξ > 0. Switched, with f as
    it was, they have less loss: the objective falls with every switch, so that no labelling comes twice. As
    the loss of a pair does not depend on other pairs, all such pairs, the worst first, are switched at once.
    """

    weight: float
    """w*, as a multiple of the weight of labelled rows."""
    first_share: float
    """Share of w* that the first stage has."""

    def run(
        self,
        margin: BinaryMargin,
        labels: Array,
        weights: Array,
        positives: int,
        machine: int,
        say: Callable[[str], None] = lambda _: None,
    ) -> Transduced:
        """Label rows behind those that have labels of ±1 and weights; K is that of all rows."""
        known, unlabelled = len(labels), len(margin.gram) - len(labels)
        every = np.concatenate([labels, np.ones(unlabelled)])
        function = margin.fit(every, np.concatenate([weights, np.zeros(unlabelled)]))
        every[known:] = _largest(function.scores[known:], positives)
        steps: list[SwitchingStep] = []

        def fitted(stage: Stage, every: Array, start: Array) -> MarginFunction:
            return margin.fit(every, np.concatenate([weights, stage.weights(every[known:])]), start)

        for stage in self.stages(unlabelled, positives):
            function = fitted(stage, every, function.coef)
            steps.append(SwitchingStep(machine, *stage, 0, function.certificate.value))
            say(
                f"machine of label {machine}: weight {max(stage):.2g}, value {function.certificate.value:.6g}"
            )
            while len(pairs := _pairs(function.slacks(every), every, known)):
                order = _exchange(pairs, len(every))
                switched = fitted(stage, every[order], function.coef[order])
                # a switch may gain less than the tolerance of a fit; without this it might not end
                if switched.certificate.value >= function.certificate.value:
                    break
                every, function = every[order], switched
                steps.append(SwitchingStep(machine, *stage, len(pairs), function.certificate.value))
        return Transduced(function, every, steps)

    def stages(self, unlabelled: int, positives: int) -> list[Stage]:
        """Return the weights, stage by stage, up to w* for both labels."""
        if unlabelled == 0 or self.weight == 0:
            return []
        negatives = unlabelled - positives
        ratio = positives / negatives if positives and negatives else 1.0
        first = self.first_share * self.weight
        found = [Stage(min(first, self.weight), min(first * ratio, self.weight))]
        while min(found[-1]) < self.weight:
            found.append(Stage(*(min(2 * last, self.weight) for last in found[-1])))
        return found


def _pairs(slacks: Array, labels: Array, known: int) -> Array:
    """Return the rows to switch, (n, 2), worst with worst: pairs with ξ_m + ξ_l > 2, both above 0."""
    order = known + np.argsort(-slacks[known:], kind="stable")
    positive, negative = order[labels[order] > 0], order[labels[order] < 0]
    count = min(len(positive), len(negative))
    pairs = np.column_stack([positive[:count], negative[:count]])
    found = slacks[pairs]
    return pairs[(found > 0).all(axis=1) & (found.sum(axis=1) > 2)]


def _exchange(pairs: Array, count: int) -> Array:
    """Return the permutation that exchanges the rows of each pair.

    Labels and coefficients are exchanged alike: y_i β_i stays within the bounds of its label, and the sum
    of all β zero.
    """
    order = np.arange(count)
    order[pairs] = pairs[:, ::-1]
    return order


def _largest(scores: Array, count: int) -> Array:
    """Return +1 for the ``count`` largest scores, −1 for the others."""
    labels = np.full(len(scores), -1.0)
    labels[np.argsort(-scores, kind="stable")[:count]] = 1.0
    return labels
