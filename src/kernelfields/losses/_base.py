"""What a loss is: a value per instance and its gradient in the shape of the scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy.typing as npt

from ..arrays import Array
from ..errors import UnsupportedError
from ..structures import BlockOracle, BlockProduct, Blocks, Scores, StructureBatch
from ._search_base import End, Minimiser


class LossValue(NamedTuple):
    """A loss at some scores θ."""

    values: Array
    """Loss of every instance, without its weight."""
    value: float
    """Σ_i weight_i · values_i."""
    gradient: dict[str, Array]
    """Derivative of ``value`` in θ: hallucinated minus observed parts."""
    slack: float = 0.0
    """At most how far ``value`` is below the loss, where sums come from an iteration that was stopped."""
    unsettled: int = 0
    """How many instances have sums from an iteration that did not converge."""


class Loss(ABC):
    """Σ_i weight_i · loss(θ; y^i), bound to a structure and to what was observed."""

    convex: bool
    exact: bool = True
    """Whether sums over outputs are exact; if not, the loss is that of what stands for them."""
    likelihood: bool = False
    """Whether it is −log p(y|x) of outputs that were all observed."""
    maximum: bool = False
    """Whether it is the largest of planes, one for each output."""
    sums: bool = True
    """Whether it sums over whole outputs, exactly or not."""
    single: bool = False
    """Whether what searches in single precision find is precise enough to be certified in double."""
    shareable: bool = True
    """Whether it is the sum over shards of the instances, and `search` needs no other loss."""
    structure: StructureBatch

    @abstractmethod
    def at(self, scores: Scores) -> LossValue:
        """Value and gradient."""

    @abstractmethod
    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Return the derivative of the gradient along a direction in score space."""

    @abstractmethod
    def take(self, ids: npt.ArrayLike) -> Loss:
        """Return the loss of some instances only."""

    def search(self, minimiser: Minimiser[End], start: Array) -> End:
        """Return where the search for the minimum ends; some losses begin with others, or take turns.

        Parameters
        ----------
        minimiser : Minimiser
            Searches, for this loss or another in its place.
        start : element
            Where the first search starts.
        """
        return minimiser.minimise(self, start)

    def judge(self, structure: StructureBatch, outputs: Array) -> Loss | None:
        """Return the loss that held-out outputs are judged by; None: their −log p."""
        return None


class BlockLoss(Loss):
    """A loss with an approximate curvature that has a block for every clique, and is never negative."""

    @abstractmethod
    def blocks(self, scores: Scores) -> Mapping[str, BlockProduct]:
        """Return the blocks of each clique type [altun2004exp, eq. 30]."""


def blocks_of(structure: StructureBatch, scores: Scores, weights: Array | None) -> dict[str, Blocks]:
    """Covariances inside the cliques of a structure that knows them."""
    if not isinstance(structure, BlockOracle):
        raise UnsupportedError(
            f"{type(structure).__name__} does not give the marginals of every clique by itself."
        )
    return structure.blocks(scores, weights)


def undifferentiated(structure: StructureBatch) -> UnsupportedError:
    """Return the refusal of second derivatives where inference has none."""
    return UnsupportedError(
        f"{type(structure).__name__} does not differentiate its marginals, as steps of Newton's method and "
        "boosting need; use exact inference, or solver='lbfgs' where there is that choice."
    )
