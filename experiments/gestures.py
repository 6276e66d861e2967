"""Phases of gestures, video by video: a kernel CRF beside others on the same windows of frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kernelfields import Parts
from kernelfields.arrays import Array
from kernelfields.emissions import DiagonalGaussian
from kernelfields.estimators import CRF, HMM, KernelCRF
from kernelfields.kernels import RBF

from .lib.accuracy import CALIBRATION, ERROR, LIKELIHOOD, SUREST, judged
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import mean_of, pick
from .lib.gesture_frames import Videos, frames_of_gestures
from .lib.intervals import paired_interval
from .lib.results import Outcome, Row
from .lib.row_models import RowModel, calibrated_svc

OURS, LINEAR = "kernel CRF", "CRF"
HELD = 2
"""Training videos that settings are chosen on."""

Choice = tuple[float, ...]


@dataclass(frozen=True)
class GesturesSettings:
    """Videos, and settings to choose from."""

    n_videos: int
    n_frames: int
    gammas: list[float]
    penalties: list[float]
    linear_penalties: list[float]
    costs: list[float]
    leaves: list[float]
    """Least numbers of frames in a leaf of the random forest."""
    scales: list[float]
    """What is added to the scatter of the HMM's columns."""
    trees: int
    tol: float


class GestureMethod(NamedTuple):
    """A model, and the settings that it has to choose from."""

    make: Callable[..., Any]
    choices: Sequence[Choice]


class VideoAnswer(NamedTuple):
    """What one model says of one video."""

    marginals: Array
    classes: Any
    choice: Choice
    seconds: float
    gap: float | None


def run(settings: GesturesSettings, report: Report) -> Outcome:
    """Leave out every video in turn; choose settings on two of the others, fit to all of them, and test."""
    videos = frames_of_gestures(settings.n_videos, settings.n_frames)
    found: dict[str, list[VideoAnswer]] = {}
    for name, method in _methods(settings).items():
        for test in range(len(videos.y)):
            report(f"{name}: video {test}")
            found.setdefault(name, []).append(_answer(method, videos, test))
    errors = {name: _errors(videos, answers) for name, answers in found.items()}
    rows = [_row(name, answers, errors, videos) for name, answers in found.items()]
    details = {"errors": errors, "choices": {name: [a.choice for a in found[name]] for name in found}}
    return Outcome("gestures", _claims(rows, found, settings), rows, details, _notes(settings))


def _methods(settings: GesturesSettings) -> dict[str, GestureMethod]:
    def forest(least: float) -> RowModel:
        from sklearn.ensemble import RandomForestClassifier

        return RowModel(
            RandomForestClassifier(settings.trees, min_samples_leaf=int(least), n_jobs=-1, random_state=0)
        )

    plain: dict[str, Any] = {"decoder": "posterior", "tol": settings.tol}

    def field(gamma: float, penalty: float) -> KernelCRF:
        return KernelCRF(RBF(gamma), penalty=penalty, parts=Parts(bias=None), **plain)

    return {
        OURS: GestureMethod(field, list(product(settings.gammas, settings.penalties))),
        LINEAR: GestureMethod(lambda penalty: CRF(penalty, **plain), _each(settings.linear_penalties)),
        "random forest": GestureMethod(forest, _each(settings.leaves)),
        "SVC": GestureMethod(calibrated_svc, list(product(settings.costs, settings.gammas))),
        "HMM": GestureMethod(
            lambda scale: HMM(DiagonalGaussian(prior_scale=scale), decoder="posterior"),
            _each(settings.scales),
        ),
    }


def _each(values: Sequence[float]) -> list[Choice]:
    return [(value,) for value in values]


def _answer(method: GestureMethod, videos: Videos, test: int) -> VideoAnswer:
    others = np.array([video for video in range(len(videos.y)) if video != test])
    # The two that come next after the one left out are those to choose on: every video in turn.
    held = np.array([others[(test + k) % len(others)] for k in range(min(HELD, len(others) - 1))])
    choice = _chosen(method, videos, np.setdiff1d(others, held), held)
    started = perf_counter()
    model = method.make(*choice).fit(pick(videos.X, others), pick(videos.y, others))
    seconds = perf_counter() - started
    certificate = getattr(model, "certificate_", None)
    gap = None if certificate is None else certificate.relative_gap
    return VideoAnswer(model.predict_marginals([videos.X[test]])[0], model.classes_, choice, seconds, gap)


def _chosen(method: GestureMethod, videos: Videos, train: Array, held: Array) -> Choice:
    """Return the settings with the fewest wrong frames on held-out videos."""
    if len(method.choices) == 1:
        return method.choices[0]

    def wrong(choice: Choice) -> float:
        model = method.make(*choice).fit(pick(videos.X, train), pick(videos.y, train))
        p = model.predict_marginals(pick(videos.X, held))
        return judged(pick(videos.y, held), p, model.classes_)[ERROR]

    return min(method.choices, key=wrong)


def _errors(videos: Videos, answers: list[VideoAnswer]) -> list[float]:
    return [
        judged([y], [answer.marginals], answer.classes)[ERROR]
        for y, answer in zip(videos.y, answers, strict=True)
    ]


def _row(name: str, answers: list[VideoAnswer], errors: dict[str, list[float]], videos: Videos) -> Row:
    by_video = mean_of(errors[name])
    pooled = judged(videos.y, [answer.marginals for answer in answers], answers[0].classes)
    low, high = paired_interval([a - b for a, b in zip(errors[name], errors[OURS], strict=True)])
    gaps = [answer.gap for answer in answers if answer.gap is not None]
    return {
        "model": name,
        "error % by video": by_video.mean,
        "standard error": by_video.standard_error,
        "above ours": f"{low:+.1f} … {high:+.1f}",
        **pooled,
        "seconds per fit": mean_of([answer.seconds for answer in answers]).mean,
        "largest gap": max(gaps) if gaps else None,
    }


def _claims(rows: list[Row], found: dict[str, list[VideoAnswer]], settings: GesturesSettings) -> list[Claim]:
    ours = next(row for row in rows if row["model"] == OURS)
    rivals = [row for row in rows if row["model"] not in (OURS, LINEAR)]
    gaps = [answer.gap for name in (OURS, LINEAR) for answer in found[name] if answer.gap is not None]

    def below(figure: str) -> float:
        return float(min(row[figure] for row in rivals) - ours[figure])

    return [
        Claim("error_below_best_rival_points", below("error % by video"), at_least=0.0),
        Claim("surest_below_rivals_points", below(SUREST), at_least=0.0),
        Claim("log_p_above_rivals", ours[LIKELIHOOD] - max(row[LIKELIHOOD] for row in rivals), at_least=0.0),
        Claim("calibration_error_below_rivals", below(CALIBRATION), at_least=0.0),
        Claim("largest_relative_gap", max(gaps), at_most=settings.tol),
    ]


def _notes(settings: GesturesSettings) -> list[str]:
    return [
        "Seven videos of three people, each left out in turn; settings of every model are chosen on two of "
        "the others. All see the same windows: positions of hands and wrists, how they move, and means of "
        "what comes before and after, standardised video by video, without labels. Ranges of settings were "
        "set after trial runs on all videos. All answer the most "
        "probable phase of every frame. The SVC's probabilities are Platt's.",
        "Intervals are those of differences video by video; there are only seven.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the error of every model on every video."""
    panel = figure.subplots()
    for name, errors in outcome.details["errors"].items():
        panel.plot(range(len(errors)), errors, "o-", label=name)
    panel.set_xlabel("video left out")
    panel.set_ylabel("frames wrong, %")
    panel.grid(alpha=0.3)
    panel.legend()


GESTURES = Experiment(
    "gestures",
    "Phases of gestures, video by video: kernel CRF, CRF, random forest, SVC, HMM on the same windows",
    "gesture_phase",
    GesturesSettings,
    run,
    draw,
)
