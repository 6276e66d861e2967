"""Sparse expansions for Spanish named entities: SGPS, and whole sequences [altun2004gp, 5.2]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...estimators import KernelCRF
from ...selection import SGPS, AtRandom, RefitAll, Selection, WholeSequences
from .claims import Claim
from .experiment import Report
from .intervals import paired_interval
from .nested import FoldResult, Make, NestedValidation

SPARSE, WHOLE = "SGPS degree 2", "whole sequences degree 2"


class Size(NamedTuple):
    """The size of a sparse model."""

    per_position: float
    """p/N, the papers' way to count."""
    per_label: float
    """p/(N L)."""
    observations: float
    """Share of the training positions whose kernel values a prediction needs."""

    @classmethod
    def of(cls, model: KernelCRF, n_positions: int) -> Size:
        """Measure a fitted model."""
        last = model.path_[-1]
        share = last.functions / n_positions
        return cls(share, share / len(model.classes_), last.observations / n_positions)


@dataclass(frozen=True)
class SparseSettings:
    """Settings of the selection."""

    share: float
    """p/N of SGPS."""
    step: int
    """Coordinates added at once."""
    batch: int
    """Sentences that these are chosen from."""
    refit: int
    """Iterations after every step."""
    whole_share: float
    """p/N of the baseline."""
    whole_step: int
    tol: float

    def selection(self, name: str) -> Selection:
        """Return the selection of a system."""
        order, refit = AtRandom(self.batch), RefitAll(iterations=self.refit)
        if name == SPARSE:
            return SGPS(self.share, self.step, order=order, refit=refit)
        return WholeSequences(self.whole_share, self.whole_step, order=order, refit=refit)


def run_sparse(
    name: str,
    make: Make,
    settings: SparseSettings,
    nested: NestedValidation,
    X: Sequence[Array],
    dense: Sequence[FoldResult],
    report: Report,
) -> tuple[list[FoldResult], list[Size]]:
    """Test a sparse model on all folds, with the penalties of the dense one instead of a search.

    ``make`` gives the dense model.
    """
    sizes: list[Size] = []

    def selected(penalty: float, tol: float) -> Any:
        selection = settings.selection(name)
        return make(penalty, settings.tol).set_params(selection=selection, random_state=nested.seed)

    def show(model: KernelCRF, n_positions: int) -> None:
        sizes.append(Size.of(model, n_positions))

    tests = nested.run(name, selected, X, [[one.penalty] for one in dense], report, show)
    return tests, sizes


def columns(sizes: Sequence[Size]) -> dict[str, float]:
    """Return the means over folds, for the table."""
    means = Size(*(float(np.mean(values)) for values in zip(*sizes, strict=True)))
    return {"p/N": means.per_position, "p/(N L)": means.per_label, "observations": means.observations}


def points_above(tests: Sequence[FoldResult], others: Sequence[FoldResult]) -> list[float]:
    """Return by how many points the error of one model exceeds that of another, fold by fold."""
    return [100 * (a.error - b.error) for a, b in zip(tests, others, strict=True)]


def sparse_claims(found: Mapping[str, list[FoldResult]], dense: str) -> list[Claim]:
    """Claim that SGPS is within 0.1 points of the dense model, up to chance, and the baseline is worse."""
    claims = []
    if SPARSE in found:
        above = points_above(found[SPARSE], found[dense])
        low, _ = paired_interval(above)
        claims += [
            Claim("sgps_above_dense_points", float(np.mean(above)), paper=0.09, at_most=0.1),
            Claim("sgps_above_dense_points_lower_end_of_interval", low, at_most=0.1),
        ]
    if WHOLE in found and SPARSE in found:
        apart = float(np.mean(points_above(found[WHOLE], found[SPARSE])))
        claims.append(Claim("whole_sequences_above_sgps_points", apart, paper=2.82, at_least=0.5))
    return claims
