"""The parts of a model, bound to a training set: its terms, and what is read off an element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...data.training import require_seen
from ...errors import InputError
from ...objective import Problem, Term
from ...structures import StructureBatch
from ..scorers import LearntScorer
from ._base import BoundPart, Part
from .data import PartData


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
