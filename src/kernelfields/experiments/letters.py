"""Handwritten words: linear, polynomial and Gaussian kernels, trained on one fold, tested on the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ..datasets import Letters, load_letters
from ..estimators import KernelCRF
from ..kernels import as_kernel
from ..metrics import expected_calibration_error, log_likelihood, token_error
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import mean_of
from .lib.results import Outcome, Row

N_FOLDS = 10


@dataclass(frozen=True)
class LettersSettings:
    """The training folds and the models trained on them."""

    train_folds: list[int]
    """Each is trained on in turn, and the other nine are tested on."""
    max_words: int
    """At most that many words to train on, and to test on."""
    tol: float
    """Relative certified gap."""
    max_error: float
    """Percentage of wrong letters that the Gaussian kernel must reach."""
    models: list[dict[str, Any]]
    """Each with ``name``, ``kernel``, ``penalty`` and parameters of the kernel."""


def run(settings: LettersSettings, report: Report) -> Outcome:
    """Train each model on each fold, and average what nine folds say about it."""
    letters = load_letters()
    rows = [_row(model, letters, settings, report) for model in settings.models]
    rbf = next(row for row in rows if row["model"] == "RBF")
    claims = [
        Claim("rbf_error_percent", rbf["error %"], at_most=settings.max_error),
        Claim("largest_relative_gap", max(row["gap"] for row in rows), at_most=settings.tol),
    ]
    notes = [
        "Trained on one fold, tested on the nine others; decided letter by letter. "
        "No paper has this table: the bound is what was expected of the method."
    ]
    return Outcome("letters", claims, rows, notes=notes)


def _row(model: Mapping[str, Any], letters: Letters, settings: LettersSettings, report: Report) -> Row:
    found = []
    for fold in settings.train_folds:
        report(f"{model['name']}, trained on fold {fold}")
        found.append(_measure(model, letters, fold, settings))
    row: dict[str, Any] = {"model": model["name"]}
    for name in found[0]:
        row[name] = mean_of([one[name] for one in found]).mean
    row["gap"] = max(one["gap"] for one in found)
    row["standard error"] = mean_of([one["error %"] for one in found]).standard_error
    return row


def _measure(
    model: Mapping[str, Any], letters: Letters, fold: int, settings: LettersSettings
) -> dict[str, float]:
    X, y = _some(letters, [fold], settings)
    X_test, y_test = _some(letters, [other for other in range(N_FOLDS) if other != fold], settings)
    parameters = {key: value for key, value in model.items() if key not in ("name", "kernel", "penalty")}
    kernel = as_kernel(model["kernel"]).set_params(**parameters)
    started = perf_counter()
    crf = KernelCRF(
        kernel, penalty=model["penalty"], tol=settings.tol, fit_intercept=False, decoder="posterior"
    ).fit(X, y)
    seconds = perf_counter() - started
    lengths = [len(word) for word in y_test]
    assert crf.certificate_ is not None
    return {
        "error %": 100 * token_error(y_test, crf.predict(X_test)),
        "log-likelihood": log_likelihood(crf.sequence_log_proba(X_test, y_test), lengths),
        "calibration error": expected_calibration_error(y_test, crf.predict_marginals(X_test), crf.classes_),
        "seconds": seconds,
        "iterations": float(crf.n_iter_),
        "gap": crf.certificate_.relative_gap,
    }


def _some(letters: Letters, folds: list[int], settings: LettersSettings) -> tuple[list[Any], list[Any]]:
    X, y = letters.split(*folds)
    step = max(1, len(X) // settings.max_words)  # words of one kind stand together
    return X[::step][: settings.max_words], y[::step][: settings.max_words]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the error and the calibration error of every model."""
    names = [row["model"] for row in outcome.rows]
    panels = figure.subplots(1, 2)
    for panel, column in zip(panels, ("error %", "calibration error"), strict=True):
        bars = panel.bar(names, [row[column] for row in outcome.rows], width=0.6)
        panel.bar_label(bars, fmt="%.3g")
        panel.grid(axis="y", alpha=0.3)
        panel.set_ylabel({"error %": "letters wrong, %"}.get(column, column))
    claim = outcome.claims[0]
    panels[0].axhline(claim.at_most, color="black", linestyle="--", label=f"to be reached: {claim.at_most} %")
    panels[0].legend()


LETTERS = Experiment(
    "letters",
    "OCR letters: linear, degree 2, degree 3 and RBF kernels",
    "none: the letters come with the package",
    LettersSettings,
    run,
    draw,
)
