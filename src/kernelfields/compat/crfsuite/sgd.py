"""Stochastic gradient descent as CRFsuite does it, the first step found by trying."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...native import score_dot
from ...online import Descent, Sweep
from .report import Clock, Report
from .shuffle import Shuffle
from .training_set import CRFsuiteTraining


class Epoch(NamedTuple):
    """What one pass has led to."""

    weights: Array
    loss: float
    """Σ of the losses on the way, plus the penalty of the weights at the end."""
    norm: float
    rate: float
    """η of the last step."""


class Descender:
    """w ← (1 − η_t λ) w, then w ← w − η_t ∇loss_i(w), η_t = 1 / (λ (t₀ + t)), t₀ = 1 / (λ η).

    `Descent` takes the same two steps in the other order, the factors of neighbouring steps being equal:
    (t₀ + t) / (t₀ + t + 1) = 1 / (1 + η_t λ) = 1 − η_{t+1} λ. So its weights are these, but for the
    factor of the step to come.
    """

    def __init__(self, training: CRFsuiteTraining, c2: float, eta: float) -> None:
        self.sweep: Sweep = training.sweep(2 * c2)
        self.c2 = c2
        self.decay = 2 * c2 / training.n_sequences
        self.rule = Descent(eta, least=0.0)
        self.first = 1 / (self.decay * eta)

    def learn(self, order: Array) -> Epoch:
        """Go through some sequences."""
        loss = self.sweep.learn(self.rule, order)
        time = self.first + self.sweep.steps
        weights = self.sweep.element() * (time / (time - 1))
        square = score_dot(weights, weights)
        loss += 0.5 * self.decay * square * len(order)
        return Epoch(weights, loss, np.sqrt(square), 1 / (self.decay * (time - 1)))


def train_l2sgd(training: CRFsuiteTraining, settings: Mapping[str, Any], report: Report) -> Array:
    """Minimise Σ_i −log p(y^i|x^i) + c2 ‖w‖²; of all epochs the one with the lowest loss counts."""
    named = {name: settings[name] for name in ("c2", "max_iterations", "period", "delta")}
    report.settings("Stochastic Gradient Descent (SGD)", **named)
    shuffle = Shuffle(training.n_sequences)
    eta = _calibrated(training, settings, report, shuffle)
    descender = Descender(training, settings["c2"], eta)
    best: Epoch | None = None
    period, past = settings["period"], deque[float](maxlen=max(settings["period"], 1))
    epoch = 0
    for epoch in range(1, settings["max_iterations"] + 1):
        now = descender.learn(shuffle.next())
        if not np.isfinite(now.loss):
            report.lines("ERROR: overflow loss")
            break
        best = now if best is None or now.loss < best.loss else best
        improvement = (past[0] - now.loss) / now.loss if period < epoch else None
        past.append(now.loss)
        report.iteration(f"***** Epoch #{epoch} *****", _lines(now, improvement, descender), now.weights)
        if improvement is not None and improvement < settings["delta"]:
            break
    early = epoch < settings["max_iterations"]
    report.lines(
        f"SGD terminated with the {'stopping criteria' if early else 'maximum number of iterations'}"
    )
    result = best.weights if best is not None else np.zeros_like(descender.sweep.element())
    report.lines(f"Loss: {best.loss if best is not None else 0.0:f}")
    report.end()
    return result


def _lines(epoch: Epoch, improvement: float | None, descender: Descender) -> list[str]:
    return [
        f"Loss: {epoch.loss:f}",
        *([] if improvement is None else [f"Improvement ratio: {improvement:f}"]),
        f"Feature L2-norm: {epoch.norm:f}",
        f"Learning rate (eta): {epoch.rate:f}",
        f"Total number of feature updates: {descender.sweep.steps}",
    ]


def _calibrated(
    training: CRFsuiteTraining, settings: Mapping[str, Any], report: Report, shuffle: Shuffle
) -> float:
    """Return the step with which one pass through a sample leads lowest.

    Steps grow as long as they are better than none, then shrink from the first.
    """
    clock, order = Clock(), shuffle.next()[: settings["calibration.samples"]]
    first, rate = settings["calibration.eta"], settings["calibration.rate"]
    candidates = settings["calibration.candidates"]
    report.lines(
        "Calibrating the learning rate (eta)",
        f"calibration.eta: {first:f}",
        f"calibration.rate: {rate:f}",
        f"calibration.samples: {len(order)}",
        f"calibration.candidates: {candidates}",
        f"calibration.max_trials: {settings['calibration.max_trials']}",
    )
    nothing = float(training.data.lengths[order].sum() * np.log(training.n_labels))
    report.lines(f"Initial loss: {nothing:f}")
    best, lowest = first, np.inf
    eta, left, shrinking, trial = first, candidates, False, 1
    while (left > 0 or not shrinking) and trial < settings["calibration.max_trials"]:
        loss = Descender(training, settings["c2"], eta).learn(order).loss
        good = bool(np.isfinite(loss) and loss < nothing)
        report.lines(f"Trial #{trial} (eta = {eta:f}): {loss:f}{'' if good else ' (worse)'}")
        if good:
            left -= 1
            best, lowest = (eta, loss) if loss < lowest else (best, lowest)
        if shrinking:
            eta /= rate
        elif good and left > 0:
            eta *= rate
        else:
            shrinking, left, eta = True, candidates, first / rate
        trial += 1
    report.lines(f"Best learning rate (eta): {best:f}", f"Seconds required: {clock.lap():.3f}", "")
    return best
