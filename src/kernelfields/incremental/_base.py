"""What sequence labellers share that learn from one sequence after the other."""

from __future__ import annotations

import copy
import time
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import require_settings, whole
from ..constraints import Forbidden, Rule
from ..data.rules import barred_scores, offset_of, read_rules
from ..data.sample_weights import read_weights
from ..data.seeds import random_state
from ..data.training import LabelledSet
from ..data.types import Items, Lengths, Outputs, Weights
from ..decoders import Decoder
from ..errors import InputError, ScoreError
from ..fitting.epochs import DONE, FLAWLESS, warn_of_interruption
from ..fitting.held_out import require_both
from ..fitting.observers import ProgressLine
from ..fitting.provenance import provenance_of
from ..fitting.run import Observer, observers, previous, reporter, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..losses import LogLoss, MarginHinge
from ..models.attributes import keep_scorers, learnt_model, scorers_of
from ..models.labeller import SequenceLabeller
from ..models.learnt import ONLINE
from ..models.linear import online_parts, read_labelled
from ..models.model import Model, dense, fitted_structure
from ..models.parts import BoundParts, FreeScores, LinearScores, Part, Parts, looked_at, parts_of
from ..models.trail import HeldOut, Reached, Trail, flat, unflat
from ..objective import Problem, Term
from ..online import AnySweep, Descent, InstanceSweep, OnlineRule, Sweep
from ..solvers import Progress, Reason
from ..structures import ApproximateSum, Structure, SumOracle
from ..tables import structure_of

NO_BETTER = "The error on held-out data had stopped falling."
PIECE = 1000
"""Sequences that are learnt from in one native call: Ctrl-C waits for its end."""


@dataclass(eq=False, repr=False, kw_only=True)
class OnlineSettings:
    """Settings that all of them have; a class apart, because what they learn is no setting."""

    max_iter: int = 10
    structure: str | Structure = "chain"
    features: Any = None
    parts: Parts = Parts()
    observed_only: bool = False
    classes: Sequence[Hashable] | None = None
    constraints: str | Rule | None = None
    decoder: str | Decoder = "viterbi"
    shuffle: bool = True
    warm_start: bool = False
    random_state: Any = None
    run: Run = Run()
    verbose: int = 0


class OnlineLabeller(OnlineSettings, SequenceLabeller):
    """A linear chain whose weights change after every sequence; a final class says how."""

    averaging: bool
    intercept_: Array
    start_: Array
    end_: Array
    losses_: list[float]
    _trail: Trail
    _learnt = ONLINE
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["checkpoint"], "Ctrl-C keeps what was learnt, and partial_fit goes on from there"),
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"patience", "callback"})
    _scores_rows = True

    @abstractmethod
    def _rule(self, sweep: AnySweep, trail: Trail | None) -> OnlineRule:
        """How the weights change: from those of a sweep on, or on the trail of a model."""

    def _given_parts(self) -> Parts:
        """Return what differs from the default parts."""
        return parts_of(self, FreeScores, LinearScores)

    def _bound(self, data: LabelledSet) -> BoundParts:
        """Return the parts of the model, as they are on a training set."""
        given, penalty = self._given_parts(), getattr(self, "penalty", None)
        for name, part in given.items():
            if isinstance(part, Part) and (part.norm or (penalty is None and part.penalty)):
                what = "norm" if part.norm else "penalty"
                raise InputError(
                    f"The part {name!r} has a {what}, which {type(self).__name__} does not know."
                )
        return online_parts(data, given, penalty or 0.0, observed_only=self.observed_only)

    @starts_afresh
    def partial_fit(
        self,
        X: Items,
        y: Outputs,
        *,
        classes: Any = None,
        lengths: Lengths = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Go on from the present weights, fitted or loaded: one pass through more sequences.

        Where the model is a mean of weights, it stays the mean over all passes. After `fit` learning goes on
        from that mean; from one call to the next it goes on from the last weights, which files hold too.
        So do they hold all else that rules know: the variances of `AROW`, and how short the steps of
        `StochasticCRF` have become. Features not seen before are dropped.

        Parameters
        ----------
        X, y, lengths, sample_weight
            As in `fit`.
        classes : list, optional
            Labels to come, for the first call; labels that are new later are refused.
        """
        require_settings(vars(self), {**CHECKS, "max_iter": whole()})
        if self.observed_only:
            raise InputError("partial_fit does not go with observed_only: other pairs may come.")
        before = previous(self)
        known = classes if before is None else before.classes_.tolist()
        extractor = None if before is None else before.features_
        names = getattr(before, "feature_names_in_", None)
        every = self.classes if known is None else None
        structure = structure_of(self.structure) if before is None else fitted_structure(before)
        data = read_labelled(
            structure,
            self.features,
            X,
            y,
            lengths,
            known,
            extractor,
            names=names,
            classes=every,
            by_parts=True,
            own=looked_at(self._given_parts()),
        )
        if before is not None and not self._fits(data):
            raise InputError("partial_fit has labels or a number of features that the first call had not.")
        trail = None if before is None else self._trail_of(before)
        sweep, parts, forbidden = self._sweep(data, sample_weight)
        self.forbidden_, self.features_ = forbidden, data.extractor
        self._name_features(data)
        if before is not None:
            keep_scorers(self, scorers_of(before), len(self.classes_))
            self.losses_ = before.losses_
        self._pass(sweep, data, parts, trail)
        return self

    def _trail_of(self, before: Self) -> Trail:
        """Return what learning goes on with; refuse to drop what was learnt."""
        for name, scorer in scorers_of(before).items():
            if self.parts.get(name, scorer) is None and dense(scorer.numbers).any():
                raise InputError(
                    f"parts takes {name!r} away, but the fitted model has such weights: call fit instead."
                )
        trail = getattr(before, "_trail", None)
        return Trail.guessed(before) if trail is None else trail

    def _pass(self, sweep: AnySweep, data: LabelledSet, parts: BoundParts, trail: Trail | None) -> None:
        """Go through more sequences once; mix the mean of their weights with that of those before."""
        order, random = np.arange(data.batch.n_instances), random_state(self.random_state)
        problem, L = _problem(data, sweep.terms), len(self.classes_)
        weights = None if trail is None else parts.element(problem, scorers_of(self))
        start = self._go_on(sweep, parts, problem, trail, weights)
        rule = self._rule(sweep, trail)
        if self.averaging:
            sweep.begin_average()
        losses: list[float] = []
        finished = self._through(sweep, rule, random.permutation(order) if self.shuffle else order, losses)
        mean, count = sweep.average(), sweep.steps - (0 if trail is None else trail.steps) + 1
        if (
            self.averaging and trail is not None and weights is not None
        ):  # both means have the weights in between
            count += trail.averaged - 1
            mean = (trail.averaged * weights + (count - trail.averaged + 1) * mean - start) / count
        reached = self._reached(parts, problem, sweep, rule, count)
        last = flat(parts.scorers(problem, sweep.element()), L)
        self._trail = reached.trail._replace(last=last if self.averaging else None)
        self.losses_ = [*(self.losses_ if trail is not None else []), *losses]
        self.n_iter_, self.stop_reason_ = len(self.losses_), DONE if finished else Reason.INTERRUPTED.value
        keep_scorers(self, parts.scorers(problem, mean), L)
        if not finished:
            warn_of_interruption(self.n_iter_)

    def _go_on(
        self, sweep: AnySweep, parts: BoundParts, problem: Problem, trail: Trail | None, weights: Array | None
    ) -> Array:
        """Bring a sweep to where a trail ends; return the weights that it starts from."""
        if trail is None or weights is None:
            return sweep.element()
        known = scorers_of(self)
        sweep.steps, sweep.sequences = trail.steps, sweep.sequences + trail.sequences
        if trail.last is not None:
            weights = parts.element(problem, unflat(trail.last, known))
        sweep.load(weights)
        if trail.variance is not None:
            variance = parts.element(problem, unflat(trail.variance, known))
            new = getattr(self, "variance", 1.0)  # of parts that the model had not
            sweep.load_variance(np.where(variance > 0, variance, new))
        return weights

    def _through(self, sweep: AnySweep, rule: OnlineRule, order: Array, losses: list[float]) -> bool:
        """Learn from sequences in this order, and note the loss; False if Ctrl-C ended it before."""
        try:
            loss = 0.0
            for begin in range(0, len(order), PIECE):  # what is native cannot be interrupted
                loss += sweep.learn(rule, order[begin : begin + PIECE])
            if not np.isfinite(loss):
                raise ScoreError("Scores have outgrown the arithmetic: scale the features.")
            losses.append(loss)
        except KeyboardInterrupt:
            return False
        return True

    def _reached(
        self, parts: BoundParts, problem: Problem, sweep: AnySweep, rule: OnlineRule, averaged: int
    ) -> Reached:
        """Return the model at this point, and what learning could go on with."""
        variance = sweep.variance()
        step = rule.step if isinstance(rule, Descent) else None
        kept = None
        if variance is not None and not self.observed_only:
            kept = flat(parts.scorers(problem, variance), len(self.classes_))
        trail = Trail(sweep.sequences, sweep.steps, averaged if self.averaging else 1, step, variance=kept)
        return Reached(parts.scorers(problem, sweep.average()), trail)

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
        X, lengths
            As in `CRF.fit`.
        y : list of label sequences
            Labels, all of them observed.
        sample_weight : (S,) array, optional
            What the steps of each sequence are multiplied by.
        X_dev, y_dev : lists, optional
            Held-out sequences: learning ends when fewer of their positions have not been wrong for
            ``patience`` epochs, and the best weights seen are kept.
        """
        require_settings(vars(self), {**CHECKS, "max_iter": whole()})
        structure = structure_of(self.structure)
        own = looked_at(self._given_parts())
        data = read_labelled(
            structure, self.features, X, y, lengths, classes=self.classes, by_parts=True, own=own
        )
        sweep, parts, forbidden = self._sweep(data, sample_weight)
        rule = self._rule(sweep, None)
        if self.warm_start and self._fits(data):
            sweep.load(parts.element(_problem(data, sweep.terms), scorers_of(previous(self))))
        self.forbidden_, self.features_ = forbidden, data.extractor
        self._name_features(data)
        held_out = HeldOut(self, X_dev, y_dev, self.run.patience) if require_both(X_dev, y_dev) else None
        self._learn(sweep, rule, data, parts, held_out)
        return self

    def _sweep(
        self, data: LabelledSet, sample_weight: Weights
    ) -> tuple[AnySweep, BoundParts, Forbidden | None]:
        """Return weights of zero for a training set, the parts that they are of, and what is forbidden."""
        forbidden = self._forbidden(data)
        parts = self._bound(data)
        terms = parts.terms()
        weights = (
            None
            if sample_weight is None
            else read_weights(sample_weight, data.batch.n_instances, data.batch.words)
        )
        labels = data.encoded.labels
        if Sweep.knows(data.batch, terms):
            barred = None if forbidden is None else barred_scores(forbidden)
            return Sweep(data.batch, terms, labels, weights, barred), parts, forbidden
        known, offset = data.batch.known_scores(), None
        if known:
            offset = {name: np.zeros(shape) for name, shape in data.batch.shapes.items()} | known
        elif forbidden is not None:
            offset = offset_of(forbidden, data.batch, np.float64)
        return InstanceSweep(data.batch, terms, labels, weights, offset), parts, forbidden

    def _learn(
        self,
        sweep: AnySweep,
        rule: OnlineRule,
        data: LabelledSet,
        parts: BoundParts,
        held_out: HeldOut | None,
    ) -> None:
        """Go through the training set, epoch by epoch; Ctrl-C keeps what was reached."""
        problem = _problem(data, sweep.terms)
        self.losses_: list[float] = []
        try:
            with ProgressLine() if self.verbose else nullcontext() as line:
                self.stop_reason_ = self._epochs(sweep, rule, data, parts, problem, held_out, line)
        except KeyboardInterrupt:
            self.stop_reason_ = Reason.INTERRUPTED.value
        self.n_iter_ = len(self.losses_)
        counted = sweep.steps % data.batch.n_instances or data.batch.n_instances
        averaged = 1 + (counted if rule.forgets else sweep.steps)
        best = None if held_out is None else held_out.best
        scorers, self._trail = best or self._reached(parts, problem, sweep, rule, averaged)
        keep_scorers(self, scorers, len(self.classes_))
        if self.stop_reason_ == Reason.INTERRUPTED.value:
            warn_of_interruption(self.n_iter_)

    def _epochs(
        self,
        sweep: AnySweep,
        rule: OnlineRule,
        data: LabelledSet,
        parts: BoundParts,
        problem: Problem,
        held_out: HeldOut | None,
        line: Observer | None,
    ) -> str:
        """Learn until something says that it is enough; say what."""
        random, started = random_state(self.random_state), time.perf_counter()

        def draft(_: Any) -> OnlineLabeller:
            model = copy.copy(self)
            keep_scorers(model, parts.scorers(problem, sweep.average()), len(self.classes_))
            return model

        report = observers(reporter(self.run.callback, draft), line)
        for epoch in range(1, self.max_iter + 1):
            order = np.arange(data.batch.n_instances)
            if self.averaging and (epoch == 1 or rule.forgets):
                sweep.begin_average()
            if not self._through(
                sweep, rule, random.permutation(order) if self.shuffle else order, self.losses_
            ):
                return Reason.INTERRUPTED.value
            loss = self.losses_[-1]
            report(Progress(epoch, loss, np.nan, -np.inf, time.perf_counter() - started), None)
            if held_out is not None:
                averaged = 1 + (data.batch.n_instances if rule.forgets else sweep.steps)
                if held_out.look(self, self._reached(parts, problem, sweep, rule, averaged)):
                    return NO_BETTER
            if loss == 0:
                return FLAWLESS
        return DONE

    def _name_features(self, data: LabelledSet) -> None:
        self.classes_, self.structure_ = data.encoded.classes, data.structure
        self.n_features_in_ = data.inputs.features.shape[1]
        self.provenance_ = provenance_of(data.inputs, data.encoded)
        if data.inputs.names is not None:
            self.feature_names_in_ = data.inputs.names

    def _forbidden(self, data: LabelledSet) -> Forbidden | None:
        return read_rules(data.structure, self.constraints, data.batch, data.encoded)

    def _fits(self, data: LabelledSet) -> bool:
        """Whether the weights of the fit before are for the same labels and features."""
        before = previous(self)
        return (
            before is not None
            and np.array_equal(before.classes_, data.encoded.classes)
            and before.n_features_in_ == data.inputs.features.shape[1]
        )

    def _model(self) -> Model:
        return learnt_model(self)


def _problem(data: LabelledSet, terms: Sequence[Term]) -> Problem:
    """Return the problem whose weights are learnt; nobody asks for its loss."""
    summed = isinstance(data.batch, SumOracle | ApproximateSum)
    return Problem.of((LogLoss if summed else MarginHinge)(data.batch, data.encoded.labels), terms)
