"""Task costs Δ(y, ŷ): as scores, where they add up over vertices and edges, or as functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, require_not_negative, require_unmasked, whole
from ..errors import InputError
from ..structures import EdgeBatch, LabelledBatch, PairBatch, StructureBatch


def hamming_cost(
    structure: StructureBatch, outputs: Array, answer_weights: Array | None = None
) -> dict[str, Array]:
    """Σ_c κ_c [ŷ_c ≠ y_c], the number of wrong answers (labels of vertices, say); κ is 1 if not given."""
    cost = structure.hamming(outputs)
    if answer_weights is not None:
        values = cost[structure.answer]
        values *= np.asarray(answer_weights).reshape(-1, *(1 for _ in values.shape[1:]))
    return cost


def vertex_cost(structure: LabelledBatch, labels: Array, table: Array) -> dict[str, Array]:
    """Σ_v C[y_v, ŷ_v], C an (L, L) table with nothing on its diagonal: rows are true labels."""
    L = structure.n_labels
    require_unmasked(table, "The table of costs", "write 0 for what costs nothing")
    table = np.asarray(table, dtype=np.float64)
    _require_table(table, (L, L), np.diagonal(table) if table.ndim == 2 else table)
    return {"node": table[labels]}


def edge_cost(structure: EdgeBatch, labels: Array, table: Array) -> dict[str, Array]:
    """Σ_e C[y_tail, y_head, ŷ_tail, ŷ_head], C an (L, L, L, L) table that is 0 where both pairs are one."""
    L = structure.n_labels
    require_unmasked(table, "The table of costs", "write 0 for what costs nothing")
    table = np.asarray(table, dtype=np.float64)
    own = table.reshape(L * L, -1).diagonal() if table.size == L**4 else table
    _require_table(table, (L, L, L, L), own)
    return {"edge": table[labels[structure.edge_tails], labels[structure.edge_heads]]}


def _require_table(table: Array, shape: tuple[int, ...], own: Array) -> None:
    if table.shape != shape:
        raise InputError(f"The table of costs has shape {table.shape}, expected {shape}.")
    if not np.isfinite(table).all() or (table < 0).any() or own.any():
        raise InputError("Costs must be finite and not negative, and what is right must cost nothing.")


@dataclass(frozen=True)
class PairCost(Checked):
    """Δ of sets of pairs: one price for each pair of y that is missing, one for each that is superfluous.

    Parameters
    ----------
    missing, superfluous : float
        The prices.
    possible : sequence, optional
        For every item of X, pairs that cost nothing, there or not: possible links beside the sure ones.
    """

    missing: float = 1.0
    superfluous: float = 1.0
    possible: Sequence[Any] | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        "missing": require_not_negative,
        "superfluous": require_not_negative,
    }


def pair_cost(structure: StructureBatch, outputs: Array, cost: PairCost) -> dict[str, Array]:
    """Σ_ij (superfluous (1 − y_ij) − missing y_ij) ŷ_ij, which losses count from its value at y."""
    if not isinstance(structure, PairBatch):
        raise InputError(f"PairCost is for sets of pairs, which {type(structure).__name__} has not.")
    table = np.where(outputs, -float(cost.missing), float(cost.superfluous))
    if cost.possible is not None:
        table[structure.places_of("possible", cost.possible)] = 0.0
    return {"pair": table}


@dataclass(frozen=True)
class ErrorFunction:
    """Δ = h(number of wrong labels), any h ≥ 0 with h(0) = 0, for arrays of numbers.

    The search stays exact, by the best score for every number of errors.
    """

    function: Callable[[Array], Any]


@dataclass(frozen=True)
class LabellingCost(Checked):
    """Δ(y, ŷ) of whole labellings, such as 1 − F1, never above a bound.

    The search goes through labellings from the best score down until the bound proves that the worst was
    found, and is refused where ``limit`` of them do not suffice.
    """

    function: Callable[[Array, Array], float]
    bound: float = 1.0
    limit: int = 4096
    _checks: ClassVar[Mapping[str, Check]] = {"bound": require_not_negative, "limit": whole()}
