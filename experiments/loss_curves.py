"""Log loss against hinge loss: as functions of the margin, and how many dual variables they leave at zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from kernelfields.arrays import Array
from kernelfields.gram import unique_observations

from .lib.claims import Claim
from .lib.contest import FittedModel, Method, fitted, largest_gap
from .lib.experiment import Experiment, Report
from .lib.methods import kernel_crf, svm
from .lib.results import Outcome, Row
from .lib.tasks import LearningTask, entities_task, letters_task

LETTERS, ENTITIES = "letters", "NER-300"
THRESHOLDS = np.logspace(-8, 0, 81)
ZERO = 1e-9
"""Largest λ|α| of a variable that is zero up to rounding."""


@dataclass(frozen=True)
class LossCurvesSettings:
    """Sample sizes and penalties."""

    seed: int
    n_words: int
    n_test_words: int
    n_sentences: int
    n_test_sentences: int
    validation: float
    """Share of the training part that is left out, as in the other experiments."""
    tol: float
    """Relative gap with the log loss."""
    svm_tol: float
    """The same with the hinge loss."""
    max_hinge_share: float
    """Of dual variables that are not zero with the hinge loss."""
    min_log_share: float
    """The same with the log loss."""
    penalties: dict[str, dict[str, float]]
    """By task, then by loss."""


def run(settings: LossCurvesSettings, report: Report) -> Outcome:
    """Run both losses with the same kernel on both tasks."""
    rows, curves, models = [], {}, []
    for name, task in _tasks(settings).items():
        for method in _methods(task, settings.penalties[name], settings):
            report(f"{name}: {method.name} loss, {task.positions} positions")
            model = fitted(method, method.choices[0], task.train)
            sizes = dual_sizes(model, task)
            curves[f"{name}, {method.name}"] = shares_above(sizes, THRESHOLDS).tolist()
            rows.append(_row(name, model, task, sizes))
            models.append(model)
            report(str(rows[-1]))
    details = {"thresholds": THRESHOLDS.tolist(), "shares": curves}
    return Outcome("loss-curves", _claims(rows, models, settings), rows, details, _notes())


def _tasks(settings: LossCurvesSettings) -> dict[str, LearningTask]:
    share, seed = settings.validation, settings.seed
    return {
        LETTERS: letters_task(settings.n_words, settings.n_test_words, share, seed),
        ENTITIES: entities_task(settings.n_sentences, settings.n_test_sentences, share, seed),
    }


def _methods(task: LearningTask, penalties: dict[str, float], settings: LossCurvesSettings) -> list[Method]:
    # Block by block, because a plane of the whole objective has a part of every sequence.
    return [
        kernel_crf("log", task.kernel, [penalties["log"]], settings.tol),
        svm("hinge", [penalties["hinge"]], settings.svm_tol, kernel=task.kernel, solver="bcfw"),
    ]


def dual_sizes(model: FittedModel, task: LearningTask) -> Array:
    """Return λ|α| of every distinct observation of the training part and every label, (n, L).

    With the log loss λα is what was observed minus its probability. Models keep no rows of zeros.
    """
    n = unique_observations(_stacked(task.train.features))[0].shape[0]
    kept = np.abs(np.asarray(model.model.dual_coef_, dtype=np.float64))
    return model.choice * np.pad(kept, ((0, n - len(kept)), (0, 0)))


def shares_above(sizes: Array, thresholds: Array) -> Array:
    """Return the share of dual variables above each of the thresholds."""
    ordered = np.sort(sizes.ravel())
    return np.asarray(1 - np.searchsorted(ordered, thresholds, side="right") / len(ordered))


def _stacked(features: list[Any]) -> Any:
    if sparse.issparse(features[0]):
        return sparse.csr_matrix(sparse.vstack(features))
    return np.concatenate(features)


def log_loss(margin: Array) -> Array:
    """Return log(1 + exp(−m)), m the score of the right labelling minus that of the only other one."""
    return np.logaddexp(0.0, -margin)


def hinge_loss(margin: Array) -> Array:
    """Return max(0, 1 − m)."""
    return np.maximum(0.0, 1.0 - margin)


def _row(name: str, model: FittedModel, task: LearningTask, sizes: Array) -> Row:
    return {
        "task": name,
        "loss": model.method.name,
        "penalty": model.choice,
        "observations": len(sizes),
        "labels": sizes.shape[1],
        "not zero": float(np.mean(sizes > ZERO)),
        "above 0.001": float(np.mean(sizes > 1e-3)),
        "support vectors": float(np.mean((sizes > ZERO).any(axis=1))),
        "error %": model.error(task.test),
        "gap": model.gap,
        "seconds": model.seconds,
    }


def _claims(rows: list[Row], models: list[FittedModel], settings: LossCurvesSettings) -> list[Claim]:
    shares = {loss: [row["not zero"] for row in rows if row["loss"] == loss] for loss in ("log", "hinge")}
    return [
        Claim("largest_hinge_share_not_zero", max(shares["hinge"]), at_most=settings.max_hinge_share),
        Claim("smallest_log_share_not_zero", min(shares["log"]), at_least=settings.min_log_share),
        Claim("largest_relative_gap", largest_gap(models), at_most=settings.svm_tol),
    ]


def _notes() -> list[str]:
    return [
        "Dual variables α, one for every distinct observation and label: the coefficients of the kernel "
        "expansion. `not zero` and `above 0.001` are shares of them, of λ|α|, which is the same quantity for "
        "both losses: what was observed minus what the model expects there; `support vectors` is the share "
        "of observations with any that is not zero. The hinge loss was minimised block by block.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw losses over the margin; shares of dual variables over their size."""
    left, right = figure.subplots(1, 2)
    margin = np.linspace(-2.5, 3.5, 301)
    left.plot(margin, log_loss(margin), label="log: log(1 + exp(−m))")
    left.plot(margin, hinge_loss(margin), label="hinge: max(0, 1 − m)")
    left.plot(margin, (margin < 0).astype(float), "k:", label="0/1")
    left.set(xlabel="margin m", ylabel="loss", title="two labellings")
    for number, (name, shares) in enumerate(outcome.details["shares"].items()):
        style = "-" if name.startswith(LETTERS) else "--"
        right.plot(outcome.details["thresholds"], shares, style, color=f"C{number % 2}", label=name)
    right.set(xscale="log", xlabel="threshold", ylabel="share of dual variables λ|α| above", title="sparsity")
    for panel, place in ((left, "upper right"), (right, "center left")):
        panel.grid(alpha=0.3)
        panel.legend(loc=place, fontsize="small")


LOSS_CURVES = Experiment(
    "loss-curves",
    "log loss against hinge loss: over the margin, and shares of dual variables that are not zero",
    "conll2002",
    LossCurvesSettings,
    run,
    draw,
)
