"""Parts of a model: functions that are learnt together, each the score of one clique type.

    θ = Σ parts,    R = loss(θ) + Σ λ_p/2 ‖f_p‖²

A `Part` is its settings. Bound to a training set it knows what it saw there (`BoundPart`): the kernel with
its width, the basis that was drawn. The bound part makes the space in which its function is learnt, as often
as a search asks for one, in single precision and in double; and the scorer that a fitted model keeps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ...checks import Check, Checked, optional, require_not_negative, shown
from ...data.training import require_seen
from ...errors import InputError
from ...objective import Norm, Problem, Term
from ...parameters import Parameterised, alike
from ...spaces import BoundSpace
from ...structures import StructureBatch
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

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls.__eq__ = Part.__eq__  # type: ignore[method-assign]  # before `dataclass` writes its own
        cls.__hash__ = Part.__hash__  # type: ignore[method-assign]

    def __eq__(self, other: object) -> bool:
        """Compare settings; kernels and arrays by what they hold."""
        return type(self) is type(other) and alike(self, other)

    def __hash__(self) -> int:
        return hash((type(self), self.on))

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
        """Return the element of the space that is the function of a scorer, as far as the space has it.

        What spaces keep beside coefficients is computed by `Problem.refreshed`.
        """

    def held_out(self, data: PartData) -> Callable[[Any, Array], Array]:
        """Return the scores of elements of a space on other data."""
        on: str = self.on

        def scores(space: Any, element: Array) -> Array:
            into: dict[str, Array] = {on: np.zeros(data.batch.shapes[on])}
            self.scorer(space, element).add_scores(data.batch, data.features, into)
            return into[on]

        return scores


@dataclass(frozen=True)
class BoundParts:
    """Parts by name, in the order that their elements have in a problem."""

    parts: Mapping[str, Part]
    """Settings, each with a penalty of its own."""
    bound: Mapping[str, BoundPart]
    data: PartData
    """The training set."""

    @classmethod
    def of(cls, parts: Mapping[str, Part], data: PartData) -> BoundParts:
        """Bind parts to a training set.

        Clique types of parts that it lacks are refused; so are features of cliques that no part looks at.
        """
        require_seen(data.batch, {part.on for part in parts.values() if part.looks and part.on is not None})
        for name, part in parts.items():
            if part.on is not None and part.on not in data.batch.cliques:
                known = ", ".join(map(repr, data.batch.cliques))
                kind = type(data.batch).__name__
                raise InputError(f"The part {name!r} is on {part.on!r}, which {kind} lacks; it has {known}.")
        return cls(parts, {name: part.bind(data) for name, part in parts.items()}, data)

    @classmethod
    def of_labels(cls, parts: Mapping[str, Part], batch: StructureBatch) -> BoundParts:
        """Bind parts that look at labels alone."""
        return cls.of(parts, PartData(batch, None))

    def without(self, names: Collection[str]) -> BoundParts:
        """Return all parts but some."""
        return BoundParts(
            {name: part for name, part in self.parts.items() if name not in names},
            {name: part for name, part in self.bound.items() if name not in names},
            self.data,
        )

    def terms(self, data: PartData | None = None, dtype: Any = np.float64) -> list[Term]:
        """Return the spaces of all parts with their penalties, on the training set or a copy of it."""
        found, data = [], self.data if data is None else data
        for name, part in self.parts.items():
            assert part.penalty is not None
            try:
                found.append(Term(name, self.bound[name].space(data, dtype), part.penalty, part.norm))
            except TypeError as error:  # a space without such a norm
                raise InputError(str(error)) from error
        return found

    def scorers(self, problem: Problem, element: Array) -> dict[str, LearntScorer]:
        """Return what a fitted model keeps of an element of a problem that has these parts."""
        return self.scorers_of(
            problem.terms, {name: element[place] for name, place in problem.slices.items()}
        )

    def scorers_of(self, terms: Sequence[Term], elements: Mapping[str, Array]) -> dict[str, LearntScorer]:
        """Return the same from the elements of spaces by name."""
        return {
            term.name: self.bound[term.name].scorer(term.space, elements[term.name])
            for term in terms
            if term.name in self.bound and term.name in elements
        }

    def element(self, problem: Problem, scorers: Mapping[str, LearntScorer]) -> Array:
        """Return the element of a problem that has the functions of some scorers; 0 for parts without one."""
        pieces = []
        for term in problem.terms:
            scorer = scorers.get(term.name)
            piece = np.zeros(term.space.size)
            if scorer is not None:
                known = self.bound[term.name].element(term.space, scorer)
                piece = known if len(known) == len(piece) else piece
            pieces.append(piece)
        return np.concatenate(pieces)
