"""The spaces that a model is a sum of, and their scores together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..spaces import BoundSpace, Joint
from ..structures import Scores, StructureBatch


@dataclass(frozen=True)
class Term:
    """A space of the model, by name, with its penalty (λ/2)‖f‖² + κ Σ_k |w_k|.

    The second part is for spaces with orthonormal coordinates; it is a penalty on them, not on f.
    """

    name: str
    space: BoundSpace
    penalty: float
    l1: float = 0.0

    @property
    def metric(self) -> float:
        """Weight of the space in the inner product."""
        return self.penalty if self.penalty > 0 else 1.0


def slices_of(terms: Sequence[Term]) -> dict[str, slice]:
    """Return the place of each space in an element."""
    ends = np.cumsum([0, *(term.space.size for term in terms)]).tolist()
    return {term.name: slice(a, b) for term, a, b in zip(terms, ends[:-1], ends[1:], strict=True)}


def sum_scores(
    structure: StructureBatch, terms: Sequence[Term], element: Array, dtype: npt.DTypeLike
) -> dict[str, Array]:
    """θ(f): the scores of all spaces, added up by clique type."""
    theta = {clique: np.zeros(shape, dtype) for clique, shape in structure.shapes.items()}
    slices = slices_of(terms)
    for term in terms:
        part = element[slices[term.name]]
        if isinstance(term.space, Joint):
            term.space.feed(part, theta)
        else:
            term.space.add_scores(part, theta[term.space.clique])
    return theta


def represented(space: BoundSpace, gradient: Scores) -> Array:
    """Riesz element of a gradient in the scores."""
    if isinstance(space, Joint):
        return space.represent(gradient)
    return space.representer(gradient[space.clique])
