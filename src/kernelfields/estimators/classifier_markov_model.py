"""Classifiers as the local models of chains."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from inspect import signature
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ..arrays import Array
from ..checks import one_of, require_settings, shown
from ..constraints import Rule
from ..data.reading import FeatureSetting
from ..data.rules import read_rules
from ..data.sample_weights import read_weights
from ..data.training import LabelledSet
from ..data.types import FittedModel, Items, Lengths, Outputs, Seed, Weights
from ..decoders import Decoder
from ..errors import InputError
from ..fitting.observers import ProgressLine
from ..fitting.provenance import provenance_of
from ..fitting.run import starts_afresh
from ..fitting.settings import CHECKS
from ..models.labeller import SequenceLabeller
from ..models.learnt import CLASSIFIERS
from ..models.linear import read_labelled
from ..models.model import Model, Scorer, fitted_model
from ..persistence.fields import Field
from ..structures import Chain

HMM_KIND, PMM_KIND = "hmm", "pmm"


@dataclass(eq=False, repr=False)
class ClassifierMarkovModel(SequenceLabeller):
    """Any classifier of positions, with inference along a chain [punyakanok2001].

    Two ways to make a model of sequences from p(y_t|…, x_t). The hidden Markov model ("hmm") has one
    classifier, turned around by Bayes' rule, and steps that are counted,

        p(y|x) ∝ p(y_1) Π_t p(y_{t+1}|y_t) Π_t p(y_t|x_t)/p(y_t);

    the projection-based Markov model ("pmm") has one classifier for each label before, trained on the
    positions that follow this label, and one for first positions,

        p(y|x) = p(y_1|x_1) Π_t p(y_{t+1}|y_t, x_{t+1}).

    Each classifier is fitted by itself, without any recursion; labels are decided together. Where all that
    was seen after a label is one label, or none, probabilities are constant there. `MEMM` is such a model
    whose classifiers share their weights; `CRF` is trained as it is used, and is usually better.

    Parameters
    ----------
    classifier : classifier
        As scikit-learn has them: `fit`, ``classes_`` and `predict_proba`. Its copies see rows of features
        and labels as numbers, indices of ``classes_``.
    kind : "hmm" or "pmm"
        Which model.
    pseudocount : float
        Added to every count of a first label, of a label and of a step. A classifier that has seen n
        positions gives out n/(n + L·pseudocount) of the probability; all labels have the same part of the
        rest.
    features : str, Templates, TemplateFeatures or DictFeatures, optional
        What to look at where X holds tokens instead of arrays, as for `CRF`.
    classes : list, optional
        All labels that there are, as in `CRF`.
    constraints : "iob2", "iobes", "bilou", "bmes", Rule or None
        Label pairs, starts and ends that cannot occur in a prediction; the probabilities of those labellings
        go to the others.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides.
    random_state : int, RandomState or None
        Seed of `sample`; the classifier has its own.
    verbose : int
        1 shows which classifier is fitted.

    Attributes
    ----------
    classes_ : (L,) array
        Labels.
    classifiers_ : list
        One classifier ("hmm"); or one for each label before, in the order of ``classes_``, and the one of
        first positions ("pmm"). None where probabilities are constant: those of ``transitions_`` and
        ``start_``.
    trust_ : array
        Which part of the probability each of them gives out.
    start_, transitions_, shares_ : arrays
        Frequencies of first labels, of steps from row to column, and of labels, with pseudocounts.

    Notes
    -----
    `save` writes models whose classifiers are of this library, such as `KernelLogisticRegression`. Files hold
    no code, so that there is no safe place in them for others; these models can be pickled.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from kernelfields import ClassifierMarkovModel
    >>> X = [[[0.0], [1.0], [1.0]], [[1.0], [0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> ClassifierMarkovModel(LogisticRegression(C=10.0), kind="pmm").fit(X, y).predict([[[1.0], [0.0]]])
    [['B', 'A']]
    """

    _learnt: ClassVar[Mapping[str, Field]] = CLASSIFIERS
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ["X_dev", "y_dev", "warm_start", "checkpoint", "callback"],
            "nothing is searched for but what the classifier looks for",
        ),
    }

    classifier: Any
    _: KW_ONLY
    kind: str = HMM_KIND
    pseudocount: float = 0.1
    features: FeatureSetting = None
    classes: Sequence[Hashable] | None = None
    constraints: str | Rule | None = None
    decoder: str | Decoder = "viterbi"
    random_state: Seed = None
    verbose: int = 0

    @starts_afresh
    def fit(self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None) -> Self:
        """Fit all classifiers, and count.

        Parameters
        ----------
        X : list of (T, D) arrays, or flat array
            Sequences.
        y : list of label sequences
            Labels, all of them observed.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        sample_weight : (S,) array, optional
            How many times each sequence counts; the classifier must take it.
        """
        require_settings(vars(self), {**CHECKS, "kind": one_of([HMM_KIND, PMM_KIND])})
        _require_classifier(self.classifier)
        data = read_labelled(Chain(), self.features, X, y, lengths, classes=self.classes)
        self.forbidden_ = read_rules(data.structure, self.constraints, data.batch, data.encoded)
        counts = None
        if sample_weight is not None:
            each = read_weights(sample_weight, data.edge_batch.n_instances)
            counts = np.repeat(each, np.diff(data.edge_batch.offsets))
        self._fit_parts(data, counts)
        self.kind_ = str(self.kind)
        self.classes_, self.structure_ = data.encoded.classes, data.structure
        self.features_, self.n_features_in_ = data.extractor, data.inputs.features.shape[1]
        self.provenance_ = provenance_of(data.inputs, data.encoded)
        if data.inputs.names is not None:
            self.feature_names_in_ = data.inputs.names
        return self

    def _fit_parts(self, data: LabelledSet, counts: Array | None) -> None:
        """Count labels and steps, and fit one classifier to all positions or one after each label."""
        L, labels, batch = data.edge_batch.n_labels, data.encoded.labels, data.edge_batch
        before = np.full(len(labels), L)  # none: a first position
        before[batch.edge_heads] = labels[batch.edge_tails]
        steps = np.bincount(before * (L + 1) + labels, counts, (L + 1) ** 2).reshape(L + 1, L + 1)[:, :L]
        self.transitions_, self.start_ = self._shares(steps[:L]), self._shares(steps[L])
        self.shares_ = self._shares(steps.sum(axis=0))
        if self.kind == HMM_KIND:
            groups, seen = [np.arange(len(labels))], steps.sum(keepdims=True)[0]
        else:
            groups, seen = [np.flatnonzero(before == k) for k in range(L + 1)], steps.sum(axis=1)
        self.classifiers_ = []
        with ProgressLine(shown=self.verbose) as line:
            for n, rows in enumerate(groups, 1):
                line.say(f"classifier {n} of {len(groups)}: {len(rows):,} positions")
                self.classifiers_.append(self._fitted(data, rows, counts))
        smoothed = seen + L * self.pseudocount
        self.trust_ = np.divide(seen, smoothed, out=np.zeros(len(seen)), where=smoothed > 0)

    def _shares(self, counts: Array) -> Array:
        """Return frequencies; the same for all where there is nothing to count."""
        above = counts + float(self.pseudocount)
        total = above.sum(axis=-1, keepdims=True)
        return np.divide(above, total, out=np.full(above.shape, 1 / above.shape[-1]), where=total > 0)

    def _fitted(self, data: LabelledSet, rows: Array, counts: Array | None) -> FittedModel | None:
        """Return a classifier of some positions; None if they have one label, or there are none."""
        from sklearn.base import clone

        if counts is not None:
            rows = rows[counts[rows] > 0]
        labels = data.encoded.labels[rows]
        if len(np.unique(labels)) < 2:
            return None
        if counts is None:
            return clone(self.classifier).fit(data.inputs.features[rows], labels)
        if "sample_weight" not in signature(self.classifier.fit).parameters:
            name = type(self.classifier).__name__
            raise InputError(f"sample_weight cannot be had: {name}.fit does not take it.")
        return clone(self.classifier).fit(data.inputs.features[rows], labels, sample_weight=counts[rows])

    def _model(self) -> Model:
        constants = [self.shares_] if self.kind_ == HMM_KIND else [*self.transitions_, self.start_]
        parts = zip(self.classifiers_, self.trust_.tolist(), constants, strict=True)
        *after, last = (LocalClassifier(*part) for part in parts)
        if self.kind_ == HMM_KIND:
            return fitted_model(self, RatioScorer(last, self.shares_, self.start_, self.transitions_))
        return fitted_model(self, ProjectionScorer(last, after))


def _require_classifier(model: object) -> None:
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("fit", "get_params")):
        raise InputError(f"classifier is {shown(model)}; it must be a classifier as scikit-learn has them.")
    if not hasattr(model, "predict_proba"):
        raise InputError(f"classifier is {shown(model)}, which has no predict_proba.")


class LocalClassifier(NamedTuple):
    """Probabilities of labels, from a classifier and a little from nothing."""

    classifier: Any
    """With `predict_proba`, its labels indices; None for the same probabilities everywhere."""
    trust: float
    """How much of the probability the classifier gives out; the rest goes to all labels alike."""
    constant: Array
    """(L,) probabilities, if there is no classifier."""

    def probabilities(self, rows: Any) -> Array:
        """Return p(y|x) of some rows, (N, L)."""
        count, L = rows.shape[0], len(self.constant)
        if self.classifier is None:
            return np.broadcast_to(self.constant, (count, L))
        result = np.full((count, L), (1.0 - self.trust) / L)
        if count:  # classifiers refuse to predict nothing
            labels = np.asarray(self.classifier.classes_, dtype=np.int64)
            result[:, labels] += self.trust * _given_out(self.classifier, rows, len(labels))
        return result


@dataclass(frozen=True, slots=True)
class RatioScorer(Scorer):
    """log p(y_t|x_t) / p(y_t), and steps: p(x, y) of a hidden Markov model, up to p(x_t)."""

    local: LocalClassifier
    shares: Array
    """(L,), p(y)."""
    start: Array
    transitions: Array

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Take logarithms, −inf where a probability is zero."""
        with np.errstate(divide="ignore"):
            # A share of zero is that of a label that no position has: nothing can be said against it here.
            node = np.log(self.local.probabilities(features)) - np.log(np.where(self.shares, self.shares, 1))
            node[batch.first_positions] += np.log(self.start)
            into.update(node=node, edge=np.log(self.transitions))


@dataclass(frozen=True, slots=True)
class ProjectionScorer(Scorer):
    """log p(y_t|y_{t−1}, x_t), each label before with a classifier of its own."""

    first: LocalClassifier
    """Of first positions."""
    after: Sequence[LocalClassifier]
    """One for each label before."""
    own: ClassVar[frozenset[str]] = frozenset({"edge"})

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Ask all classifiers about all positions that follow another one."""
        heads, L = features[batch.edge_heads], batch.n_labels
        node, edge = np.zeros((batch.n_vertices, L)), np.empty((batch.n_edges, L, L))
        with np.errstate(divide="ignore"):
            node[batch.first_positions] = np.log(self.first.probabilities(features[batch.first_positions]))
            for label, local in enumerate(self.after):
                edge[:, label] = np.log(local.probabilities(heads))
        into.update(node=node, edge=edge)


def _given_out(classifier: Any, rows: Any, width: int) -> Array:
    """Return what a classifier says, if it is a distribution over its labels in every row."""
    found = np.asarray(classifier.predict_proba(rows), dtype=np.float64)
    expected = (rows.shape[0], width)
    if found.shape != expected or not (found >= 0).all() or not np.allclose(found.sum(axis=1), 1, atol=1e-3):
        name = type(classifier).__name__
        raise InputError(f"{name}.predict_proba gives no probabilities of {width} labels in every row.")
    return found
