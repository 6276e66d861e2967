"""Past steps of a search on top of more knowledge of the Hessian than a diagonal."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ._base import HessianModelLike, ProblemLike
from .lbfgs import History


class ModelledHistory(History):
    """Past steps on top of a model of the Hessian that differs from a diagonal at some coordinates.

    It is asked for one solution in every iteration, that of the gradient. Those of changes of the gradient
    are differences between two of them, kept where they differ from what the diagonal says.

    Parameters
    ----------
    problem : ProblemLike
        Its inner product; coordinates must be orthogonal.
    memory : int
        Number of pairs kept.
    curvatures : array
        The diagonal.
    model : HessianModelLike
        What is known beyond it.
    """

    def __init__(self, problem: ProblemLike, memory: int, curvatures: Array, model: HessianModelLike) -> None:
        self._model = model
        super().__init__(problem, memory, curvatures)

    def clear(self) -> None:
        """Forget everything but the model."""
        super().clear()
        self._corrections: list[Array] = []  # of the changes
        self._last: Array | None = None  # of the vector before
        self._newest: Array | None = None  # the last step that has a correction

    def apply(self, vector: Array) -> Array:
        """Multiply minus the gradient, after the last step, by the inverse Hessian."""
        now = self._model.correction(vector)
        if self.steps and self.steps[-1] is not self._newest:
            assert self._last is not None
            self._complete(self._last - now)
        self._last = now
        return super().apply(vector)

    def _complete(self, correction: Array) -> None:
        """Take in the correction of the last change."""
        places, self._newest = self._model.places, self.steps[-1]
        along = self._model.weights * correction
        within = np.array([float(change[places] @ along) for change in self.changes])
        if self._within[-1, -1] + within[-1] <= 0:  # solutions are inexact, and so are their differences
            correction, within = 0 * correction, 0 * within
        self._corrections = [*self._corrections, correction][-len(self.steps) :]
        self._within[-1, :] += within
        self._within[:-1, -1] += within[:-1]
        self._scale = float(self._across[-1, -1] / self._within[-1, -1])

    def _guess(self, vector: Array) -> Array:
        result = self._divided(vector)
        result[self._model.places] += self._last
        return result

    def _correct(self, result: Array, weights: Array) -> None:
        assert self._last is not None
        correction = self._last.copy()
        self._problem.add_multiples(correction, self._corrections, -weights)
        result[self._model.places] += self._scale * correction
