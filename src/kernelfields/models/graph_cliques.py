"""What a model of graphs may be extended by: pairs of labels, edge types and factors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..checks import is_list
from ..data.base_measure import CliqueMeasures
from ..data.training import Training
from ..errors import InputError
from ..losses import Log, PseudoLikelihood
from ..objective import Term
from ..spaces import Free
from ..structures import ApproximateSum, Graph, Grid, MultiLabel, Structure
from ..tables import loss_settings, structure_of
from .clique_types import CliqueFamily, CliqueType
from .kernel_settings import KernelSettings
from .parts import FACTOR, FreeScores, Part, Parts, fixed_measure, looked_at


@dataclass(frozen=True)
class LabelPair(CliqueType):
    """Scores of two labels together, where every row has several (`MultiLabel`).

    Parameters
    ----------
    first, second : label
        Names, or numbers of columns of y.
    """

    first: Hashable
    second: Hashable

    @property
    def name(self) -> str:
        """Both."""
        return f"{self.first} – {self.second}"

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Join both labels."""
        structure = structure_of(present["structure"])
        if not isinstance(structure, MultiLabel) or not is_list(structure.edges):
            raise InputError("LabelPair is for structure=MultiLabel(edges=[...]), a list of pairs or [].")
        _require_nothing_else(self, present)
        _require_tables(self, present["parts"])
        return {"structure": replace(structure, edges=[*structure.edges, (self.first, self.second)])}

    @property
    def part(self) -> tuple[str, Part]:
        """V, of which `term` takes the scores of this pair."""
        return "edges", FreeScores(on="edge")

    def numbers(self, structure: Structure) -> tuple[int, int]:
        """Return the columns of both, the lower first, in a fitted structure."""
        if not isinstance(structure, MultiLabel):
            raise InputError(f"{self.name} is for structure=MultiLabel(edges=[...]).")
        return structure.numbers(self.name, (self.first, self.second))

    def term(self, model: Any, settings: KernelSettings, training: Training) -> Term:
        """Return the pair's part of V."""
        require_exact(training)
        first, second = self.numbers(training.structure)
        mine = np.zeros((training.edge_batch.n_labels,) * 2, dtype=bool)
        mine[2 * first : 2 * first + 2, 2 * second : 2 * second + 2] = True
        return Term("edges", Free(training.batch, "edge", support=mine), settings.penalty_of("edges"))

    def freedom(self, structure: Structure, n_labels: int) -> int:
        """1: whether both go together."""
        return 1


@dataclass(frozen=True)
class LabelPairs(CliqueFamily):
    """All pairs of labels that the model to begin with does not join."""

    def members(self, structure: Structure) -> list[CliqueType]:
        """Return a candidate for every pair."""
        if not isinstance(structure, MultiLabel) or structure.names is None:
            raise InputError("LabelPairs() is for structure=MultiLabel(edges=[...]).")
        names, joined = structure.names, structure.pairs or ()
        return [
            LabelPair(names[k], names[m])
            for k, m in combinations(range(len(names)), 2)
            if (k, m) not in joined
        ]


@dataclass(frozen=True)
class UnusedCliques(CliqueType):
    """Scores of an edge type or a factor that a `Graph` has among ``unused``, or of a direction of a `Grid`.

    Parameters
    ----------
    type : str
        Its name.
    """

    type: str

    @property
    def name(self) -> str:
        """That of the type."""
        return self.type

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Use it."""
        structure = structure_of(present["structure"])
        known = unused_types(structure)
        if self.type not in known:
            names = ", ".join(map(repr, known)) or "none"
            raise InputError(
                f"UnusedCliques has {self.type!r}; the unused types of the structure are {names}."
            )
        _require_nothing_else(self, present)
        if isinstance(structure, Grid):
            return {"structure": replace(structure, directions=[*structure.steps, self.type])}
        assert isinstance(structure, Graph)
        left = [name for name in structure.unused if name != self.type]
        return {"structure": replace(structure, unused=left)}

    @property
    def part(self) -> tuple[str, Part]:
        """Return the table that all cliques of the type share."""
        return FACTOR + self.type, FreeScores(on=self.type)

    def term(self, model: Any, settings: KernelSettings, training: Training) -> Term:
        """Return the space of the table."""
        require_exact(training)
        return super().term(model, settings, training)

    def freedom(self, structure: Structure, n_labels: int) -> int:
        """Return how many numbers tell labels apart; half of them where two labels may swap."""
        L = n_labels
        if (
            isinstance(structure, Graph)
            and self.type in (structure.edge_types or ())
            and not structure.directed
        ):
            return L * (L - 1) // 2
        return int((L - 1) ** structure.size_of(self.type)) if isinstance(structure, Graph) else (L - 1) ** 2


@dataclass(frozen=True)
class AllUnused(CliqueFamily):
    """Every type of cliques that the structure of the model to begin with leaves unused."""

    def members(self, structure: Structure) -> list[CliqueType]:
        """Return a candidate for every type."""
        return [UnusedCliques(name) for name in unused_types(structure)]


def unused_types(structure: Structure) -> tuple[str, ...]:
    """Return what a structure could have further tables of scores for."""
    if isinstance(structure, Graph):
        return tuple(structure.unused)
    if isinstance(structure, Grid) and is_list(structure.directions):
        return tuple(name for name in structure.possible_steps if name not in structure.steps)
    raise InputError("Unused cliques are those of Graph(unused=[...]) and of Grid(directions=[...]).")


def require_exact(training: Training) -> None:
    """Refuse sums that are others as soon as there are more edges, whatever their scores."""
    if isinstance(training.batch, ApproximateSum) and training.loss.sums:
        raise InputError(
            "What new edges can gain is known for inference='exact', and with loss='pseudo' for any other: "
            "approximate sums change with the graph."
        )


def _require_tables(candidate: CliqueType, parts: Parts) -> None:
    """Refuse parts that look at edges: new edges would have features, too."""
    for name, part in parts.items():
        if looked_at(Parts({name: part})):
            kind = type(candidate).__name__
            raise InputError(
                f"{kind} does not go with the part {name!r}: new edges would bring more than scores."
            )


def _require_nothing_else(candidate: CliqueType, present: dict[str, Any]) -> None:
    """Refuse settings by which new cliques would bring more than a table: its zeros must change nothing."""
    name = type(candidate).__name__
    if present.get("constraints") is not None:
        raise InputError(f"{name} does not go with constraints: new edges would bring more than scores.")
    loss = loss_settings(present["loss"]) if "loss" in present else None
    if not isinstance(loss, Log | PseudoLikelihood):
        raise InputError(f"{name} goes with loss='log' or 'pseudo': others change with the graph.")
    if present["parts"].get("edges", True) is None:
        raise InputError(f"{name} needs the part 'edges', the scores of label pairs.")
    if isinstance(loss, Log) and np.ndim(loss.cost) == 4:
        raise InputError(f"{name} does not go with a cost of label pairs, which new edges would add to.")
    if isinstance(fixed_measure(present["parts"]), CliqueMeasures):
        raise InputError(f"{name} does not go with CliqueMeasures, which new edges would add to.")
