"""Alignments by a Markov chain as a setting of estimators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..arrays import Array
from ..checks import Check, whole
from ._pair_settings_base import PairStructure
from ._pairs_base import MOST_WORDS
from .alignment import AlignmentBatch


@dataclass(frozen=True)
class Alignment(PairStructure):
    """Alignments of columns to rows: each column has one row or none; jumps between neighbours score, too.

    The exact probabilistic relative of `Matching`, a hidden Markov model's alignments with features
    [vogel1996hmm]: rows may have any number of columns, and all sums are exact. X and y as for `Matching`;
    ``factors_["jump"]`` are the learnt scores of jumps, −K … K, to no row, from no row.

    Parameters
    ----------
    max_jump : int
        K; longer jumps score as those over K rows do.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields import CRF
    >>> X = [np.eye(3)[:, :, None], np.eye(2)[:, :, None]]
    >>> y = [[(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1)]]
    >>> model = CRF(0.1, structure=Alignment()).fit(X, y)
    >>> model.predict([np.eye(2)[:, [0, 1, 1], None]])
    [[(0, 0), (1, 1), (1, 2)]]
    """

    max_jump: int = 5
    _checks: ClassVar[Mapping[str, Check]] = {"max_jump": whole(0, MOST_WORDS)}

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> AlignmentBatch:
        """Return all alignments."""
        return AlignmentBatch(links, self.max_jump).untied(own)

    def _fault(self, table: Array) -> str:
        degrees = table.sum(axis=0)
        if degrees.max(initial=0) > 1:
            return f": column {int(degrees.argmax())} is in {degrees.max()} pairs, expected one at most"
        return ""
