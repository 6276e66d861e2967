"""Clusters of whole sequences, without labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..approximation import Approximation
from ..arrays import Array
from ..data.reading import FeatureSetting
from ..data.types import Items, Lengths, Seed, Weights
from ..fitting.run import Routed, starts_afresh
from ..fitting.run_settings import Run
from ..models.cluster_fits import fit_clusters
from ..persistence.savable import Savable, require_fitted
from .field_clustering import FieldClustering
from .kernel_crf import KernelCRF


@dataclass(eq=False, repr=False)
class SequenceClustering(Routed, Savable):
    """Clusters of whole sequences by a kernel field without labels [gomes2010].

    All positions of a sequence have the same cluster: p(c|x) ∝ exp(Σ_t f(x_t, c) + b_c). What is maximised is
    how much clusters say about sequences,

        balance · S · H(p̄) − Σ_s H(p(·|x_s)) − (λ/2)‖f‖²,      p̄ = the mean of p(c|x_s) over all S sequences.

    The kernel between two sequences is the sum of that between their positions: what occurs in a sequence
    counts, its order does not, but as far as observations have it (n-grams, windows). **Not convex**: the
    search runs from ``n_init`` starts, and the lowest objective is kept, without a certificate.

    Parameters
    ----------
    n_clusters : int
        How many clusters; some may stay empty.
    kernel, penalty, balance, start, n_init, random_state
        As in `FieldClustering`; guesses are k-means of the means of sequences.
    features, basis, tol, max_iter, verbose
        As in `FieldClustering`.
    run : Run
        Heeds ``dtype`` and ``memory_limit``.

    Attributes
    ----------
    labels_ : (S,) array
        Clusters of the training set; not in model files.
    classes_ : (n_clusters,) array
        The numbers of clusters.
    shares_ : (n_clusters,) array
        p̄.
    estimator_ : KernelCRF
        The model of positions.
    objectives_, objective_, n_iter_, stop_reason_
        As in `FieldClustering`.

    Examples
    --------
    >>> from kernelfields import SequenceClustering
    >>> X = [[[0.0], [0.1]], [[3.0], [3.1], [2.9]], [[0.2]], [[3.2], [2.8]]]
    >>> labels = SequenceClustering(2, penalty=0.1, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[2] != labels[1] == labels[3])
    True
    """

    _learnt, _transient = FieldClustering._learnt, FieldClustering._transient
    _lacks: ClassVar[Mapping[str, str]] = {
        **FieldClustering._lacks,
        "structure": "a sequence has one cluster, whatever its positions are linked by",
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"dtype", "memory_limit"})
    probabilistic: ClassVar[bool] = True

    n_clusters: int = 2
    _: KW_ONLY
    kernel: Any = "rbf"
    penalty: float = 1.0
    balance: float = 1.0
    features: FeatureSetting = None
    basis: str | Approximation | None = None
    start: str = "kmeans"
    n_init: int = 5
    tol: float = 1e-2
    max_iter: int = 1000
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    certificate_ = FieldClustering.certificate_

    @starts_afresh
    def fit(
        self, X: Items, y: None = None, *, lengths: Lengths = None, sample_weight: Weights = None
    ) -> Self:
        """Fit to sequences without labels.

        Parameters
        ----------
        X, y, lengths, sample_weight
            As in `FieldClustering.fit`.
        """
        found = fit_clusters(self, KernelCRF, X, y, lengths, sample_weight, structure="chain", stay=1.0)
        self.estimator_, self.classes_ = found.model, found.model.classes_
        self.objectives_, self.objective_ = found.objectives, found.model.objective_
        self.n_iter_, self.stop_reason_ = found.model.n_iter_, found.model.stop_reason_
        marginals = self.estimator_.predict_marginals(X, lengths=lengths)
        self.shares_ = np.mean([one[0] for one in marginals if len(one)], axis=0, dtype=np.float64)
        self.labels_ = self._firsts(marginals).argmax(axis=1)
        return self

    def predict(self, X: Items, *, lengths: Lengths = None) -> Array:
        """Return the cluster of every sequence, (S,)."""
        return np.asarray(self.predict_marginals(X, lengths=lengths).argmax(axis=1))

    def predict_marginals(self, X: Items, *, lengths: Lengths = None) -> Array:
        """Return p(c|x) of every sequence, (S, n_clusters); of one without positions, p̄."""
        require_fitted(self)
        return self._firsts(self.estimator_.predict_marginals(X, lengths=lengths))

    def _firsts(self, marginals: list[Array]) -> Array:
        """Return the probabilities of first positions, which are those of all."""
        rows = [one[0] if len(one) else self.shares_ for one in marginals]
        return np.array(rows).reshape(-1, len(self.classes_))

    def _rehearse(self) -> None:
        self.predict([])
