"""Scores of labels alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ...arrays import Array
from ...checks import Check, one_of
from ...errors import InputError
from ...spaces import Boundary, Free
from ...structures import EdgeBatch, StructureBatch
from ..scorers import EndScorer, TableScorer
from ._base import BoundPart, Part
from .data import PartData


@dataclass(frozen=True, kw_only=True, repr=False)
class FreeScores(Part):
    """V_{y_c}: a number for whatever a clique can have, the same for all cliques of a type.

    Parameters
    ----------
    on : str, optional
        The clique type.
    penalty, norm : float, Norm, optional
        λ of (λ/2)‖V‖², and a further penalty.
    where : "every" or "ends"
        All cliques; or the labels where edges start and where they end, (2, L): first and last positions,
        roots and leaves.
    """

    where: str = "every"
    looks: ClassVar[bool] = False
    _checks: ClassVar[Mapping[str, Check]] = {**Part._checks, "where": one_of(["every", "ends"])}

    def bind(self, data: PartData) -> BoundPart:
        """Return the scores on a training set."""
        on = data.batch.answer if self.on is None else self.on
        if self.where == "ends":
            _require_ends(data.batch, on)
            return BoundEnds(on)
        pairs = None if data.pairs is None or on != "edge" else data.pairs.edges
        return BoundTable(on, pairs)


@dataclass(frozen=True)
class BoundTable(BoundPart):
    """A table of scores for the cliques of a type."""

    on: str
    support: Array | None = None
    """Which numbers there are; the others stay 0."""

    def space(self, data: PartData, dtype: Any) -> Free:
        """Return the space of tables."""
        return Free(data.batch, self.on, support=self.support)

    def scorer(self, space: Free, element: Array) -> TableScorer:
        """Return the table."""
        return TableScorer(_name(self.on, space), element.reshape(space.values or (1,)).copy())

    def element(self, space: Free, scorer: TableScorer) -> Array:
        """Return the numbers of the table."""
        return scorer.table.ravel()


@dataclass(frozen=True)
class BoundEnds(BoundPart):
    """Scores of first and last labels."""

    on: str

    def space(self, data: PartData, dtype: Any) -> Boundary:
        """Return the space of both."""
        return Boundary(data.batch)  # type: ignore[arg-type]  # `_require_ends` has seen it

    def scorer(self, space: Boundary, element: Array) -> EndScorer:
        """Return both rows."""
        return EndScorer(element.reshape(2, -1).copy())

    def element(self, space: Boundary, scorer: EndScorer) -> Array:
        """Return the numbers of both rows."""
        return scorer.table.ravel()


def _require_ends(batch: StructureBatch, on: str) -> None:
    """Refuse scores of first and last labels where no label is first or last."""
    if on != batch.answer:
        raise InputError(f"FreeScores(where='ends') is of single labels; on={on!r} does not go with it.")
    if not (isinstance(batch, EdgeBatch) and batch.has_ends):
        raise InputError(f"FreeScores(where='ends') cannot be had: {type(batch).__name__} has no ends.")


def _name(on: str, space: Any) -> str | None:
    """Return the name of a clique type in scorers: None for answers, whatever a batch calls them."""
    return None if on == space.structure.answer else on
