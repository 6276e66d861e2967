"""Clusters of the positions of sequences, without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..approximation import Approximation
from ..arrays import Array
from ..data.reading import FeatureSetting
from ..data.types import Items, Lengths, Seed, Weights
from ..fitting.model_wrapper import ModelWrapper
from ..fitting.run import starts_afresh
from ..fitting.run_settings import Run
from ..models.cluster_fits import fit_clusters
from ..persistence.fields import Field, Kind, Numbers
from ..persistence.savable import Savable
from ..structures import Structure
from .kernel_crf import KernelCRF


@dataclass(eq=False, repr=False)
class FieldClustering(ModelWrapper):
    """Clusters of positions by a kernel field without labels, which says much about them [gomes2010].

    The model is a kernel CRF whose labels are the clusters, p(y|x) ∝ exp(Σ_t f(x_t, y_t) + b_{y_t} + Σ_t
    V_{y_t, y_{t+1}}), with V fixed: a neighbour has the same cluster with probability ``stay``, others are
    all alike. What is maximised is how much clusters say about observations,

        balance · N · H(p̄) − Σ_s H(p(·|x_s)) − (λ/2)‖f‖²,      p̄ = the mean of p(y_t|x) over all N positions:

    every labelling is to be sure, and every cluster to be used. Entropies are those of whole sequences,
    exact: where observations are mixed up, neighbours tell clusters apart. What is one cluster is for the
    kernel to say; that of a `GraphKernel` follows curved bands of points.

    It is **not convex**: the search runs from ``n_init`` starts, and the lowest objective is kept. There is
    no certificate. Clusters are numbers whose order means nothing.

    Parameters
    ----------
    n_clusters : int
        How many clusters; some may stay empty.
    kernel : str, Kernel
        k, as in `KernelCRF`.
    penalty : float
        λ. The larger, the smoother the borders between clusters: too small, and any border will do.
    stay : float
        Probability that a neighbour has the same cluster, above 0; 1/``n_clusters`` looks at no neighbours,
        and with 1 a sequence is in one cluster as a whole, as in `SequenceClustering`.
    balance : float
        What clusters of equal sizes are worth; less than 1 where some are much larger than others.
    features, structure, basis, tol, max_iter, verbose
        As in `KernelCRF`, without selections. Structures: those with exact sums over labellings.
    start : "kmeans" or "random"
        First guesses: k-means in the space of the kernel, or clusters at random. The model is fitted to them
        for some iterations.
    n_init : int
        Number of starts.
    random_state : int, RandomState or None
        Seed of the starts.
    run : Run
        Heeds ``dtype`` and ``memory_limit``.

    Attributes
    ----------
    labels_ : list
        Clusters of the training set, one number for every position; not in model files.
    classes_ : (n_clusters,) array
        The numbers of clusters.
    shares_ : (n_clusters,) array
        p̄.
    estimator_ : KernelCRF
        The model, which answers all questions.
    objectives_ : list of float
        The objective that each start led to, to be minimised: that above with its sign changed. The lowest is
        that of the model, ``objective_``.
    n_iter_, stop_reason_ : int, str
        How and why the search that was kept ended.

    Examples
    --------
    >>> from kernelfields import FieldClustering
    >>> X = [[[0.0], [0.1], [3.0], [3.1]], [[3.2], [2.9], [0.2], [0.1]]]
    >>> model = FieldClustering(2, kernel="rbf", penalty=0.1, random_state=0).fit(X)
    >>> first, second = model.labels_
    >>> first[0] == first[1] == second[2] != first[2]
    True
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "estimator_": Kind(Savable, large=True),
        "shares_": Numbers("L"),
        "objectives_": Kind(list),
        "objective_": Kind(float),
        "n_iter_": Kind(int),
        "stop_reason_": Kind(str),
    }
    _transient: ClassVar[tuple[str, ...]] = ("labels_",)
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["X_dev", "y_dev"], "there are no labels to compare with"),
        **dict.fromkeys(["warm_start", "checkpoint"], "it starts several times, from guesses"),
        "X_unlabelled": "no sequence has labels: they all go into X",
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"dtype", "memory_limit"})
    probabilistic: ClassVar[bool] = True

    n_clusters: int = 2
    _: KW_ONLY
    kernel: Any = "rbf"
    penalty: float = 1.0
    stay: float = 0.9
    balance: float = 1.0
    features: FeatureSetting = None
    structure: str | Structure = "chain"
    basis: str | Approximation | None = None
    start: str = "kmeans"
    n_init: int = 5
    tol: float = 1e-2
    max_iter: int = 1000
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @property
    def certificate_(self) -> None:
        """None: information is not convex in the scores, and no bound is known."""

    @starts_afresh
    def fit(
        self, X: Items, y: None = None, *, lengths: Lengths = None, sample_weight: Weights = None
    ) -> Self:
        """Fit to sequences without labels.

        Parameters
        ----------
        X : list of (T, D) arrays, or flat array
            Sequences.
        y : None
            There are no labels.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        sample_weight : (S,) array, optional
            How many times each sequence counts.
        """
        found = fit_clusters(
            self, KernelCRF, X, y, lengths, sample_weight, structure=self.structure, stay=self.stay
        )
        self.estimator_, self.classes_ = found.model, found.model.classes_
        self.objectives_, self.objective_ = found.objectives, found.model.objective_
        self.n_iter_, self.stop_reason_ = found.model.n_iter_, found.model.stop_reason_
        self.labels_ = self.estimator_.predict(X, lengths=lengths)
        self.shares_ = _shares(self.estimator_.predict_marginals(X, lengths=lengths))
        return self

    def _fitted_model(self) -> KernelCRF:
        model: KernelCRF = self.estimator_
        return model


def _shares(marginals: Sequence[Array]) -> Array:
    """Return the mean over all positions."""
    rows = [np.reshape(one, (-1, np.shape(one)[-1])) for one in marginals]
    return np.asarray(np.concatenate(rows).mean(axis=0, dtype=np.float64))
