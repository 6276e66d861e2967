"""Best labellings of graphs by minimum cuts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, optional, require_flag, whole
from ._base import Scores, require_feasible
from ._oracles import BoundedLabelling
from ._search_base import MaxSearch, bounded, require_search
from .fusion import PairScores, fuse
from .merged_cliques import MergedCliques


@dataclass(frozen=True)
class CutMoves(MaxSearch):
    """Moves that change many labels at once, each the best of its kind by a minimum cut."""

    max_iter: int = 20
    truncate: bool = False
    bounded_by: MaxSearch | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        "max_iter": whole(),
        "truncate": require_flag,
        "bounded_by": optional(require_search),
    }

    @abstractmethod
    def _moves(self, n_labels: int) -> list[tuple[int, ...]]:
        """Return the labels of every move of a round."""

    @abstractmethod
    def _choices(self, move: tuple[int, ...], labels: Array, allowed: Array) -> tuple[Array, Array]:
        """Return the two labellings that a move mixes."""

    def find(self, cliques: MergedCliques, scores: Scores) -> BoundedLabelling:
        """Take moves in turn until none gives a better labelling; with two labels one cut is enough."""
        tables = cliques.tables(scores)
        pairs = PairScores.of(tables)
        pairs.require_finite("Minimum cuts")
        allowed = pairs.node > -np.inf
        none = pairs.any_instance(np.asarray(~allowed.any(axis=1)))
        require_feasible(np.where(none, -np.inf, 0.0), cliques.graph.words)
        two = cliques.graph.n_labels == 2
        if two and not self.truncate:
            first = np.where(allowed[:, 0], 0, 1)
            found = fuse(pairs, first, np.where(allowed[:, 1], 1, first), truncate=False)
            return bounded(cliques, scores, found.labels, found.bound, np.ones(len(found.bound)))
        labels, converged = self._climb(pairs, allowed)
        bound = pairs.bound() if self.bounded_by is None else self.bounded_by.find(cliques, scores).bound
        return bounded(cliques, scores, labels, bound, converged)

    def _climb(self, pairs: PairScores, allowed: Array) -> tuple[Array, Array]:
        """Return a labelling that no move improves, and for which instances that is so."""
        labels = pairs.node.argmax(axis=1).astype(np.int32)
        score = pairs.scores(labels)
        for _ in range(self.max_iter):
            better = np.zeros(len(score), dtype=bool)
            for move in self._moves(pairs.node.shape[1]):
                mixed = fuse(pairs, *self._choices(move, labels, allowed), self.truncate).labels
                value = pairs.scores(mixed)
                gained = value > score + 1e-12 * (1.0 + np.abs(score))
                labels = np.where(np.repeat(gained, np.diff(pairs.offsets)), mixed, labels)
                score = np.where(gained, value, score)
                better |= gained
            if not better.any():
                break
        return labels, ~better


@dataclass(frozen=True)
class AlphaExpansion(CutMoves):
    """α-expansion: in each move any vertices change to one label α, for every α in turn [boykov2001].

    Every move is the best of its kind, by a minimum cut, and none lowers the score of an instance. That needs
    score(α, α) + score(a, b) ≥ score(α, b) + score(a, α) for all labels a, b of neighbours, as in the
    Potts model and with other scores that fall with a distance of labels. Where labels are two, one cut finds
    the best labelling, and the bound is exact; otherwise the bound is that of another search.

    Cliques have one or two vertices, with finite scores of pairs. Cuts are SciPy's, of whole numbers;
    what rounding them leaves over is cut again, to the precision of doubles.

    Parameters
    ----------
    max_iter : int
        Most rounds over all labels.
    truncate : bool
        Whether pairs whose scores are not as above count as if they just were, which can miss better
        labellings but not end in a worse one; if not, they are refused.
    bounded_by : MaxSearch, optional
        Whose bound to report; if not given, the sum of the largest scores of all vertices and pairs, which
        is loose.
    """

    def _moves(self, n_labels: int) -> list[tuple[int, ...]]:
        """Return every label."""
        return [(label,) for label in range(n_labels)]

    def _choices(self, move: tuple[int, ...], labels: Array, allowed: Array) -> tuple[Array, Array]:
        """Return the labels as they are, and α wherever that is allowed."""
        return labels, np.where(allowed[:, move[0]], move[0], labels)


@dataclass(frozen=True)
class LabelSwap(CutMoves):
    """αβ-swap: in each move any vertices with labels α and β exchange them, for all pairs [boykov2001].

    As `AlphaExpansion`, for more scores and with smaller moves: it needs
    score(α, α) + score(β, β) ≥ score(α, β) + score(β, α) only.

    Parameters
    ----------
    max_iter, truncate, bounded_by
        As in `AlphaExpansion`.
    """

    def _moves(self, n_labels: int) -> list[tuple[int, ...]]:
        """Return all pairs of labels."""
        return list(combinations(range(n_labels), 2))

    def _choices(self, move: tuple[int, ...], labels: Array, allowed: Array) -> tuple[Array, Array]:
        """Return α, and β, wherever the label is one of them and both are allowed."""
        free = np.isin(labels, move) & allowed[:, list(move)].all(axis=1)
        return np.where(free, move[0], labels), np.where(free, move[1], labels)
