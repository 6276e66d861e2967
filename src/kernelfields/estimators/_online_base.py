"""What sequence labellers share that learn from one sequence after the other."""

from __future__ import annotations

import copy
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

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
from ._observers import reporter
from ._provenance import provenance_of
from ._random import random_state
from ._saving_declared import ONLINE
from ._tables import CONSTRAINTS, choose
from ._terms import Penalties
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
    losses_: list[float]
    _sweeping: _State | None
    _learnt = ONLINE
    _transient = ("_sweeping",)

    @abstractmethod
    def _rule(self, sweep: Sweep) -> Rule:
        """How the weights change, from those of a sweep on."""

    @abstractmethod
    def _penalties(self) -> Penalties:
        """λ of the parts of the model, for rules that know penalties."""

    def partial_fit(
        self, X: Any, y: Any, *, classes: Any = None, lengths: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on from the present weights: one pass through more sequences.

        The model is the mean of the weights over all passes so far, if it averages; what a rule knows
        besides weights (the variances of `AROW`) begins anew. Features not seen before are dropped.

        Parameters
        ----------
        X, y, lengths, sample_weight
            As in `fit`.
        classes : list, optional
            Labels to come, for the first call; labels that are new later are refused.
        """
        if self.observed_only:
            raise InputError("partial_fit does not go with observed_only: other pairs may come.")
        state = getattr(self, "_sweeping", None)
        known = classes if state is None else self.classes_.tolist()
        extractor = None if state is None else self.features_
        data = read_labelled(self.features, X, y, lengths, known, extractor)
        if state is not None and not self._fits(data):
            raise InputError("partial_fit has labels or a number of features that the first call had not.")
        sweep, terms, forbidden = self._sweep(data, sample_weight)
        model = copy.copy(self)
        model.forbidden_, model.features_ = forbidden, data.extractor
        if state is not None:
            sweep.load(state.element)
        model._name_features(data)
        model._pass(sweep, data, terms, state)
        self.__dict__.update(model.__dict__)
        return self

    def _pass(self, sweep: Sweep, data: LabelledSet, terms: list[Term], state: _State | None) -> None:
        """Go through more sequences once; mix the mean of their weights with that of those before."""
        order, random = np.arange(data.chain.n_instances), random_state(self.random_state)
        rule, before = self._rule(sweep), 0 if state is None else state.steps
        if rule.forgets:
            sweep.steps = before  # its steps grow shorter
        if self.averaging:
            sweep.begin_average()
        loss = sweep.learn(rule, random.permutation(order) if self.shuffle else order)
        if not np.isfinite(loss):
            raise ScoreError("Scores have outgrown the arithmetic: scale the features.")
        mean, total = sweep.average(), before + len(order)
        if self.averaging and state is not None:  # both means have the weights in between
            mean = ((before + 1) * state.mean + (len(order) + 1) * mean - state.element) / (total + 1)
        self._sweeping = _State(sweep.element(), mean, total)
        self.losses_ = [*(self.losses_ if state is not None else []), loss]
        self.n_iter_, self.stop_reason_ = len(self.losses_), DONE
        problem = Problem(Log(data.chain, data.encoded.labels), terms)
        LinearWeights.of(problem, mean, data.chain.n_labels).put(self)

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
        data = read_labelled(self.features, X, y, lengths)
        sweep, terms, forbidden = self._sweep(data, sample_weight)
        rule = self._rule(sweep)
        if self.warm_start and self._fits(data):
            sweep.load(np.concatenate(LinearWeights.from_model(self).elements(terms)))
        model = copy.copy(self)
        model.forbidden_, model.features_ = forbidden, data.extractor
        model._name_features(data)
        held_out = None if X_dev is None else _HeldOut(model, X_dev, y_dev, self.patience)
        model._learn(sweep, rule, data, terms, held_out)
        self.__dict__.update(model.__dict__)  # all at once
        return self

    def _sweep(self, data: LabelledSet, sample_weight: Any) -> tuple[Sweep, list[Term], Forbidden | None]:
        """Weights of zero for a training set, their spaces, and what is forbidden."""
        forbidden = self._forbidden(data)
        terms = training_terms(data, self.bias, self.boundaries, self.observed_only, self._penalties())
        weights = None if sample_weight is None else read_weights(sample_weight, data.chain.n_instances)
        fixed = None if forbidden is None else barred_scores(forbidden)
        return Sweep(data.chain, terms, data.encoded.labels, weights, fixed), terms, forbidden

    def _learn(
        self, sweep: Sweep, rule: Rule, data: LabelledSet, terms: list[Term], held_out: _HeldOut | None
    ) -> None:
        """Go through the training set, epoch by epoch."""
        problem = Problem(Log(data.chain, data.encoded.labels), terms)
        random, started = random_state(self.random_state), time.perf_counter()

        def draft(_: Any) -> OnlineLabeller:
            model = copy.copy(self)
            LinearWeights.of(problem, sweep.average(), data.chain.n_labels).put(model)
            return model

        report = reporter(self.callback, draft)
        self.losses_ = []
        self.stop_reason_ = DONE
        self._sweeping = None
        for epoch in range(1, self.epochs + 1):
            order = np.arange(data.chain.n_instances)
            if self.averaging and (epoch == 1 or rule.forgets):
                sweep.begin_average()
            loss = sweep.learn(rule, random.permutation(order) if self.shuffle else order)
            if not np.isfinite(loss):
                raise ScoreError("Scores have outgrown the arithmetic: scale the features.")
            self.losses_.append(loss)
            if report is not None:
                report(Progress(epoch, loss, np.nan, -np.inf, time.perf_counter() - started), None)
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


class _State(NamedTuple):
    """Where `partial_fit` goes on."""

    element: Array
    """The last weights."""
    mean: Array
    """Their mean over all steps, or the last ones again."""
    steps: int


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
