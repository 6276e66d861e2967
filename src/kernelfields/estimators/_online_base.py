"""What sequence labellers share that learn from one sequence after the other."""

from __future__ import annotations

import copy
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ..constraints import Forbidden
from ..constraints import Rule as LabelRule
from ..errors import InputError, ScoreError
from ..losses import Log
from ..objective import Problem, Term
from ..online import Rule, Sweep
from ..solvers import Progress
from ..structures._base import Array
from ._base import Batch, SequenceLabeller, read_weights
from ._constraints import barred_scores, require_respected
from ._inputs import Inputs
from ._labels import lookup, read_labels
from ._linear import LabelledSet, linear_scores, read_labelled, training_terms
from ._provenance import provenance_of
from ._random import random_state
from ._saving_declared import ONLINE
from ._tables import CONSTRAINTS, choose
from ._weights import LinearWeights

DONE = "All epochs were done."
FLAWLESS = "Every training sequence was labelled right throughout an epoch."
NO_BETTER = "The error on held-out data had stopped falling."


class OnlineLabeller(SequenceLabeller):
    """A linear chain whose weights change after every sequence; a final class says how."""

    averaging: bool
    epochs: int
    features: Any
    bias: bool
    boundaries: bool
    observed_only: bool
    constraints: str | LabelRule | None
    shuffle: bool
    patience: int
    warm_start: bool
    callback: Callable[[Progress], None] | None
    _learnt = ONLINE

    @abstractmethod
    def _rule(self) -> Rule:
        """How the weights change."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        lengths: Any = None,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
    ) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X : list of (T, D) arrays, or flat array
            Sequences.
        y : list of label sequences
            Labels, all of them observed.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        sample_weight : (S,) array, optional
            What the steps of each sequence are multiplied by.
        X_dev, y_dev : lists, optional
            Held-out sequences: learning ends when fewer of their positions have not been wrong for
            ``patience`` epochs, and the best weights seen are kept.
        """
        if self.epochs < 1:
            raise InputError(f"epochs is {self.epochs}; it must be at least 1.")
        rule = self._rule()
        data = read_labelled(self.features, X, y, lengths)
        forbidden = self._forbidden(data)
        terms = training_terms(data, self.bias, self.boundaries, self.observed_only)
        weights = None if sample_weight is None else read_weights(sample_weight, data.chain.n_instances)
        fixed = None if forbidden is None else barred_scores(forbidden)
        sweep = Sweep(data.chain, terms, data.encoded.labels, weights, fixed)
        if self.warm_start and self._fits(data):
            sweep.load(np.concatenate(LinearWeights.from_model(self).elements(terms)))
        model = copy.copy(self)
        model.forbidden_, model.features_ = forbidden, data.extractor
        model._name_features(data)
        held_out = None if X_dev is None else _HeldOut(model, X_dev, y_dev, self.patience)
        model._learn(sweep, rule, data, terms, held_out)
        self.__dict__.update(model.__dict__)  # all at once
        return self

    def _learn(
        self, sweep: Sweep, rule: Rule, data: LabelledSet, terms: list[Term], held_out: _HeldOut | None
    ) -> None:
        """Go through the training set, epoch by epoch."""
        problem = Problem(Log(data.chain, data.encoded.labels), terms)
        random, started = random_state(self.random_state), time.perf_counter()
        self.losses_: list[float] = []
        self.stop_reason_ = DONE
        if self.averaging:
            sweep.begin_average()
        for epoch in range(1, self.epochs + 1):
            order = np.arange(data.chain.n_instances)
            loss = sweep.learn(rule, random.permutation(order) if self.shuffle else order)
            if not np.isfinite(loss):
                raise ScoreError("Scores have outgrown the arithmetic: scale the features.")
            self.losses_.append(loss)
            if self.callback is not None:
                self.callback(Progress(epoch, loss, np.nan, -np.inf, time.perf_counter() - started))
            if held_out is not None:
                LinearWeights.of(problem, sweep.average(), data.chain.n_labels).put(self)
                if held_out.look(self):
                    self.stop_reason_ = NO_BETTER
                    break
            if loss == 0:
                self.stop_reason_ = FLAWLESS
                break
        self.n_iter_ = epoch
        best = None if held_out is None else held_out.best
        (best or LinearWeights.of(problem, sweep.average(), data.chain.n_labels)).put(self)

    def _name_features(self, data: LabelledSet) -> None:
        self.classes_ = data.encoded.classes
        self.n_features_in_ = data.inputs.features.shape[1]
        self.provenance_ = provenance_of(data.inputs, data.encoded)
        if data.inputs.names is not None:
            self.feature_names_in_ = data.inputs.names

    def _forbidden(self, data: LabelledSet) -> Forbidden | None:
        if self.constraints is None:
            return None
        forbidden = choose(CONSTRAINTS, self.constraints, "constraints").forbidden(
            data.encoded.classes.tolist()
        )
        require_respected(forbidden, data.chain, data.encoded.labels, data.encoded.classes)
        return forbidden

    def _fits(self, data: LabelledSet) -> bool:
        """Whether the present weights are for the same labels and features."""
        return (
            hasattr(self, "coef_")
            and np.array_equal(self.classes_, data.encoded.classes)
            and self.n_features_in_ == data.inputs.features.shape[1]
        )

    def _scores(self, features: Any, offsets: Array) -> Batch:
        return linear_scores(self, features, offsets)


class _HeldOut:
    """Sequences that are not learnt from, and the weights that did best on them."""

    def __init__(self, model: OnlineLabeller, X: Any, y: Any, patience: int) -> None:
        self.inputs: Inputs = model._inputs(X, None, model.features_, model.n_features_in_)
        self.labels = lookup(read_labels(y, np.diff(self.inputs.offsets)), model.classes_, "y_dev")
        self.patience = patience
        self.best: LinearWeights | None = None
        self.fewest = np.inf
        self.waited = 0

    def look(self, model: OnlineLabeller) -> bool:
        """Count wrong labels; say whether to stop."""
        batch = model._ruled(self.inputs)
        wrong = int((model._decoder(None).decode(batch.chain, batch.scores) != self.labels).sum())
        if wrong < self.fewest:
            self.fewest, self.best, self.waited = wrong, LinearWeights.from_model(model), 0
        else:
            self.waited += 1
        return self.waited >= self.patience
