"""Two models in a row: the second looks at what the first believes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from inspect import signature
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from ..arrays import Array, offsets_of
from ..checks import require_settings, shown
from ..data.groups import fold_numbers, pick
from ..data.inputs import in_order, read_inputs
from ..data.labels import encode, index_of, read_labels, require_sequences, unlabelled_items
from ..data.reading import extractor_for
from ..data.sample_weights import read_weights
from ..data.types import (
    Allowed,
    FittedModel,
    Groups,
    Items,
    Learner,
    Lengths,
    Outputs,
    Seed,
    SparseMatrix,
    Weights,
)
from ..decoders import Decoder
from ..errors import InputError
from ..features import stack_graph_windows, stack_tree_windows, stack_windows
from ..fitting.observers import ProgressLine
from ..fitting.run import Routed, starts_afresh
from ..fitting.settings import CHECKS
from ..models.labeller import Labels
from ..models.model import fitted_structure
from ..persistence.fields import Field, Kind, Models, Numbers
from ..persistence.savable import Savable, require_fitted
from ..structures import GraphLinks, Structure
from ..tables import structure_of

MaybeLabels = Sequence[list[Hashable] | None]
"""None for a sequence without labels."""


class Cascade(Routed, Savable):
    """A model whose inputs are another model's marginals in a window [jones1999].

    The first model gives every position t of a sequence its marginals p₁(y_t|x). The second is trained
    on windows of them,

        z_t = (p₁(y_{t−h}|x), …, p₁(y_{t+h}|x)) · weight,        h = (window − 1)/2,

    and on x_t itself with ``keep_inputs``. It is handed confidence, not decisions, and can learn what
    pairs of neighbouring labels cannot say: how long segments are, which ones follow each other. A model
    is too sure of sequences that it has seen, so the second is trained on marginals from models that had
    not: for each fold, one fitted to all others. At prediction the first model is one fitted to all
    sequences, or, with ``refit=False``, the mean of the models of the folds.

    Parameters
    ----------
    first : estimator
        Anything with `fit`, ``classes_`` and `predict_marginals`, which gives a (T, L) array per sequence.
    second : estimator
        A model of this library for sequences of arrays, or for trees if its ``structure`` says so;
        `predict` and the rest are its own.
    window : int
        Odd: how many positions the second model sees; on trees ancestors, the vertex, and the means of
        its descendants, generation by generation.
    folds : int or None
        Number of folds; None makes one of every group that `fit` is given.
    keep_inputs : bool
        Whether the second model sees x_t too; X must then be arrays.
    weight : float
        What marginals are multiplied with, which matters beside inputs of another scale.
    refit : bool
        Whether the first model is fitted once more, to all sequences; if not, those of the folds stay.
    random_state : int, RandomState or None
        Seed of the folds; both models have their own.
    verbose : int
        1 shows which model is fitted; those of the models show their fits.

    Attributes
    ----------
    first_ : list of estimators
        The first model; with ``refit=False`` one for every fold. Their marginals are averaged.
    second_ : estimator
        The second model.
    fold_ : (S,) array
        Fold of every training sequence.
    out_of_fold_ : list of (T, L) arrays
        Marginals of every training sequence by a model that had not seen it, columns as in ``classes_``.
        Neither these nor the folds are in model files.
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    window_, weight_, keep_inputs_
        As they were set when the model was fitted.
    n_features_in_, feature_names_in_ : int or None, array
        Of arrays; None if X holds tokens. Names only if X holds frames.

    Examples
    --------
    >>> from kernelfields import CRF, Cascade
    >>> X = [[[0.0], [1.0], [1.0]], [[1.0], [0.0]], [[0.0], [0.0], [1.0]], [[1.0], [1.0], [0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"], ["A", "A", "B"], ["B", "B", "A"]]
    >>> model = Cascade(CRF(0.1), CRF(0.1), window=3, folds=2, random_state=0).fit(X, y)
    >>> model.predict([[[1.0], [0.0], [0.0]]])
    [['B', 'A', 'A']]
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "n_features_in_": Kind(int, needed=False),
        "feature_names_in_": Numbers("D", kinds="OU", needed=False),
        "_tokens": Kind(bool),
        "window_": Kind(int, needed=False),
        "weight_": Kind(float, needed=False),
        "keep_inputs_": Kind(bool, needed=False),
        "structure_": Kind(Structure, needed=False),
        "first_": Models(),
        "second_": Kind(Savable, large=True),
    }
    _transient: ClassVar[tuple[str, ...]] = ("fold_", "out_of_fold_")
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["X_dev", "y_dev"], "its folds are what it holds out"),
        "X_unlabelled": "sequences without labels are items of y that are None",
        **dict.fromkeys(["warm_start", "checkpoint"], "it is a setting of the two models"),
    }
    first_: list[Any]
    second_: Any
    fold_: Array
    out_of_fold_: list[Array]
    classes_: Array
    window_: int
    weight_: float
    keep_inputs_: bool
    n_features_in_: int | None

    def __init__(
        self,
        first: Learner,
        second: Learner,
        *,
        window: int = 15,
        folds: int | None = 5,
        keep_inputs: bool = False,
        weight: float = 1.0,
        refit: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.first = first
        self.second = second
        self.window = window
        self.folds = folds
        self.keep_inputs = keep_inputs
        self.weight = weight
        self.refit = refit
        self.random_state = random_state
        self.verbose = verbose

    @property
    def probabilistic(self) -> bool:
        """Whether the second model's training makes probabilities."""
        return bool(vars(self).get("second_", self.second).probabilistic)

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs,
        *,
        lengths: Lengths = None,
        groups: Groups = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Fit the first model to every fold's complement, the second to what they say, the first to all.

        Parameters
        ----------
        X : list of sequences, or flat array
            Sequences, as the first model takes them.
        y : list of label sequences
            Labels.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        groups : (S,) sequence, optional
            Sequences of one group, such as relatives, are in one fold.
        sample_weight : (S,) array, optional
            How many times each sequence counts, for both models, which must take it.
        """
        require_settings(vars(self), CHECKS)
        self.window_, self.weight_ = int(self.window), float(self.weight)
        self.keep_inputs_ = bool(self.keep_inputs)
        self.structure_ = structure_of(getattr(self.second, "structure", "chain"))
        require_sequences(self.structure_, "Cascade")
        X, links = self.structure_.split(X, lengths)
        words = self.structure_.words
        tokens = lengths is None and extractor_for(getattr(self.first, "features", None), X) is not None
        if not tokens:
            X, names = in_order(X, lengths, None, words)
            if names is not None:
                self.feature_names_in_ = names
        sequences = self._sequences(X, lengths, tokens, None)
        read = read_labels(y, _lengths_of(sequences), words=words)
        missing = set(unlabelled_items(y, sequences))
        labels = [None if s in missing else one for s, one in enumerate(read)]  # its models set them aside
        if not sequences:
            raise InputError("The training set is empty.")
        classes = encode([one for one in labels if one is not None]).classes
        fold = fold_numbers(len(sequences), self.folds, groups, self.random_state, words)
        weights = None if sample_weight is None else read_weights(sample_weight, len(sequences), words)
        items = _Items(sequences, links, weights)
        with ProgressLine(shown=self.verbose) as line:
            models, handed_on = self._fit_folds(items, labels, fold, classes, line)
            line.say("second model")
            second = _fitted(self.second, self._seen_by_second(items, handed_on), labels)
            if self.refit:
                line.say("first model, all sequences")
            self.first_ = [_fitted(self.first, items, labels)] if self.refit else models
        self.second_, self.classes_ = second, classes
        self.fold_, self.out_of_fold_ = fold, handed_on
        self._tokens = tokens
        self.n_features_in_ = None if tokens else int(sequences[0].shape[1])
        return self

    def predict(
        self,
        X: Items,
        *,
        lengths: Lengths = None,
        allowed: Allowed = None,
        decoder: str | Decoder | None = None,
        abstain: float | None = None,
    ) -> Labels:
        """Label sequences as the second model does; see `CRF.predict` for what can be asked of it."""
        how = {"allowed": allowed, "decoder": decoder, "abstain": abstain}
        seen = self._handed_on(X, lengths)
        result: Labels = self.second_.predict(seen, **how)
        return result

    def predict_marginals(self, X: Items, *, lengths: Lengths = None, allowed: Allowed = None) -> list[Array]:
        """Return p(y_t|x) of the second model: a (T, L) array per sequence, columns as in ``classes_``."""
        seen = self._handed_on(X, lengths)
        result: list[Array] = self.second_.predict_marginals(seen, allowed=allowed)
        return result

    def predict_kbest(
        self, X: Items, k: int, *, lengths: Lengths = None, allowed: Allowed = None
    ) -> list[list[tuple[list[Hashable], float]]]:
        """Return the k best labellings of every sequence with log p(y|x), by the second model."""
        seen = self._handed_on(X, lengths)
        result: list[Any] = self.second_.predict_kbest(seen, k, allowed=allowed)
        return result

    def sequence_log_proba(self, X: Items, y: Outputs, *, lengths: Lengths = None) -> Array:
        """Log p(y|x) of whole labellings, by the second model."""
        seen = self._handed_on(X, lengths)
        result: Array = self.second_.sequence_log_proba(seen, y)
        return result

    def score(self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None) -> float:
        """Return the share of positions labelled right; each sequence counts ``sample_weight`` times."""
        seen = self._handed_on(X, lengths)
        return float(self.second_.score(seen, y, sample_weight=sample_weight))

    def _sequences(self, X: Any, lengths: Lengths, tokens: bool, width: int | None) -> list[Any]:
        """X as a list: arrays checked once, with their own numbers; tokens as they are."""
        if tokens and self.keep_inputs_:
            raise InputError("keep_inputs needs arrays of features, not tokens.")
        if tokens:
            return list(X)
        inputs = read_inputs(X, lengths, width, words=fitted_structure(self).words)
        return [inputs.features[a:b] for a, b in pairwise(inputs.offsets)]

    def _fit_folds(
        self, items: _Items, labels: MaybeLabels, fold: Array, classes: Array, line: ProgressLine
    ) -> tuple[list[Any], list[Array]]:
        """A first model per fold, fitted to the others, and its marginals of that fold."""
        models, marginals = [], [np.zeros((0, len(classes)))] * len(items.sequences)
        for number in range(int(fold.max()) + 1):
            line.say(f"first model, fold {number + 1} of {int(fold.max()) + 1}")
            known, unknown = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            models.append(_fitted(self.first, items.take(known), pick(labels, known)))
            found = _mean_marginals(models[-1:], items.take(unknown), classes)
            for i, one in zip(unknown, found, strict=True):
                marginals[i] = one
        return models, marginals

    def _settle(self, state: Mapping[str, Any]) -> None:
        super()._settle(state)
        for name in ("window", "weight", "keep_inputs"):  # files of older versions have them as settings only
            vars(self).setdefault(f"{name}_", vars(self)[name])

    def _rehearse(self) -> None:
        self.predict([])

    def _handed_on(self, X: Items, lengths: Lengths) -> list[Any]:
        """What the second model sees of sequences to predict."""
        require_fitted(self)
        structure = fitted_structure(self)
        X, links = structure.split(X, lengths)
        if not self._tokens:
            X, _ = in_order(X, lengths, getattr(self, "feature_names_in_", None), structure.words)
        items = _Items(self._sequences(X, lengths, self._tokens, self.n_features_in_), links)
        return self._seen_by_second(items, _mean_marginals(self.first_, items, self.classes_)).for_model(
            self.second_
        )

    def _seen_by_second(self, items: _Items, marginals: list[Array]) -> _Items:
        """Return windows of marginals, beside the inputs if they are kept."""
        weighted = [self.weight_ * one for one in marginals]
        if items.links is None:
            windows = stack_windows(weighted, self.window_)
        else:
            offsets = offsets_of([len(one) for one in weighted])
            links = fitted_structure(self).links(items.links, offsets)  # checks them
            windows = (
                stack_graph_windows(weighted, links.joined(offsets), self.window_)
                if isinstance(links, GraphLinks)
                else stack_tree_windows(weighted, items.links, self.window_)
            )
        if not self.keep_inputs_:
            return items._replace(sequences=windows)
        beside = [_beside(window, x) for window, x in zip(windows, items.sequences, strict=True)]
        return items._replace(sequences=beside)


class _Items(NamedTuple):
    """What models are given: features or tokens, and the links of a structure that has some."""

    sequences: list[Any]
    links: list[Any] | None
    weights: Array | None = None
    """How many times each counts in a fit."""

    def take(self, ids: Array) -> _Items:
        """Return some of them."""
        links = None if self.links is None else pick(self.links, ids)
        return _Items(pick(self.sequences, ids), links, None if self.weights is None else self.weights[ids])

    def for_model(self, model: object) -> list[Any]:
        """Return them as a model takes them; one without links in its structure sees none."""
        structure = structure_of(getattr(model, "structure", "chain"))
        if self.links is None or not structure.linked:
            return self.sequences
        return [structure.item(x, part) for x, part in zip(self.sequences, self.links, strict=True)]


def _fitted(model: Learner, items: _Items, labels: MaybeLabels) -> FittedModel:
    """Return a copy of a model, fitted."""
    from sklearn.base import clone

    if isinstance(model, type) or not all(hasattr(model, name) for name in ("fit", "get_params")):
        raise InputError(f"A cascade is made of two estimators; {shown(model)} is none.")
    if items.weights is None:
        return clone(model).fit(items.for_model(model), labels)
    if "sample_weight" not in signature(model.fit).parameters:
        raise InputError(f"sample_weight cannot be had: {type(model).__name__}.fit does not take it.")
    return clone(model).fit(items.for_model(model), labels, sample_weight=items.weights)


def _mean_marginals(models: list[Any], items: _Items, classes: Array) -> list[Array]:
    """The mean of some models' marginals, columns as in ``classes``: one may have missed rare labels."""
    index = index_of(classes)
    result = [np.zeros((n, len(classes))) for n in _lengths_of(items.sequences)]
    for model in models:
        columns = [index[label] for label in model.classes_.tolist()]
        for mean, marginals in zip(result, model.predict_marginals(items.for_model(model)), strict=True):
            mean[:, columns] += marginals / len(models)
    return result


def _lengths_of(sequences: list[Any]) -> Array:
    return np.array([x.shape[0] if sparse.issparse(x) else len(x) for x in sequences], dtype=np.int64)


def _beside(window: Array, x: Any) -> Array | SparseMatrix:
    if sparse.issparse(x):
        return sparse.hstack([sparse.csr_matrix(window, dtype=x.dtype), x], format="csr")
    return np.concatenate([window, x], axis=1, dtype=x.dtype)
