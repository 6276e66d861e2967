"""Mean field: independent vertices, and a lower bound of log-partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import native
from ..checks import Check, Checked, require_not_negative, whole
from ..errors import InfeasibleError
from ._approximate_base import ApproximateGraphBatch, Beliefs
from ._base import Scores
from ._oracles import Convergence
from ._search_base import MaxSearch, require_search
from .reweighted_max import TreeReweightedMax


@dataclass(frozen=True)
class MeanField(Checked):
    """Sums over labelled graphs by mean field: a lower bound of log-partitions, higher with every step.

    The maximum it finds need not be the highest; a fit has no certificate.

    Parameters
    ----------
    max_iter : int
        Limit of sweeps over all vertices.
    tol : float
        Largest change of a probability at which it has converged.
    search : MaxSearch
        How to look for best labellings.
    """

    max_iter: int = 1000
    tol: float = 1e-8
    search: MaxSearch = field(default_factory=TreeReweightedMax)
    _checks: ClassVar[Mapping[str, Check]] = {
        "max_iter": whole(1),
        "tol": require_not_negative,
        "search": require_search,
    }

    def on(self, offsets: npt.ArrayLike, edges: npt.ArrayLike, n_labels: int, **shape: Any) -> MeanFieldBatch:
        """Return the batch with these settings."""
        return MeanFieldBatch(offsets, edges, n_labels, inference=self, **shape)


class MeanFieldBatch(ApproximateGraphBatch):
    """A batch of labelled graphs with sums by mean field; see `GraphBatch` for their shape.

    g(θ) is at least max_q ⟨θ, b(q)⟩ + Σ_i H(q_i) over independent labels q of vertices, b(q) the products of
    their probabilities; vertices are taken in turn, each made the best for all others.

    Parameters
    ----------
    offsets, edges, n_labels, shared_edges, factors, label_sets
        As in `GraphBatch`. Where scores forbid pairs, the search begins at a single labelling.
    inference : MeanField
        Limits.

    Examples
    --------
    >>> import numpy as np
    >>> ring = MeanField().on([0, 3], [[0, 1], [1, 2], [2, 0]], 2)
    >>> scores = {"node": np.zeros((3, 2)), "edge": np.array([[1.0, 0.0], [0.0, 1.0]])}
    >>> exact = np.log(2 * np.exp(3) + 6 * np.exp(1))
    >>> bool(ring.log_partition(scores)[0] < exact)
    True
    """

    convex = False
    inference: MeanField

    def _beliefs(self, scores: Scores, with_factors: bool) -> Beliefs:
        merged, layout = self._merged, self._merged.layout
        found = native.graph_mean_field(
            *merged.scored(scores, layout),
            *self._shape(),
            layout.of_factor,
            layout.first,
            with_factors,
            self.inference.max_iter,
            self.inference.tol,
        )
        beliefs = Beliefs(*found)
        stuck = np.flatnonzero(beliefs.value == -np.inf)
        if len(stuck):
            name = self.words.name(int(stuck[0]))
            raise InfeasibleError(f"{name} has no allowed labelling that mean field could find.")
        return beliefs

    def _convergence(self, beliefs: Beliefs) -> Convergence:
        return Convergence(
            beliefs.change <= self.inference.tol,
            beliefs.iterations,
            beliefs.change,
            beliefs.bound,
            np.full(self.n_instances, np.inf),
            np.zeros(self.n_instances),
        )
