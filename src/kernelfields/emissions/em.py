"""Expectation-maximisation for hidden Markov models."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..solvers import Progress, Reason
from . import Emissions, Markov, ObservedSequences
from ._base import Expectations, log_of

CONVERGED = "A step gained less than the tolerance."
COUNTED = "All steps were made."
LABELLED = "Every label was given: nothing had to be guessed."
LIMIT = "The limit of steps was reached."


class HiddenMarkovModel(NamedTuple):
    """The three parts of a hidden Markov model."""

    start: Array
    """(L,) probabilities."""
    transitions: Array
    """(L, L) probabilities; rows sum to one."""
    emissions: Emissions

    @property
    def markov(self) -> Markov:
        """Logarithms of the first two."""
        return Markov(log_of(self.start), log_of(self.transitions))


class Smoothing(NamedTuple):
    """Turns counts into probabilities of states."""

    pseudocount: float
    start: Array
    """(L,) booleans: where a sequence may start."""
    transitions: Array
    """(L, L) booleans: which steps are possible; the others keep probability zero."""

    def of(self, counts: Array, allowed: Array, before: Array | None = None) -> Array:
        """Return (count + pseudocount) / sum over what is allowed; rows without counts stay unchanged."""
        above = np.where(allowed, counts + self.pseudocount, 0.0)
        total = above.sum(axis=-1, keepdims=True)
        if before is None:
            before = allowed / np.maximum(allowed.sum(axis=-1, keepdims=True), 1)
        return np.divide(above, total, out=np.array(before, dtype=float), where=total > 0)

    def log_prior(self, model: HiddenMarkovModel) -> float:
        """Return the log-density of all probabilities under the Dirichlet prior, up to a constant."""
        pairs = scipy.special.xlogy(self.pseudocount, model.transitions[self.transitions]).sum()
        starts = scipy.special.xlogy(self.pseudocount, model.start[self.start]).sum()
        return float(pairs + starts) + model.emissions.log_prior()


class EMResult(NamedTuple):
    """The result of expectation-maximisation."""

    model: HiddenMarkovModel
    log_likelihoods: list[float]
    """Log-likelihoods of the model before every step, and of the last one."""
    objectives: list[float]
    """The same plus log-priors: what no step decreases."""
    ended: str
    """Why it stopped."""


class Expect(ABC):
    """The expectation step on a training set."""

    @abstractmethod
    def __call__(self, model: HiddenMarkovModel) -> Expectations:
        """Return what is expected under a model."""

    @abstractmethod
    def log_probability(self, model: HiddenMarkovModel) -> Array:
        """Return log p(x, observed states) of every sequence: the cheaper half of the step."""


class ExpectHere(Expect):
    """The expectation step on sequences that are here."""

    def __init__(self, data: ObservedSequences) -> None:
        self.data = data

    def __call__(self, model: HiddenMarkovModel) -> Expectations:
        """Return what is expected under a model."""
        return model.emissions.expected(self.data, model.markov)

    def log_probability(self, model: HiddenMarkovModel) -> Array:
        """Return log p(x, observed states) of every sequence."""
        return model.emissions.log_probability(self.data, model.markov)


def maximise(
    data: ObservedSequences,
    expect: Expect,
    model: HiddenMarkovModel,
    smoothing: Smoothing,
    tol: float,
    max_iter: int,
    report: Callable[[Progress], object] | None,
) -> EMResult:
    """Run Baum-Welch [rabiner1989tutorial, eqs. 40, 54]: every step raises log p(x) + log-prior, or ends.

    It ends when a step gains less than ``tol`` times the objective, or after ``max_iter`` steps; Ctrl-C
    keeps the current model.
    """
    run = _Run(data.weights, smoothing, report)
    try:
        while True:
            last = len(run.objectives) == max_iter  # nothing is counted after the last step
            found = None if last else expect(model)
            run.record(model, expect.log_probability(model) if found is None else found.log_probability)
            if tol > 0 and len(run.objectives) > 1 and _gain(run.objectives) <= tol:
                return run.ended(model, CONVERGED)
            if found is None:
                return run.ended(model, LIMIT if tol > 0 else COUNTED)
            model = HiddenMarkovModel(
                smoothing.of(found.start, smoothing.start, model.start),
                smoothing.of(found.transitions, smoothing.transitions, model.transitions),
                model.emissions.improved(found.statistics),
            )
    except KeyboardInterrupt:
        return run.ended(model, Reason.INTERRUPTED.value)


class _Run:
    """The history of one run."""

    def __init__(
        self, weights: Array | None, smoothing: Smoothing, report: Callable[[Progress], object] | None
    ) -> None:
        self.weights, self.smoothing, self.report = weights, smoothing, report
        self.started = time.perf_counter()
        self.likelihoods: list[float] = []
        self.objectives: list[float] = []

    def record(self, model: HiddenMarkovModel, values: Array) -> None:
        """Add the likelihood of a model, from the log-probabilities of all sequences, to the history."""
        likelihood = float(values.sum() if self.weights is None else np.dot(values, self.weights))
        objective = likelihood + self.smoothing.log_prior(model)
        self.likelihoods, self.objectives = [*self.likelihoods, likelihood], [*self.objectives, objective]
        if self.report is not None:
            seconds = time.perf_counter() - self.started
            self.report(Progress(len(self.objectives) - 1, -objective, np.nan, -np.inf, seconds))

    def ended(self, model: HiddenMarkovModel, reason: str) -> EMResult:
        """Return the model with the record of its fit."""
        return EMResult(model, self.likelihoods, self.objectives, reason)


def _gain(objectives: list[float]) -> float:
    """Return the last step's gain, relative to the objective."""
    return (objectives[-1] - objectives[-2]) / max(abs(objectives[-1]), np.finfo(float).tiny)
