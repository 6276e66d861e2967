"""Prominent words: degrees of a kernel, primal and dual, dense and sparse, SVM [altun2004gp, Figure 1]."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kernelfields import Parts
from kernelfields.estimators import CRF, KernelCRF, StructuredSVM
from kernelfields.kernels import Polynomial
from kernelfields.metrics import answered_curve, token_error
from kernelfields.selection import SGPS

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import Fold, folds_of, mean_of, pick
from .lib.intervals import paired_interval
from .lib.prosody_samples import AccentSample, AccentSamples
from .lib.results import Outcome, Row

PRIMAL, ONE, TWO, THREE, SPARSE, SVM = (
    "CRF",
    "degree 1",
    "degree 2",
    "degree 3",
    "sparse, degree 2",
    "SVM, degree 3",
)
ABSTAINED, FALL = 0.1493, 8.54
"""Share of words left open, and by how many percent the error falls then [altun2004gp, 5.1]."""
PAPER_SPARSE = 76.48 - 76.18
"""Points that 7.8 % of the parameters cost [altun2004gp, 5.1]."""

Make = Callable[[float], Any]
"""From a penalty to an estimator."""


@dataclass(frozen=True)
class PitchAccentSettings:
    """Samples, folds and penalties."""

    setups: list[dict[str, int]]
    """The papers' numbers of sentences, how many words on either side a window has, and how many draws."""
    tuning: int
    """Sentences that settings are chosen on, which no sample has."""
    n_folds: int
    penalties: list[float]
    """λ to choose from, for features and label pairs alike; C = 1/λ for the SVM."""
    share: float
    """p/N of the sparse model."""
    tol: float
    svm_tol: float
    thresholds: int
    """Points of the abstaining curve."""
    seed: int


class Tested(NamedTuple):
    """One model on one fold of one draw."""

    accuracy: float
    seconds: float
    gap: float
    labels: list[Any]
    marginals: list[Any]


def run(settings: PitchAccentSettings, report: Report) -> Outcome:
    """Run all models on the same folds of the same draws, for either paper's set-up."""
    rows: list[Row] = []
    claims: list[Claim] = []
    details: dict[str, Any] = {"curves": {}, "penalties": {}, "accuracies": {}, "words": {}}
    for setup in settings.setups:
        name = f"{setup['n_sentences']} sentences, window {2 * setup['reach'] + 1}"
        samples = AccentSamples(setup["n_sentences"], setup["reach"], settings.tuning, settings.seed)
        models, apart = _models(settings), samples.apart()
        chosen = {model: _chosen(make, apart, settings) for model, make in models.items()}
        found: dict[str, list[Tested]] = {model: [] for model in chosen}
        for draw in range(setup["n_draws"]):
            sample = samples.draw(draw)
            for number, fold in enumerate(folds_of(len(sample.y), settings.n_folds, settings.seed + draw)):
                report(f"{name}: draw {draw}, fold {number}, {sample.words} words")
                for model, make in models.items():
                    found[model].append(_tested(make(chosen[model]), sample, fold))
        rows += [_row(name, model, tests, chosen, found) for model, tests in found.items()]
        curve = _curve(found[TWO], settings.thresholds)
        claims += _claims(setup["n_sentences"], found, curve, settings)
        details["curves"][name], details["penalties"][name] = curve, chosen
        details["accuracies"][name] = {m: [t.accuracy for t in tests] for m, tests in found.items()}
    return Outcome("pitch-accent", claims, rows, details, _notes(settings))


def _models(settings: PitchAccentSettings) -> dict[str, Make]:
    kernel = partial(Polynomial, gamma=1.0, offset=1.0)
    plain: dict[str, Any] = {"parts": Parts(bias=None), "tol": settings.tol}
    field: dict[str, Any] = {**plain, "decoder": "posterior"}
    sparse = SGPS(size=settings.share)
    return {
        PRIMAL: lambda penalty: CRF(penalty, **field),
        ONE: lambda penalty: KernelCRF(Polynomial(degree=1, gamma=1.0, offset=0.0), penalty=penalty, **field),
        TWO: lambda penalty: KernelCRF(kernel(degree=2), penalty=penalty, **field),
        THREE: lambda penalty: KernelCRF(kernel(degree=3), penalty=penalty, **field),
        SPARSE: lambda penalty: KernelCRF(
            kernel(degree=2), penalty=penalty, basis=sparse, random_state=settings.seed, **field
        ),
        SVM: lambda penalty: StructuredSVM(
            kernel(degree=3),
            penalty=penalty,
            parts=Parts(bias=None),
            tol=settings.svm_tol,
            random_state=settings.seed,
        ),
    }


def _chosen(make: Make, sample: AccentSample, settings: PitchAccentSettings) -> float:
    """Return the penalty with the fewest errors on sentences that no sample has."""
    folds = folds_of(len(sample.y), settings.n_folds, settings.seed)
    right = {
        penalty: np.mean([_tested(make(penalty), sample, fold).accuracy for fold in folds])
        for penalty in settings.penalties
    }
    return max(right, key=lambda penalty: right[penalty])


def _tested(model: Any, sample: AccentSample, fold: Fold) -> Tested:
    started = perf_counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*limit of iterations")  # the gap is in the table
        model.fit(pick(sample.X, fold.train), pick(sample.y, fold.train))
    seconds = perf_counter() - started
    X, y = pick(sample.X, fold.test), pick(sample.y, fold.test)
    return Tested(
        100 * (1 - token_error(y, model.predict(X))),
        seconds,
        model.certificate_.relative_gap,
        y,
        model.predict_marginals(X) if hasattr(model, "predict_marginals") else [],
    )


def _row(
    setup: str,
    model: str,
    tests: list[Tested],
    chosen: Mapping[str, float],
    found: Mapping[str, list[Tested]],
) -> Row:
    accuracy = mean_of([tested.accuracy for tested in tests])
    low, high = paired_interval(_above(found, model, ONE))
    return {
        "sample": setup,
        "model": model,
        "accuracy %": accuracy.mean,
        "standard error": accuracy.standard_error,
        "above degree 1": f"{low:+.2f} … {high:+.2f}",
        "λ": chosen[model],
        "seconds per fit": mean_of([tested.seconds for tested in tests]).mean,
        "largest gap": max(tested.gap for tested in tests),
    }


def _above(found: Mapping[str, list[Tested]], model: str, other: str) -> list[float]:
    return [a.accuracy - b.accuracy for a, b in zip(found[model], found[other], strict=True)]


def _curve(tests: list[Tested], points: int) -> dict[str, list[float]]:
    """Return the error against the share answered, all folds pooled."""
    labels = [sequence for tested in tests for sequence in tested.labels]
    marginals = [sequence for tested in tests for sequence in tested.marginals]
    curve = answered_curve(
        labels, marginals, ["accented", "plain"], thresholds=np.linspace(0.5, 0.95, points)
    )
    some = curve.answered > 0
    return {"answered": curve.answered[some].tolist(), "error": (100 * curve.error[some]).tolist()}


def _claims(
    size: int, found: Mapping[str, list[Tested]], curve: dict[str, list[float]], settings: PitchAccentSettings
) -> list[Claim]:
    def lower(model: str, other: str) -> float:
        return paired_interval(_above(found, model, other))[0]

    exact = [tested.gap for model, tests in found.items() if model != SVM for tested in tests]
    return [
        Claim(f"crf_is_degree1_points_{size}", abs(float(np.mean(_above(found, PRIMAL, ONE)))), at_most=0.1),
        Claim(f"degree2_above_degree1_lower_end_{size}", lower(TWO, ONE), at_least=0.0),
        Claim(f"degree3_above_degree2_lower_end_{size}", lower(THREE, TWO), at_most=0.0),
        Claim(f"degree2_above_svm3_lower_end_{size}", lower(TWO, SVM), at_least=0.0),
        Claim(
            f"sparse_below_dense_points_{size}",
            -float(np.mean(_above(found, SPARSE, TWO))),
            paper=PAPER_SPARSE,
            at_most=PAPER_SPARSE,
        ),
        Claim(f"error_falls_when_abstaining_percent_{size}", decrease(curve), paper=FALL, at_least=FALL),
        Claim(f"largest_relative_gap_{size}", max(exact), at_most=settings.tol),
    ]


def decrease(curve: dict[str, list[float]], answered: float = 1 - ABSTAINED) -> float:
    """Return by how many percent the error falls if only this share is answered."""
    at: Callable[[float], float] = partial(np.interp, xp=curve["answered"][::-1], fp=curve["error"][::-1])
    return float(100 * (1 - at(answered) / at(1.0)))


def _notes(settings: PitchAccentSettings) -> list[str]:
    return [
        f"Read English (Helsinki Prosody Corpus, dev), {_draws(settings)} draws, {settings.n_folds} folds "
        "each; intervals are those of differences fold by fold. The papers use telephone speech, and show "
        "most accuracies in figures only.",
        "Features of every word in the window: log p(w), log p(w | word before), log p(w | word after), the "
        "share of its occurrences that are accented (all from sentences outside the sample), syllables, "
        "function word, place, punctuation, and the strength of the boundaries on both sides, the only ones "
        "that come from the sound. The kernel is (⟨x, x′⟩ + 1)^d, with ⟨x, x⟩ of about 1.",
        f"Penalties are chosen on {settings.tuning} sentences that no sample has. Sparse: SGPS with "
        f"{settings.share:g} N functions.",
    ]


def _draws(settings: PitchAccentSettings) -> str:
    return " and ".join(str(setup["n_draws"]) for setup in settings.setups)


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the accuracies, and the error against the share answered."""
    curves = outcome.details["curves"]
    panels = figure.subplots(1, len(curves) + 1)
    for panel, setup in zip(panels, curves, strict=False):
        rows = [row for row in outcome.rows if row["sample"] == setup]
        names = [row["model"] for row in rows]
        panel.errorbar(
            [row["accuracy %"] for row in rows],
            names,
            xerr=[2 * row["standard error"] for row in rows],
            fmt="o",
        )
        panel.set_title(setup, fontsize="small")
        panel.set_xlabel("accuracy, %")
        panel.grid(alpha=0.3)
    for setup, curve in curves.items():
        panels[-1].plot(
            [100 * share for share in curve["answered"]], curve["error"], label=setup.split(",")[0]
        )
    panels[-1].set_xlabel("words answered, %")
    panels[-1].set_ylabel("error among them, %")
    panels[-1].grid(alpha=0.3)
    panels[-1].legend(fontsize=6, loc="upper left")


PITCH_ACCENT = Experiment(
    "pitch-accent",
    "Prominent words: degrees 1 to 3, primal and dual, dense and sparse, SVM [altun2004gp, Figure 1]",
    "helsinki_prosody",
    PitchAccentSettings,
    run,
    draw,
)
