"""The loss of any structure and any sum of spaces, by whole arrays of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import UnsupportedError
from ..losses import BlockLoss, LocalLoss, Loss, LossValue
from ..native import score_dot
from ..spaces import BoundSpace, Curved, Joint, places_of
from ..structures import ApproximateSum, BlockProduct, Scores, SumOracle
from ._base import DataTerm, LossPoint, LossRay, SecondDerivatives
from .certificate import Rounding


class ArrayData(DataTerm):
    """Σ_i loss(θ(f); y^i), θ(f) = offset + Σ_τ scores(f_τ) in one array for each clique type.

    Parameters
    ----------
    loss : Loss
        Bound to the structure and the observed outputs.
    spaces : sequence of BoundSpace
        Several may feed one clique type and add up.
    offset : scores, optional
        Fixed scores: a base measure, −inf for what is forbidden.
    dtype : dtype
        Precision of the scores.
    """

    second_order = True
    mixes = True
    near = 0.0

    def __init__(
        self,
        loss: Loss,
        spaces: Sequence[BoundSpace],
        offset: Scores | None = None,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        self.loss = loss
        self.structure = loss.structure
        self.spaces = tuple(spaces)
        self.offset = offset
        self.dtype = np.dtype(dtype)
        self._places = places_of(self.spaces)
        self.size = sum(space.size for space in self.spaces)

    @cached_property
    def certain(self) -> Rounding | None:
        """Of sums in double."""
        kinds = [self.dtype, *(space.precision for space in self.spaces)]
        return Rounding.of(self.loss, self.offset) if all(kind == np.float64 for kind in kinds) else None

    def at(self, element: Array) -> ArrayLossPoint:
        """Return the loss, by its scores."""
        return ArrayLossPoint(self, self.scores(element), element.dtype)

    def scores(self, element: Array) -> dict[str, Array]:
        """θ without the offset."""
        theta = {clique: np.zeros(shape, self.dtype) for clique, shape in self.structure.shapes.items()}
        for space, place in zip(self.spaces, self._places, strict=True):
            if isinstance(space, Joint):
                space.feed(element[place], theta)
            else:
                space.add_scores(element[place], theta[space.clique])
        return theta

    def with_offset(self, theta: Scores) -> dict[str, Array]:
        """θ with the offset added."""
        if self.offset is None:
            return dict(theta)
        return {clique: values + self.offset[clique] for clique, values in theta.items()}

    def representer(self, gradient: Scores, dtype: npt.DTypeLike = np.float64) -> Array:
        """Riesz element of a gradient in the scores."""
        result = np.empty(self.size, dtype)
        for space, place in zip(self.spaces, self._places, strict=True):
            result[place] = _represented(space, gradient)
        return result

    def take(self, ids: npt.ArrayLike) -> ArrayData:
        """Return the loss on some instances."""
        loss = self.loss.take(ids)
        spaces = [space.take(loss.structure, ids) for space in self.spaces]
        offset = None if self.offset is None else self.structure.cut(self.offset, ids)
        return ArrayData(loss, spaces, offset, self.dtype)

    def exact(self) -> ArrayData:
        """Return the same in double."""
        offset = self.offset
        if offset is not None:
            offset = {clique: values.astype(np.float64) for clique, values in offset.items()}
        return ArrayData(self.loss, [space.precise() for space in self.spaces], offset)

    @property
    def arrays(self) -> ArrayData:
        """Itself."""
        return self


class ArrayLossPoint(LossPoint, SecondDerivatives):
    """A loss near one element; keeps its scores and marginals."""

    def __init__(self, data: ArrayData, theta: dict[str, Array], dtype: npt.DTypeLike) -> None:
        self.data = data
        self.theta = theta
        """Without the offset."""
        self.dtype = dtype

    @cached_property
    def loss(self) -> LossValue:
        """The loss and its gradient in the scores."""
        return self.data.loss.at(self.data.with_offset(self.theta))

    @property
    def value(self) -> float:
        """Their sum."""
        return self.loss.value

    @property
    def slack(self) -> float:  # type: ignore[override]  # nothing sets it
        """At most how far that sum is too low."""
        return self.loss.slack

    @property
    def unsettled(self) -> int:  # type: ignore[override]  # nothing sets it
        """How many instances did not converge."""
        return self.loss.unsettled

    def mismatch(self) -> Array:
        """Return the Riesz element of that gradient."""
        return self.data.representer(self.loss.gradient, self.dtype)

    def variances(self) -> Array | None:
        """Σ_c μ_c φ_k(x_c)², or what spaces make of marginals μ; None without marginals."""
        spaces, expected = self.data.spaces, self._expected()
        if expected is None or not spaces:
            return None
        pieces = []
        for space in spaces:
            if not isinstance(space, Curved):
                return None
            pieces.append(space.curvatures(expected[space.clique]))
        return np.concatenate(pieces).astype(self.dtype)

    def _expected(self) -> Scores | None:
        """Return μ, where it can be had."""
        data = self.data
        if isinstance(data.loss, LocalLoss):
            return data.loss.expected(data.with_offset(self.theta))
        if isinstance(data.structure, SumOracle | ApproximateSum):
            return data.structure.marginals(data.with_offset(self.theta)).parts
        return None

    def along(self, direction: Array) -> ArrayLossRay:
        """Return the loss on a ray, whose scores are linear."""
        return ArrayLossRay(self, direction)

    def curvature(self, direction: Array) -> Array:
        """Return the derivative of the gradient, by that in the scores."""
        data = self.data
        along = data.loss.curvature(data.with_offset(self.theta), data.scores(direction))
        return data.representer(along, self.dtype)

    @cached_property
    def blocks(self) -> Mapping[str, BlockProduct]:
        """The curvature of the loss inside single cliques."""
        loss = self.data.loss
        if not isinstance(loss, BlockLoss):
            raise UnsupportedError(
                f"{type(loss).__name__} has no block for every clique; use another solver."
            )
        return loss.blocks(self.data.with_offset(self.theta))

    def block_curvature(self, direction: Array) -> Array:
        """Return the same by those blocks; spaces that feed one clique type stay coupled."""
        along = self.data.scores(direction)
        curvature = {clique: block.times(along[clique]) for clique, block in self.blocks.items()}
        return self.data.representer(curvature, self.dtype)


class ArrayLossRay(LossRay):
    """Scores are linear in t, so that no trial needs a product with inputs."""

    def __init__(self, start: ArrayLossPoint, direction: Array) -> None:
        self.start = start
        self._theta = start.data.scores(direction)

    def at(self, step: float) -> ArrayLossPoint:
        """Return the loss at f + t d."""
        theta = {clique: step * values for clique, values in self._theta.items()}
        for clique, values in theta.items():
            values += self.start.theta[clique]
        return ArrayLossPoint(self.start.data, theta, self.start.dtype)

    def slope(self, evaluation: ArrayLossPoint) -> float:
        """Return ⟨∇loss, θ(d)⟩: the gradient in the spaces may never be asked for.

        Marginals of structures from other packages may be of another precision than scores.
        """
        gradient = evaluation.loss.gradient
        return sum(
            score_dot(gradient[clique].astype(values.dtype, copy=False), values)
            for clique, values in self._theta.items()
        )


def _represented(space: BoundSpace, gradient: Scores) -> Array:
    """Riesz element of a gradient in the scores."""
    if isinstance(space, Joint):
        return space.represent(gradient)
    return space.representer(gradient[space.clique])
