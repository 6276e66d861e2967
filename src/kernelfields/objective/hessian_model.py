"""A model of the Hessian that knows how coordinates hang together, from labellings drawn by the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array

CURVED = 1.1
"""Curvature from which on a coordinate is part of the model; along the others a diagonal is good enough."""

STEPS = 8
"""Of conjugate gradients: more of them solve equations that are inexact themselves."""


class HessianModel:
    """D + ZᵀZ on some coordinates, the diagonal of curvatures on all others.

    A diagonal misses that features occur together: the many features of one uncertain position are curved
    along their sum, not each for itself. The rows of Z are differences between pairs of labellings, drawn
    for every sequence (`drawn_differences`); D is what they lack of the known diagonal.

    Parameters
    ----------
    places : integers
        The coordinates.
    differences : CSR matrix
        Rows R, a column for each of them, with RᵀR about the curvature of the loss.
    curvatures : array
        The diagonal there, over the weights.
    weights : array
        Weights of these coordinates in the inner product: Z is R over their roots.
    """

    def __init__(self, places: Array, differences: Any, curvatures: Array, weights: Array) -> None:
        self.places = places
        self.weights = weights.astype(np.float32)
        self._scales = np.sqrt(self.weights)
        differences.data /= self._scales[differences.indices]
        self._differences = differences
        self._curvatures = curvatures.astype(np.float32)
        lacking = self._curvatures - np.asarray(differences.power(2).sum(axis=0)).ravel()
        self._rest = np.maximum(lacking, np.minimum(self._curvatures, 1.0))

    def correction(self, vector: Array) -> Array:
        """Return what a solution of H x = vector has at ``places`` beyond vector / curvatures."""
        right = vector[self.places].astype(np.float32, copy=False) * self._scales
        return np.asarray((self._solved(right) - right / self._curvatures) / self._scales)

    def _solved(self, right: Array) -> Array:
        """Some steps of conjugate gradients, preconditioned by the diagonal."""
        Z, result, residual = self._differences, np.zeros_like(right), right.copy()
        scaled = residual / self._curvatures
        direction, size = scaled, float(residual @ scaled)
        for _ in range(STEPS):
            if not size > 0:
                break
            image = Z.T @ (Z @ direction) + self._rest * direction
            step = np.float32(size / float(direction @ image))
            result += step * direction
            residual -= step * image
            scaled = residual / self._curvatures
            size, before = float(residual @ scaled), size
            direction = scaled + np.float32(size / before) * direction
        return result
