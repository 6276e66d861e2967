"""Parts of a model: functions that are learnt together, each the score of one clique type.

    θ = Σ parts,    R = loss(θ) + Σ λ_p/2 ‖f_p‖²

A `Part` is its settings. Bound to a training set it knows what it saw there (`BoundPart`): the kernel with
its width, the basis that was drawn. The bound part makes the space in which its function is learnt, as often
as a search asks for one, in single precision and in double; and the scorer that a fitted model keeps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ...checks import Check, Checked, optional, require_not_negative, shown
from ...errors import InputError
from ...objective import Norm
from ...parameters import Parameterised
from ...spaces import BoundSpace
from ..scorers import LearntScorer
from .data import PartData


def _name(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise InputError(f"{name} is {shown(value)}; it must be the name of a clique type.")


def _norm(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, Norm):
        raise InputError(f"{name} is {shown(value)}; it must be an L1Norm, GroupNorm or SpaceNorm.")


@dataclass(frozen=True, kw_only=True, repr=False)
class Part(Checked, Parameterised, ABC):
    """Settings of a function that scores one clique type."""

    on: str | None = None
    """The clique type; None stands for that of the default part of the same name, or the answers."""
    penalty: float | None = None
    """λ; None stands for that of the model."""
    norm: Norm | None = None
    """A further penalty that is not squared."""
    looks: ClassVar[bool] = True
    """Whether it looks at the input: its cliques then need scores for each of them."""
    _checks: ClassVar[Mapping[str, Check]] = {
        "on": optional(_name),
        "penalty": optional(require_not_negative),
        "norm": _norm,
    }

    @abstractmethod
    def bind(self, data: PartData) -> BoundPart:
        """Return the part as it is on a training set."""


class BoundPart(ABC):
    """A part that has seen its training set."""

    on: str
    """The clique type."""

    @abstractmethod
    def space(self, data: PartData, dtype: Any) -> BoundSpace:
        """Return the space of its functions on the training set, elements in some precision."""

    @abstractmethod
    def scorer(self, space: Any, element: Array) -> LearntScorer:
        """Return what a fitted model keeps of an element of the space."""

    @abstractmethod
    def element(self, space: Any, scorer: Any) -> Array:
        """Return the element of the space that is the function of a scorer, as far as the space has it."""

    def held_out(self, data: PartData) -> Callable[[Any, Array], Array]:
        """Return the scores of elements of a space on other data."""
        on: str = self.on

        def scores(space: Any, element: Array) -> Array:
            into: dict[str, Array] = {on: np.zeros(data.batch.shapes[on])}
            self.scorer(space, element).add_scores(data.batch, data.features, into)
            return into[on]

        return scores
