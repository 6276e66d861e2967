"""CRFsuite's five ways to train, each a function from a training set to its weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import ScoreError
from ...native import score_dot
from ...online import ArowRule, OnlineRule, PassiveAggressiveRule, PerceptronRule, Variant
from .first_gradient import resolve_ties
from .lbfgs import Iteration, Minimizer
from .report import Report
from .sgd import train_l2sgd
from .shuffle import Shuffle
from .training_set import CRFsuiteTraining

Settings = Mapping[str, Any]


def train_lbfgs(training: CRFsuiteTraining, settings: Settings, report: Report) -> Array:
    """Minimise Σ_i −log p(y^i|x^i) + c1 ‖w‖₁ + c2 ‖w‖²."""
    values = {name: settings[name] for name in Minimizer.__annotations__}
    shown = {name: values[name] for name in ("num_memories", "max_iterations", "epsilon")}
    report.settings(
        "L-BFGS optimization",
        c1=settings["c1"],
        c2=settings["c2"],
        **shown,
        stop=settings["period"],
        delta=settings["delta"],
        linesearch=settings["linesearch"],
        linesearch__max_iterations=settings["max_linesearch"],
    )
    problem, c1, c2 = training.problem(), settings["c1"], settings["c2"]

    def objective(weights: Array) -> tuple[float, Array]:
        evaluation = problem.data.at(weights)
        loss, gradient = evaluation.value, evaluation.mismatch()
        if c1 and not weights.any():
            resolve_ties(training, gradient, c1)
        gradient += 2 * c2 * weights
        return loss + c2 * score_dot(weights, weights), gradient

    def tell(iteration: Iteration) -> None:
        step = iteration.step
        lines = [
            f"Loss: {step.value:f}",
            f"Feature norm: {iteration.weight_norm:f}",
            f"Error norm: {iteration.gradient_norm:f}",
            f"Active features: {np.count_nonzero(step.weights)}",
            f"Line search trials: {step.trials}",
            f"Line search step: {step.length:f}",
        ]
        report.iteration(f"***** Iteration #{iteration.number} *****", lines, step.weights)

    weights, ending = Minimizer(**values).minimize(objective, problem.zero(), tell)
    report.lines(ending)
    report.end()
    return weights


def train_perceptron(training: CRFsuiteTraining, settings: Settings, report: Report) -> Array:
    """Averaged perceptron; the loss is the share of wrong labels, added up over sequences."""
    report.settings("Averaged perceptron", **_named(settings, "max_iterations", "epsilon"))

    def done(loss: float) -> bool:
        return loss < settings["epsilon"]

    return _epochs(training, PerceptronRule(), settings, report, done, average=True, share=True)


def train_passive_aggressive(training: CRFsuiteTraining, settings: Settings, report: Report) -> Array:
    """PA, PA-I or PA-II."""
    kind, sensitive, averaging = (settings[name] for name in ("type", "error_sensitive", "averaging"))
    report.settings(
        "Passive Aggressive",
        type=kind,
        c=settings["c"],
        error_sensitive=int(sensitive),
        averaging=int(averaging),
        **_named(settings, "max_iterations", "epsilon"),
    )
    rule = PassiveAggressiveRule(Variant(kind if kind in (1, 2) else 0), settings["c"], sensitive)

    def done(loss: float) -> bool:
        return loss < settings["epsilon"]

    return _epochs(training, rule, settings, report, done, average=averaging, share=False)


def train_arow(training: CRFsuiteTraining, settings: Settings, report: Report) -> Array:
    """Adaptive regularisation of weights."""
    report.settings(
        "Adaptive Regularization of Weights (AROW)",
        **_named(settings, "variance", "gamma", "max_iterations", "epsilon"),
    )

    def done(loss: float) -> bool:
        return loss <= settings["epsilon"]

    rule = ArowRule(settings["variance"], settings["gamma"])
    return _epochs(training, rule, settings, report, done, average=False, share=False)


def _named(settings: Settings, *names: str) -> dict[str, Any]:
    return {name: settings[name] for name in names}


def _epochs(
    training: CRFsuiteTraining,
    rule: OnlineRule,
    settings: Settings,
    report: Report,
    done: Callable[[float], bool],
    *,
    average: bool,
    share: bool,
) -> Array:
    """Learn from mistakes, epoch by epoch; with ``share`` the loss is the share of wrong labels."""
    sweep, shuffle = training.sweep(), Shuffle(training.n_sequences)
    if average:
        sweep.begin_average()
    weights, missed = sweep.element(), 0.0
    for epoch in range(1, settings["max_iterations"] + 1):
        loss = sweep.learn(rule, shuffle.next())
        if not np.isfinite(loss):
            raise ScoreError("Scores have outgrown the arithmetic: scale the features.")
        if share:
            loss, missed = sweep.core.missed() - missed, sweep.core.missed()
        weights = sweep.average() if average else sweep.element()
        counted = weights if share or not average else sweep.element()
        norm = math.sqrt(score_dot(counted, counted))
        lines = [f"Loss: {loss:f}", f"Feature norm: {norm:f}"]
        report.iteration(f"***** Iteration #{epoch} *****", lines, weights)
        if done(loss / training.n_sequences):
            report.lines("Terminated with the stopping criterion", "")
            break
    report.end()
    return weights


ALGORITHMS: Mapping[str, Callable[[CRFsuiteTraining, Settings, Report], Array]] = {
    "lbfgs": train_lbfgs,
    "l2sgd": train_l2sgd,
    "averaged-perceptron": train_perceptron,
    "passive-aggressive": train_passive_aggressive,
    "arow": train_arow,
}
