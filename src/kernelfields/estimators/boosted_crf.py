"""Conditional random fields whose scores are sums of regression trees."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..boosting.boosting import Boosting, BoostingHeldOut, run
from ..boosting.trees import N_BINS, Bins, Forest, TreeSettings
from ..checks import proper_share, require_settings, whole
from ..constraints import Rule
from ..data.inputs import Inputs, read_inputs
from ..data.reading import linked
from ..data.rules import offset_of, require_edge_batch
from ..data.seeds import random_state
from ..data.training import Training, read_training, require_labelling
from ..data.types import Items, Lengths, Outputs, Seed, Weights
from ..data.unlabelled import set_aside
from ..decoders import Decoder
from ..errors import InputError
from ..fitting.held_out import read_held_out
from ..fitting.provenance import provenance_of
from ..fitting.run import open_observer, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..losses import Log, LogLoss, PartialLog
from ..models.attributes import keep_scorers, learnt_model
from ..models.labeller import SequenceLabeller
from ..models.learnt import BOOSTED
from ..models.model import KnownScores, Model, Scorer, add
from ..models.parts import (
    BoundParts,
    FreeScores,
    Parts,
    TreeScores,
    compose,
    free_parts,
    looked_at,
    parts_of,
    require_no_norms,
)
from ..models.scorers import fuse_scorers
from ..structures import EdgeBatch, Structure, StructureBatch
from ..tables import structure_of

FREE_PENALTY = 1.0
"""λ of scores of labels alone: that of leaves is another thing."""


@dataclass(eq=False, repr=False)
class BoostedCRF(SequenceLabeller):
    """Conditional random field by gradient tree boosting [dietterich2008gradient].

    The distribution over labellings of a sequence x is

        p(y|x) ∝ exp( Σ_t F_{y_t}(x_t) + b_{y_t} + Σ_t V_{y_t, y_{t+1}} + start_{y_1} + end_{y_T} )

    where every F_y is a sum of regression trees, one more in every round: it is grown on the derivatives
    of Σ_i −log p(y^i|x^i) in the scores of label y, [y_t = y] − p(y_t = y|x), and the value of a leaf is
    Newton's step, Σ ([y_t = y] − μ) / (Σ μ(1 − μ) + λ), times a learning rate that is halved until the loss
    falls. b, V, start and end are free, with the penalty (λ_e/2)‖·‖², and refitted after every round.

    For columns of numbers of different kinds, where kernels are hard to choose: trees need no scaling,
    find thresholds and interactions, take missing values (NaN) as they are, and columns of names. The
    objective is not convex in the trees: there is no certificate; held-out data say when to stop.

    Parameters
    ----------
    max_iter : int
        How many trees each label gets at most.
    learning_rate : float
        The longest step along the trees of a round: smaller is better, and takes more rounds.
    max_leaf_nodes, max_depth : int, optional
        Limits of a tree; None is none.
    min_samples_leaf : int
        How many positions a leaf has at least.
    penalty : float
        λ of leaves.
    parts : Parts
        What differs from the parts b, start, end and V, whose penalty is 1, as in `CRF`.
        ``Parts(edge_trees=TreeScores())`` lets label pairs have trees, too, L² in a round, that look at the
        first position of a pair.
    max_features : float
        Share of the columns that each split may choose from, drawn anew.
    subsample : float
        Share of the sequences that the trees of a round are grown on, drawn anew.
    categorical : list of int or str, optional
        Columns, by number or by name, whose values are names, written as whole numbers from 0 to 254.
        Names not seen in training are treated as missing.
    structure : "chain", "chain2", "segments", "tree", "graph" or Structure
        What labels depend on, as in `CRF`.
    classes : list, optional
        All labels that there are, in the order of ``classes_``, also those that the training set happens
        to lack; if not given, those that occur.
    class_weight : dict, "balanced" or None
        Cost of getting each label wrong, inside the loss (softmax-margin), as in `CRF`.
    constraints : "iob2", "iobes", "bilou", "bmes", Rule or None
        Label pairs, starts and ends that cannot occur, as in `CRF`.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides: the best labelling as a whole, or label by label.
    random_state : int, RandomState or None
        Seed of what is drawn in `fit`, and of `sample`.
    run : Run
        Heeds ``patience`` and ``callback``, both of rounds.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    forests_ : dict
        The trees by clique type: "node", and "edge" with `TreeScores`.
    intercept_, transitions_, start_, end_ : arrays
        b (L,), V (L, L), start and end (L,), zeros for what is switched off; ``second_order_`` (L, L, L)
        with "chain2".
    losses_ : list of float
        The objective without trees, and after every round.
    held_out_losses_ : list of float
        The loss of held-out data, likewise; empty without them.
    n_iter_, stop_reason_ : int, str
        How many rounds the model has, and why it got no more.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> from kernelfields import BoostedCRF
    >>> X = [[[0.0], [2.0], [1.0]], [[1.0], [0.0]]] * 20
    >>> y = [["A", "A", "B"], ["B", "A"]] * 20
    >>> BoostedCRF(max_iter=10, random_state=0).fit(X, y).predict([[[1.0], [2.0], [0.0]]])
    [['B', 'A', 'A']]
    """

    _missing: ClassVar[bool] = True
    _learnt = BOOSTED
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ["warm_start", "checkpoint"],
            "trees grow on the bins of one training set; Ctrl-C keeps the rounds done so far",
        ),
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"patience", "callback"})

    max_iter: int = 100
    _: KW_ONLY
    learning_rate: float = 0.3
    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    penalty: float = 1.0
    parts: Parts = Parts()
    max_features: float = 1.0
    subsample: float = 1.0
    categorical: Sequence[int | str] | None = None
    structure: str | Structure = "chain"
    classes: Sequence[Hashable] | None = None
    class_weight: dict[Any, float] | str | None = None
    constraints: str | Rule | None = None
    decoder: str | Decoder = "viterbi"
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs,
        *,
        lengths: Lengths = None,
        sample_weight: Weights = None,
        X_dev: Items | None = None,
        y_dev: Outputs | None = None,
    ) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X : list of (T, D) arrays, or flat array
            Sequences; NaN is a missing value.
        y, lengths, sample_weight
            As in `CRF.fit`.
        X_dev, y_dev : lists, optional
            Held-out sequences: boosting ends when their likelihood has not risen for ``patience``
            rounds, and the rounds up to the best one are kept.
        """
        special = {"learning_rate": proper_share, "max_iter": whole()}
        require_settings(vars(self), {**CHECKS, **special})
        training = self._training(X, y, lengths, sample_weight)
        categorical = self._categorical(training.inputs)
        bins = {
            clique: Bins(_seen_by(clique, training.edge_batch, training.inputs.features), categorical)
            for clique in self._cliques(training.edge_batch)
        }
        assert isinstance(training.loss, LogLoss | PartialLog)
        boosting = Boosting(
            training.loss,
            self._labels_alone(training.edge_batch).terms(),
            self._fixed(training, training.edge_batch),
            bins,
            TreeSettings(
                self.max_leaf_nodes,
                self.max_depth,
                self.min_samples_leaf,
                float(self.penalty),
                float(self.max_features),
            ),
            float(self.learning_rate),
        )
        held_out = self._held_out(training, boosting, X_dev, y_dev)
        seed = int(random_state(self.random_state).randint(2**31 - 1))
        draws = np.random.default_rng(seed)

        def draft(_: object) -> BoostedCRF:
            model = copy.copy(self)
            model._take(training, boosting, boosting.element)
            return model

        with open_observer(self, draft) as report:
            values, reason = run(boosting, self.max_iter, draws, self.subsample, held_out, report)
        self._keep(training, boosting, held_out)
        self.losses_, self.stop_reason_ = values, reason
        return self

    def _training(self, X: Items, y: Outputs, lengths: Lengths, sample_weight: Weights) -> Training:
        structure = structure_of(self.structure)
        require_labelling(structure, "BoostedCRF")
        apart = set_aside(structure, X, y, lengths)
        (X, lengths, _), y = apart.labelled, apart.y
        sample_weight = apart.weights(sample_weight, structure.words)
        X, parts = structure.split(X, lengths)
        inputs = linked(structure, read_inputs(X, lengths, missing=True, words=structure.words), parts)
        if sparse.issparse(inputs.features):
            raise InputError("BoostedCRF needs dense features: trees look at every column of every row.")
        return read_training(
            inputs,
            None,
            y,
            structure,
            own=looked_at(parts_of(self, FreeScores, TreeScores)),
            sample_weight=sample_weight,
            loss=Log(class_weight=self.class_weight),
            constraints=self.constraints,
            classes=self.classes,
        )

    def _categorical(self, inputs: Inputs) -> Array:
        """Which columns hold names."""
        result = np.zeros(inputs.features.shape[1], dtype=bool)
        names = [] if inputs.names is None else inputs.names.tolist()
        for column in self.categorical or []:
            whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
            known = column in names if isinstance(column, str) else whole and 0 <= column < len(result)
            if not known:
                raise InputError(f"categorical has the unknown column {column!r}.")
            d = names.index(column) if isinstance(column, str) else int(column)
            values = inputs.features[:, d][~np.isnan(inputs.features[:, d])]
            if not ((values == np.floor(values)) & (values >= 0) & (values < N_BINS - 1)).all():
                raise InputError(
                    f"Column {column!r} is categorical, but has values other than 0, 1, … {N_BINS - 2}."
                )
            result[d] = True
        return result

    def _labels_alone(self, batch: StructureBatch) -> BoundParts:
        """Return the parts that look at labels alone."""
        given = parts_of(self, FreeScores, TreeScores)
        require_no_norms(self, given)
        return BoundParts.of_labels(compose(free_parts(batch), given, FREE_PENALTY), batch)

    def _cliques(self, batch: EdgeBatch) -> tuple[str, ...]:
        """Cliques that have trees; without a pair in the training set there is nothing to grow them from."""
        return ("node", "edge") if looked_at(self.parts) and len(batch.edge_heads) else ("node",)

    @staticmethod
    def _fixed(training: Training, batch: EdgeBatch) -> dict[str, Array] | None:
        forbidden = training.forbidden
        return None if forbidden is None else offset_of(forbidden, batch, np.float64)

    def _held_out(
        self, training: Training, boosting: Boosting, X: Items | None, y: Outputs | None
    ) -> BoostingHeldOut | None:
        if X is None and y is None:
            return None
        held_out = read_held_out(self, training, X, y)
        classes, parts = training.encoded.classes, self._labels_alone(training.edge_batch)

        def value(element: Array, trees: Mapping[str, Array]) -> float:
            labels = parts.scorers(boosting.point.problem, element)
            scorers = (KnownScores(trees), *fuse_scorers(labels, len(classes)))
            return held_out.loss_of(Model(training.structure, classes, scorers, None, training.forbidden))

        seen = {
            clique: _seen_by(clique, require_edge_batch(held_out.batch), held_out.inputs.features)
            for clique in self._cliques(training.edge_batch)
        }
        return BoostingHeldOut(value, seen, held_out.batch.shapes, self.run.patience)

    def _keep(self, training: Training, boosting: Boosting, held_out: BoostingHeldOut | None) -> None:
        """Take over what was learnt, all at once."""
        element = boosting.element
        if held_out is not None and held_out.element is not None:
            element = held_out.element
            for forest in boosting.forests.values():
                forest.cut(held_out.rounds)
        self._take(training, boosting, element)
        self.held_out_losses_: list[float] = [] if held_out is None else held_out.losses
        self.n_iter_ = len(self.forests_["node"].rounds)
        self.provenance_ = provenance_of(training.inputs, training.encoded)

    def _take(self, training: Training, boosting: Boosting, element: Array) -> None:
        """Take over what predictions need."""
        self.classes_, self.structure_ = training.encoded.classes, training.structure
        scorers = self._labels_alone(training.edge_batch).scorers(boosting.point.problem, element)
        keep_scorers(self, scorers, len(self.classes_))
        self.forests_ = boosting.forests
        self.n_features_in_ = training.inputs.features.shape[1]
        if training.inputs.names is not None:
            self.feature_names_in_ = training.inputs.names
        self.forbidden_, self.features_ = training.forbidden, None

    def _model(self) -> Model:
        trees = (ForestScorer(clique, forest) for clique, forest in self.forests_.items())
        return learnt_model(self, *trees)


@dataclass(frozen=True, slots=True)
class ForestScorer(Scorer):
    """Sums of trees for every clique of some type."""

    clique: str
    forest: Forest

    @property
    def own(self) -> frozenset[str]:  # type: ignore[override]  # it depends on the trees
        """Return the clique type that it is about."""
        return frozenset({self.clique})

    def add_scores(self, batch: Any, features: Array, into: dict[str, Array]) -> None:
        """Ask all trees."""
        if sparse.issparse(features):
            raise InputError("BoostedCRF needs dense features: trees look at every column of every row.")
        values = self.forest.scores(_seen_by(self.clique, batch, features))
        add(into, self.clique, values.reshape(batch.cliques[self.clique].shape))


def _seen_by(clique: str, batch: EdgeBatch, features: Array) -> Array:
    """Return what the trees of a clique type look at: vertices, or the first vertex of every edge."""
    matrix = np.asarray(features, dtype=np.float64)
    return matrix if clique == "node" else matrix[batch.edge_tails]
