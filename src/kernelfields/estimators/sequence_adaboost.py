"""AdaBoost for label sequences."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Self

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..boosting.exponential import ExponentialLoss
from ..boosting.sequence_features import LabelPairFeatures, PositionFeatures
from ..boosting.sequences import SequenceBoosting, boost
from ..checks import optional, require_flag, require_positive, require_settings, require_share, whole
from ..constraints import Forbidden, Rule
from ..data.reading import FeatureSetting
from ..data.rules import offset_of, read_rules
from ..data.sample_weights import read_weights
from ..data.training import LabelledSet
from ..data.types import Items, Lengths, Outputs, Seed, SparseMatrix, Weights
from ..decoders import Decoder
from ..fitting.provenance import provenance_of
from ..fitting.run import open_observer, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..memory import require_memory
from ..models.attributes import keep_scorers, learnt_model
from ..models.labeller import SequenceLabeller
from ..models.learnt import LINEAR
from ..models.linear import read_labelled
from ..models.model import Model
from ..models.scorers import EndScorer, LearntScorer, TableScorer, WeightScorer
from ..persistence.fields import Field, Kind
from ..structures import Chain, ChainBatch


@dataclass(eq=False, repr=False)
class SequenceAdaBoost(SequenceLabeller):
    """AdaBoost for label sequences [altun2003discriminative]: one feature of a linear chain after the other,

        F(x, y) = Σ_t (⟨w_{y_t}, x_t⟩ + b_{y_t}) + Σ_t V_{y_t y_{t+1}} + start_{y_1} + end_{y_T},
        R(F) = Σ_i Σ_{y≠y_i} exp(F(x_i, y) − F(x_i, y_i)).

    R is an upper bound of the number of wrong labellings that score as much as the right one. Every round
    changes one weight: the one, and by the step, for which an upper bound of R after the round is the lowest,
    so that R falls from round to round. What was never chosen stays zero: the number of rounds says how
    sparse the model is. All wrong labellings of all sequences are weighed by forward-backward, the bounds of
    all features come from that alone. The loss is dominated by the sequences that are furthest from being
    right, long ones above all; it makes no probabilities, so that what `predict_marginals` gives is not
    calibrated.

    Parameters
    ----------
    n_rounds : int
        How many times a weight is changed, at most.
    max_step : float
        The longest step of a weight. A feature that was seen with one label only would get an infinite weight
        in one round.
    n_candidates : int, optional
        How many features have their bounds compared in a round: those along which R is steepest, of label
        pairs and of all others apart; if not given, all. Few make rounds quick, and choose features that
        occur often.
    balanced : bool
        Whether each sequence counts the same at the start, its wrong labellings sharing one unit of weight,
        instead of every wrong labelling. What is minimised then is no bound of the number of errors.
    features : str, Templates, TemplateFeatures or DictFeatures, optional
        What to look at where X holds tokens instead of arrays, as for `CRF`.
    fit_intercept, boundaries : bool
        Whether there are scores per label, and for the first and last label.
    classes : list, optional
        All labels that there are, as in `CRF`.
    constraints : "iob2", "iobes", "bilou", "bmes", Rule or None
        Label pairs, starts and ends that cannot occur, in training and in prediction.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides.
    tol : float
        Share of R by which a round must promise to lower it; else learning ends.
    random_state : int, RandomState or None
        Seed of `sample`.
    run : Run
        Heeds ``callback``, called after every round; its value is log R.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_, coef_, intercept_, transitions_, start_, end_
        Labels and weights, as in `CRF`.
    log_losses_ : list of float
        log R before the first round, and after every one; −inf where nothing can be wrong.
    bounds_ : list of float
        By what factor each round promised to multiply R, at most.
    n_iter_, stop_reason_ : int, str
        How many rounds there were, and why no more.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields import SequenceAdaBoost
    >>> X = [[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> model = SequenceAdaBoost(n_rounds=4).fit(X, y)
    >>> model.predict(X)
    [['A', 'B', 'B'], ['B', 'A']]
    >>> bool((np.diff(model.log_losses_) < 0).all())
    True
    """

    probabilistic: ClassVar[bool] = False
    _learnt: ClassVar[Mapping[str, Field]] = {**LINEAR, "log_losses_": Kind(list), "bounds_": Kind(list)}
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["X_dev", "y_dev"], "n_rounds says when to stop"),
        **dict.fromkeys(["warm_start", "checkpoint"], "Ctrl-C keeps the rounds that were done"),
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"callback"})

    n_rounds: int = 500
    _: KW_ONLY
    max_step: float = 1.0
    n_candidates: int | None = None
    balanced: bool = False
    features: FeatureSetting = None
    fit_intercept: bool = True
    boundaries: bool = True
    classes: Sequence[Hashable] | None = None
    constraints: str | Rule | None = None
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-6
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X, y, lengths, sample_weight
            As in `MEMM.fit`.
        """
        require_settings(vars(self), {**CHECKS, **_CHECKS})
        data = read_labelled(Chain(), self.features, X, y, lengths, classes=self.classes)
        forbidden = read_rules(data.structure, self.constraints, data.batch, data.encoded)
        boosting = self._boosting(data, forbidden, sample_weight)
        self.forbidden_, self.features_ = forbidden, data.extractor
        self.classes_, self.structure_ = data.encoded.classes, data.structure
        self.n_features_in_ = data.inputs.features.shape[1]
        self.provenance_ = provenance_of(data.inputs, data.encoded)
        if data.inputs.names is not None:
            self.feature_names_in_ = data.inputs.names

        def draft(_: object) -> SequenceAdaBoost:
            model = copy.copy(self)
            keep_scorers(model, self._scorers(boosting), len(model.classes_))
            return model

        with open_observer(self, draft) as watching:
            done = boost(boosting, self.n_rounds, float(self.tol), watching)
        keep_scorers(self, self._scorers(boosting), len(self.classes_))
        self.log_losses_, self.bounds_, self.stop_reason_ = done
        self.n_iter_ = len(done.bounds)
        return self

    def _boosting(self, data: LabelledSet, forbidden: Forbidden | None, weights: Weights) -> SequenceBoosting:
        """Return boosting before its first round."""
        L, labels = data.edge_batch.n_labels, data.encoded.labels
        require_memory(f"{L} labels", 4 * 8 * data.edge_batch.n_edges * L * L)
        chain = ChainBatch(data.edge_batch.offsets, L, shared_edges=False)
        given = None if weights is None else read_weights(weights, chain.n_instances)
        fixed = None if forbidden is None else offset_of(forbidden, chain, np.float64)
        loss = ExponentialLoss(chain, labels, given, fixed)
        if self.balanced:
            loss.balance()
        columns = self._columns(data.inputs.features, chain)
        parts = [LabelPairFeatures(chain, labels), PositionFeatures(chain, columns, labels)]
        return SequenceBoosting(loss, parts, float(self.max_step), self.n_candidates)

    def _columns(self, features: Array | SparseMatrix, chain: ChainBatch) -> sparse.csc_matrix:
        """Return features, and beside them what stands for the bias and for the ends of sequences."""
        T = chain.n_vertices
        ends = np.zeros((T, 3))
        ends[:, 0] = 1.0 if self.fit_intercept else 0.0
        if self.boundaries:
            ends[chain.first_positions, 1] = ends[chain.last_positions, 2] = 1.0
        matrix = sparse.csr_matrix(features).astype(np.float64)
        columns = sparse.csc_matrix(sparse.hstack([matrix, sparse.csr_matrix(ends)]))
        columns.sum_duplicates()
        columns.eliminate_zeros()
        return columns

    @staticmethod
    def _scorers(boosting: SequenceBoosting) -> dict[str, LearntScorer]:
        """Return the parts reached so far."""
        pairs, positions = (part.weights.copy() for part in boosting.parts)
        return {
            "features": WeightScorer(None, np.ascontiguousarray(positions[:-3].T)),
            "bias": TableScorer(None, positions[-3]),
            "boundaries": EndScorer(positions[-2:]),
            "edges": TableScorer("edge", pairs),
        }

    def _model(self) -> Model:
        return learnt_model(self)


_CHECKS = {
    "n_rounds": whole(0),
    "max_step": require_positive,
    "n_candidates": optional(whole()),
    "balanced": require_flag,
    "tol": require_share,
}
