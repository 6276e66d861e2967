"""Where a fit of a structured SVM ended, and whether another may start from there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays import Array
from ..data.training import Training
from ..fitting.digest import digest
from ..fitting.run import precision_of
from ..objective import BlockDual, DetourDual, Detours, Problem
from ..solvers import Reason, Result
from .parts import Part

SETTINGS = (
    "norm",
    "rescaling",
    "cost",
    "kernel",
    "structure",
)
"""What decides the planes and the functions, besides the data and the precision; penalties may change."""


class Ended(NamedTuple):
    """The end of a fit. Planes are those of labellings: they are wrong for other data, rules or costs."""

    problem: str
    """What was minimised, but for penalties: the digest of it."""
    levels: Array
    mixtures: list[Array] | None
    """Of every sequence; None where the solver had none."""
    element: Array
    metrics: list[float]
    detours: Detours | None
    """Of all sequences; None where the solver had none."""

    @classmethod
    def of(
        cls,
        model: Any,
        training: Training,
        problem: Problem,
        dual: BlockDual | DetourDual | None,
        result: Result,
    ) -> Self:
        """Describe the end of a fit; one that was interrupted may have left mixtures in disorder."""
        blocks = dual if isinstance(dual, BlockDual) else None
        levels = np.zeros(0) if blocks is None else blocks.levels
        whole = levels.any() and result.reason is not Reason.INTERRUPTED
        metrics = [term.metric for term in problem.terms]
        return cls(
            _problem(model, training),
            levels,
            blocks.mixtures if whole and blocks is not None else None,
            result.point.element,
            metrics,
            dual.detours() if isinstance(dual, DetourDual) else None,
        )

    def fits(self, model: Any, training: Training) -> bool:
        """Whether a fit has the same data, weights, rules and settings, penalties left aside."""
        return self.problem == _problem(model, training)

    def element_for(self, problem: Problem) -> Array:
        """Return the function of the same dual variables with the penalties of another problem."""
        result = self.element.copy()
        for term, place, metric in zip(problem.terms, problem.slices.values(), self.metrics, strict=True):
            result[place] *= metric / term.metric
        return result


def _problem(model: Any, training: Training) -> str:
    """Return the digest of what is minimised: data, weights, what is forbidden, settings."""
    parts = {
        name: replace(part, penalty=None) if isinstance(part, Part) else part
        for name, part in model.parts.items()
    }
    settings = [getattr(model, name) for name in SETTINGS]
    return digest([*training.contents(), parts, *settings, precision_of(model.run)])
