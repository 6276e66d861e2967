"""CRFsuite's five ways to train, each a function from a training set to its weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...errors import ScoreError
from ...native import score_dot
from ...online import ArowRule, OnlineRule, PassiveAggressiveRule, PerceptronRule, Variant
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


TIE = 1e-8
"""How close to c1, relatively, sizes are summed anew."""


class UniformChain(NamedTuple):
    """A sequence all whose labels are equally likely."""

    nodes: Array
    """Probability of a label at each position."""
    pair: float
    """Expected number of times that a label pair occurs."""


def resolve_ties(training: CRFsuiteTraining, gradient: Array, c1: float) -> None:
    """Sum those entries of the gradient at zero anew that are ±c1 but for rounding, in place."""
    near = np.flatnonzero(np.abs(np.abs(gradient) - c1) <= TIE * c1)
    if not len(near):
        return
    sequences = {T: _uniform(T, training.n_labels) for T in np.unique(training.data.lengths).tolist()}
    nodes, edges = near[near < training.nodes.size], near[near >= training.nodes.size]
    gradient[nodes] = _of_attributes(training, nodes, sequences)
    gradient[edges] = _of_pairs(training, edges - training.nodes.size, sequences)


def _of_attributes(
    training: CRFsuiteTraining, places: Array, sequences: dict[int, UniformChain]
) -> list[float]:
    data, pairs = training.data, training.pairs
    likely = np.concatenate([sequences[T].nodes for T in data.lengths.tolist()])
    columns, where = np.unique(pairs.feature[places], return_inverse=True)
    matrix = data.features[:, columns].tocsc()
    matrix.sort_indices()
    result = []
    for column, label in zip(where.tolist(), pairs.label[places].tolist(), strict=True):
        part = slice(matrix.indptr[column], matrix.indptr[column + 1])
        rows, values = matrix.indices[part], matrix.data[part]
        count = _summed(0.0, values[data.labels[rows] == label])
        result.append(_summed(-count, likely[rows] * values))
    return result


def _of_pairs(training: CRFsuiteTraining, places: Array, sequences: dict[int, UniformChain]) -> list[float]:
    data, chain, L = training.data, training.chain, training.n_labels
    seen = data.labels[chain.edge_tails] * L + data.labels[chain.edge_heads]
    counts = np.bincount(seen, minlength=L * L)
    expected = np.array([sequences[T].pair for T in data.lengths.tolist()])
    return [_summed(-float(counts[place]), expected) for place in places.tolist()]


def _uniform(length: int, n_labels: int) -> UniformChain:
    """Run CRFsuite's forward-backward recursion at weights of zero: one number stands for all labels."""

    @cache  # messages soon stay the same
    def over_labels(number: float) -> float:
        return _summed(0.0, np.full(n_labels, number))

    scale: list[float] = []
    forward: list[float] = []
    for t in range(length):
        message = over_labels(forward[t - 1]) if t else 1.0
        scale.append(1 / over_labels(message))
        forward.append(message * scale[t])
    backward = scale.copy()
    for t in reversed(range(length - 1)):
        backward[t] = over_labels(backward[t + 1]) * scale[t]
    nodes = [a * b * (1 / c) for a, b, c in zip(forward, backward, scale, strict=True)]
    edges = [a * b for a, b in zip(forward, backward[1:], strict=False)]
    return UniformChain(np.array(nodes), _summed(0.0, np.array(edges)))


def _summed(start: float, numbers: Array) -> float:
    """Add up from the first to the last; ``np.sum`` adds by halves."""
    return float(np.cumsum(np.append(start, numbers))[-1])
