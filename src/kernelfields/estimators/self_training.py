"""Self-training: a model learns from its own sure guesses."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ..arrays import Array
from ..checks import as_list, is_list, one_of, optional, require_settings, require_share, shown, whole
from ..data.groups import pick
from ..data.labels import UNOBSERVED
from ..data.sample_weights import read_weights
from ..data.types import FittedModel, Items, Learner, Outputs, Weights
from ..errors import InputError
from ..fitting.model_wrapper import ModelWrapper
from ..fitting.observers import ProgressLine
from ..fitting.run import starts_afresh
from ..missing import is_missing
from ..persistence.fields import Field, Kind
from ..persistence.savable import Savable
from ..transduction.pseudo_labels import Labelled, PseudoLabels, of_positions, of_sequences
from .kernel_logistic_regression import KernelLogisticRegression

ALL, NONE, LIMIT = "All are labelled.", "No guess was sure enough.", "The limit of rounds was reached."


class SelfTraining(ModelWrapper):
    """Fit a model, take its sure guesses for labels, and fit it again [yarowsky1995].

    The model is fitted to the sequences that have labels. It then labels those that have none; guesses that
    are likely enough join the training set for good, and the model is fitted anew, round by round. It
    helps where the first model is mostly right where it is sure; guesses that are wrong teach it their
    errors, so judge it by labels that are held out. On sequences of one position it does what
    scikit-learn's ``SelfTrainingClassifier`` does.

    Parameters
    ----------
    estimator : estimator
        A model of sequences, with probabilities: of this library, or with its `fit`, `predict` and
        `sequence_log_proba` (or `predict_proba`).
    threshold : float
        Guesses must be more likely than this.
    k_best : int, optional
        How many of these are taken per round at most, the surest; if not given, all. scikit-learn's criterion
        "k_best" is ``threshold=0, k_best=k``.
    by : "sequence", "average" or "position"
        What is guessed, and how likely that is: whole labellings by p(ŷ|x), which is small for long
        sequences; by p(ŷ|x)^(1/T), the average of a position; or single positions by p(y_t|x) given the
        labels that are there. In the last case others of the sequence have no label (None), which the model
        must be able to learn from.
    max_iter : int, optional
        Rounds at most; if not given, until nothing changes.
    verbose : int
        1 shows the rounds; that of ``estimator`` shows the fits.

    Attributes
    ----------
    classes_ : (L,) array
        Labels.
    estimator_ : estimator
        The last model.
    transduction_ : list
        Labels of all sequences, given and guessed; None for sequences without any.
    labelled_iter_ : (S,) array
        The round in which each sequence got its first label: 0 if it was given, −1 if it has none.
    n_iter_, stop_reason_ : int, str
        How many rounds there were, and why there were no more.

    Examples
    --------
    >>> from kernelfields import CRF, SelfTraining
    >>> X = [[[0.0], [1.0]], [[1.0], [0.0]], [[0.2], [0.9]], [[0.9], [0.1]]]
    >>> model = SelfTraining(CRF(penalty=0.1), by="average").fit(X, [["A", "B"], ["B", "A"], None, None])
    >>> model.transduction_[2:], model.labelled_iter_.tolist()
    ([['A', 'B'], ['B', 'A']], [0, 0, 1, 1])
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "estimator_": Kind(Savable, large=True),
        "n_iter_": Kind(int),
        "stop_reason_": Kind(str),
    }
    _transient: ClassVar[tuple[str, ...]] = ("transduction_", "labelled_iter_")
    _lacks: ClassVar[Mapping[str, str]] = {
        "lengths": "give it a list of sequences, of which some have labels",
        **dict.fromkeys(["warm_start", "checkpoint"], "it is a setting of estimator"),
    }
    estimator_: Any
    transduction_: Labelled
    labelled_iter_: Array
    n_iter_: int
    stop_reason_: str

    def __init__(
        self,
        estimator: Learner,
        *,
        threshold: float = 0.75,
        k_best: int | None = None,
        by: str = "sequence",
        max_iter: int | None = 10,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.k_best = k_best
        self.by = by
        self.max_iter = max_iter
        self.verbose = verbose

    @property
    def probabilistic(self) -> bool:
        """Whether the model's training makes probabilities."""
        return bool(getattr(vars(self).get("estimator_", self.estimator), "probabilistic", True))

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs,
        *,
        X_unlabelled: Items | None = None,
        sample_weight: Weights = None,
        X_dev: Items | None = None,
        y_dev: Outputs | None = None,
    ) -> Self:
        """Fit to sequences of which some have labels.

        Parameters
        ----------
        X : list of sequences
            As the estimator takes them.
        y : list of label sequences
            None or −1 in place of a label sequence, or one in which all labels are None, says that there are
            no labels.
        X_unlabelled : list, optional
            More sequences without labels; in attributes they come after those of X.
        sample_weight : (S,) array, optional
            How many times each sequence of X counts; those of ``X_unlabelled`` count once.
        X_dev, y_dev : optional
            Held-out sequences for every fit of the estimator.
        """
        require_settings(vars(self), _CHECKS)
        _require_estimator(self.estimator)
        sequences, labels = _read(X, y, X_unlabelled)
        weights = None
        if sample_weight is not None:
            own = read_weights(sample_weight, len(as_list(X)))
            weights = np.concatenate([own, np.ones(len(sequences) - len(own))])
        held_out = {name: part for name, part in (("X_dev", X_dev), ("y_dev", y_dev)) if part is not None}
        with ProgressLine(shown=self.verbose) as line:
            self._train(_Task(sequences, labels, weights, held_out), line)
        return self

    def _train(self, task: _Task, line: ProgressLine) -> None:
        """Fit and guess in turn."""
        labels = task.labels
        since = np.array([-1 if one is None else 0 for one in labels], dtype=np.int64)
        model, done, reason = task.fitted(self.estimator), 0, LIMIT
        while self._open(labels) and (self.max_iter is None or done < self.max_iter):
            done += 1
            known = sum(one is not None for one in labels)
            line.say(f"round {done}: {known} of {len(labels)} sequences have labels")
            guesses = self._guesses(model, task.sequences, labels)
            chosen = guesses.chosen(float(self.threshold), self.k_best)
            if len(chosen) == 0:
                reason = NONE
                break
            guesses.put(labels, chosen)
            reached = np.unique(guesses.sequences[chosen])
            since[reached[since[reached] < 0]] = done
            model = task.fitted(self.estimator)
        self.stop_reason_ = reason if self._open(labels) else ALL
        self.estimator_, self.classes_, self.n_iter_ = model, model.classes_, done
        self.transduction_, self.labelled_iter_ = labels, since

    def _fitted_model(self) -> FittedModel:
        """Return the last model; a classifier of rows as one of sequences, which can be asked more."""
        model = self.estimator_
        rows = isinstance(model, KernelLogisticRegression) and not model.structure_.linked
        return model.sequence_model() if rows else model

    def _guesses(self, model: FittedModel, X: list[Any], labels: Labelled) -> PseudoLabels:
        if self.by == "position":
            return of_positions(model, X, labels)
        return of_sequences(model, X, labels, average=self.by == "average")

    def _open(self, labels: Labelled) -> bool:
        """Whether something is left to guess."""
        whole_only = self.by != "position"
        return any(one is None or (not whole_only and None in one) for one in labels)


class _Task(NamedTuple):
    """What models are fitted to."""

    sequences: list[Any]
    labels: Labelled
    weights: Array | None
    held_out: dict[str, Any]

    def fitted(self, estimator: Learner) -> FittedModel:
        """Return a copy of an estimator, fitted to the sequences that have labels.

        One that takes ``X_unlabelled`` gets the others, too: its kernels may look at them, or its loss learn
        from them.
        """
        from sklearn.base import clone

        accepted = signature(estimator.fit).parameters
        takes_all = "X_unlabelled" in accepted
        ids = np.flatnonzero([takes_all or one is not None for one in self.labels])
        weighted = {} if self.weights is None else {"sample_weight": self.weights[ids]}
        given = {**weighted, **self.held_out}
        for name in given:
            if name not in accepted:
                raise InputError(f"{name} cannot be had: {type(estimator).__name__}.fit does not take it.")
        return clone(estimator).fit(pick(self.sequences, ids), pick(self.labels, ids), **given)


_CHECKS = {
    "threshold": require_share,
    "k_best": optional(whole()),
    "by": one_of(["sequence", "average", "position"]),
    "max_iter": optional(whole(0)),
    "verbose": whole(0),
}


def _require_estimator(model: object) -> None:
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("fit", "predict", "get_params")):
        raise InputError(f"estimator is {shown(model)}; it must be a model of sequences.")


def _read(X: Items, y: Outputs, more: Items | None) -> tuple[list[Any], Labelled]:
    """Return all sequences, and their labels; None for those without any."""
    sequences, outputs = as_list(X), as_list(y)
    for name, given in (
        ("X", sequences),
        ("y", outputs),
        *(() if more is None else (("X_unlabelled", as_list(more)),)),
    ):
        flat = name != "y" and getattr(given, "ndim", 0) == 2  # a matrix, or a frame
        if not is_list(given) or flat:
            raise InputError(f"{name} must be a list of sequences.")
    if len(sequences) != len(outputs):
        raise InputError(f"X has {len(sequences)} sequences, but y has {len(outputs)}.")
    unlabelled = [] if more is None else list(as_list(more))
    labels: Labelled = [_labels(s, one) for s, one in enumerate(outputs)]
    if all(one is None for one in labels):
        raise InputError("y has no labels: self-training begins with some.")
    return [*sequences, *unlabelled], [*labels, *(None for _ in unlabelled)]


def _labels(s: int, given: Any) -> list[Any] | None:
    """Return the labels of a sequence, None where one is missing; None if all are."""
    if not is_list(given) and not isinstance(given, str):
        if is_missing(given) or (isinstance(given, int | np.integer) and given == UNOBSERVED):
            return None
        raise InputError(f"Sequence {s} of y is {shown(given)}, which is neither None nor a list of labels.")
    named = given.tolist() if isinstance(given, np.ndarray) else list(given)
    labels = [None if not is_list(label) and is_missing(label) else label for label in named]
    return None if labels and all(label is None for label in labels) else labels
