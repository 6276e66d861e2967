"""Sparse expansions for Spanish named entities: SGPS, and whole sequences [altun2004gp, 4.2 and 5.2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernelfields.selection import (
    SGPS,
    AtRandom,
    FunctionalGradient,
    InTurn,
    RefitAll,
    RefitNew,
    Selection,
    WholeSequences,
)

SPARSE, PUBLISHED = "SGPS degree 2", "SGPS degree 2 as published"
WHOLE = "whole sequences degree 2"


class Size(NamedTuple):
    """The size of a sparse model."""

    per_position: float
    """p/N, the papers' way to count."""
    per_label: float
    """p/(N L)."""
    observations: float
    """Share of the training positions whose kernel values a prediction needs."""

    @classmethod
    def of(cls, model: Any, n_positions: int) -> Size | None:
        """Measure a fitted model; None for one whose functions were not selected."""
        if not getattr(model, "path_", None):
            return None
        last = model.path_[-1]
        share = last.functions / n_positions
        return cls(share, share / len(model.classes_), last.observations / n_positions)


@dataclass(frozen=True)
class SparseSettings:
    """Settings of the selections."""

    share: float
    """p/N of SGPS, of either kind."""
    step: int
    """Coordinates added at once."""
    batch: int
    """Sentences that these are chosen from."""
    published_step: int
    """Coordinates of one sentence that are added at once by SGPS as published."""
    whole_share: float
    """p/N of whole sequences: with as many, they take as long as SGPS does."""
    whole_step: int
    """Labellings added at once."""
    whole_batch: int
    """Sentences that these are of; of many, almost all are of the longest one."""
    whole_refit: int
    refit: int
    """Iterations after every step."""
    tol: float
    """Relative gap of the last fit."""

    def options(self, name: str) -> dict[str, Any]:
        """Return the options of the classifier that a system is."""
        # Without iterations at the end, coefficients stay what they were when each was new.
        last = {"max_iter": 0} if name == PUBLISHED else {"tol": self.tol}
        return {"sparse": self.selection(name), **last}

    def selection(self, name: str) -> Selection:
        """Return the selection of a system."""
        if name == PUBLISHED:
            new = RefitNew(iterations=self.refit)
            return SGPS(self.share, self.published_step, order=InTurn(), by=FunctionalGradient(), refit=new)
        if name == SPARSE:
            refit = RefitAll(iterations=self.refit)
            return SGPS(self.share, self.step, order=AtRandom(self.batch), refit=refit)
        order, refit = AtRandom(self.whole_batch), RefitAll(iterations=self.whole_refit)
        return WholeSequences(self.whole_share, self.whole_step, order=order, refit=refit)


def columns(sizes: Sequence[Size | None]) -> dict[str, float]:
    """Return the means over folds, for the table; nothing for models that are not sparse."""
    known = [size for size in sizes if size is not None]
    if not known:
        return {}
    means = Size(*(float(np.mean(values)) for values in zip(*known, strict=True)))
    return {"p/N": means.per_position, "p/(N L)": means.per_label, "observations": means.observations}
