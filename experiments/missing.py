"""Gestures with numbers that are missing: filled in, marked, or compared as distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import load_gestures
from kernelfields.estimators import CRF, KernelCRF
from kernelfields.features import MissingValues
from kernelfields.kernels import RBF, Expected, Standardized

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.intervals import paired_interval
from .lib.results import Outcome, Row

MEANS, GAUSSIAN, LINE = "means", "conditional means", "interpolated"
MARKED = ", marked"
EXPECTED = "expected kernel"
POINT = 3
"""Columns of a point that is followed: x, y, z."""


@dataclass(frozen=True)
class MissingSettings:
    """Videos, what is missing of them, and models."""

    n_videos: int
    every: int
    """Frames from one that is used to the next."""
    shares: list[float]
    """Of numbers that are missing, of training and of test videos."""
    runs: list[int]
    """Frames that numbers are missing in a row; with more than one, those of a whole point."""
    penalty: float
    """Of linear models."""
    kernel_penalty: float
    tol: float
    draws: int
    """Of what is missing; results are means over them."""


class VideoResults(NamedTuple):
    """What models say of the videos that they have not seen."""

    errors: Array
    """Percent of wrong frames of every video."""
    likelihoods: Array
    """log p per frame of every video."""
    gap: float


Results = dict[tuple[int, float, str], VideoResults]
"""By length of runs, share that is missing, and method."""


def run(settings: MissingSettings, report: Report) -> Outcome:
    """Leave out every video in turn, with the same numbers missing for all methods."""
    X, y = _videos(settings)
    methods = _methods(settings)
    found: Results = {
        (0, 0.0, name): _tested(methods[name], X, y) for name in (f"CRF, {MEANS}", f"RBF, {MEANS}")
    }
    for run_length in settings.runs:
        for share in settings.shares:
            holes = [_with_holes(X, share, run_length, seed) for seed in range(settings.draws)]
            for name, make in methods.items():
                report(f"{share:.0%} missing in runs of {run_length}: {name}")
                found[run_length, share, name] = _mean([_tested(make, one, y) for one in holes])
    rows = [_row(*key, tested) for key, tested in found.items()]
    return Outcome("missing", _claims(found, settings), rows, notes=_notes())


def _methods(settings: MissingSettings) -> dict[str, Callable[[], Any]]:
    """Return models by name: the same settings for all, whatever is done about missing numbers."""

    def linear(method: str, indicators: bool) -> Callable[[], Any]:
        filled = MissingValues(method, indicators=indicators)
        return lambda: CRF(settings.penalty, features=filled, tol=settings.tol)

    def kernel(features: Any, kernel: Any) -> Callable[[], Any]:
        return lambda: KernelCRF(kernel, penalty=settings.kernel_penalty, features=features, tol=settings.tol)

    names = {MEANS: "mean", GAUSSIAN: "gaussian", LINE: "interpolate"}
    found = {
        f"CRF, {name}{MARKED if marked else ''}": linear(method, marked)
        for name, method in names.items()
        for marked in (False, True)
    }
    plain = Standardized(RBF("scale"))
    for name, method in names.items():
        found[f"RBF, {name}"] = kernel(MissingValues(method, indicators=False), plain)
    found[f"RBF, {EXPECTED}"] = kernel(None, Expected(plain))
    return found


def _videos(settings: MissingSettings) -> tuple[list[Array], list[list[str]]]:
    """Return where hands and wrists are, from the spine, and how fast: 12 + 4 columns."""
    data = load_gestures()
    X = []
    for positions, motion in zip(data.positions, data.motion, strict=True):
        hands = positions[:, [0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17]] - np.tile(positions[:, 9:12], 4)
        rows = np.hstack([hands, np.log(1e-6 + np.abs(motion[:, 24:28]))])
        X.append((rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-9))
    cut = slice(None, None, settings.every)
    chosen = range(settings.n_videos)
    return [X[v][cut] for v in chosen], [data.labels[v][cut] for v in chosen]


def _with_holes(X: Sequence[Array], share: float, run_length: int, seed: int) -> list[Array]:
    """Return copies in which numbers are missing at random, alone or in runs of whole points."""
    random = np.random.default_rng(seed)
    return [np.where(_mask(x.shape, share, run_length, random), np.nan, x) for x in X]


def _mask(shape: tuple[int, ...], share: float, run_length: int, random: np.random.Generator) -> Array:
    if run_length == 1:
        return random.random(shape) < share
    T, D = shape
    points = -(-D // POINT)
    begins = random.random((T + run_length - 1, points)) < 1 - (1 - share) ** (1 / run_length)
    covered = np.stack([begins[lag : lag + T] for lag in range(run_length)]).any(axis=0)
    return np.repeat(covered, POINT, axis=1)[:, :D]


def _tested(make: Callable[[], Any], X: Sequence[Array], y: Sequence[list[str]]) -> VideoResults:
    """Test a model of the other videos on every one."""
    errors, likelihoods, gaps = [], [], []
    for v in range(len(X)):
        others = [s for s in range(len(X)) if s != v]
        model = make().fit([X[s] for s in others], [y[s] for s in others])
        errors.append(100 * (1 - model.score([X[v]], [y[v]])))
        likelihoods.append(float(model.sequence_log_proba([X[v]], [y[v]])[0]) / len(y[v]))
        gaps.append(model.certificate_.relative_gap)
    return VideoResults(np.array(errors), np.array(likelihoods), max(gaps))


def _mean(tested: Sequence[VideoResults]) -> VideoResults:
    return VideoResults(
        np.mean([one.errors for one in tested], axis=0),
        np.mean([one.likelihoods for one in tested], axis=0),
        max(one.gap for one in tested),
    )


def _row(run_length: int, share: float, name: str, tested: VideoResults) -> Row:
    return {
        "in a row": run_length,
        "missing %": 100 * share,
        "model": name,
        "error %": float(tested.errors.mean()),
        "log p per frame": float(tested.likelihoods.mean()),
    }


def _claims(found: Results, settings: MissingSettings) -> list[Claim]:
    """What is gained over column means, by lower ends of intervals over videos, paired."""
    pairs = {
        "conditional_means": (f"CRF, {GAUSSIAN}", f"CRF, {MEANS}"),
        "marked_conditional_means": (f"CRF, {GAUSSIAN}{MARKED}", f"CRF, {MEANS}"),
        "expected_kernel": (f"RBF, {EXPECTED}", f"RBF, {MEANS}"),
    }
    claims = [Claim("largest_relative_gap", max(one.gap for one in found.values()), at_most=settings.tol)]
    for run_length in settings.runs:
        for share in settings.shares:
            for name, (ours, theirs) in pairs.items():
                mine, other = found[run_length, share, ours], found[run_length, share, theirs]
                where = f"{name}_{100 * share:.0f}_percent_in_runs_of_{run_length}"
                wrong, _ = paired_interval((other.errors - mine.errors).tolist())
                likely, _ = paired_interval((mine.likelihoods - other.likelihoods).tolist())
                claims.append(Claim(f"{where}_fewer_errors", wrong, at_least=0.0))
                claims.append(Claim(f"{where}_more_likely", likely, at_least=0.0))
    return claims


def _notes() -> list[str]:
    return [
        "Errors and likelihoods are means over videos, each left out in turn. Numbers are missing from "
        "training and test videos alike; the first two rows are without. All models of a kind have the same "
        "settings, chosen for none of them. Claims are about lower ends of 95 % intervals of what is gained "
        "over means of columns, in percent of frames or in log p per frame, paired by video."
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw errors against the share that is missing, a panel for every length of runs."""
    lengths = sorted({row["in a row"] for row in outcome.rows} - {0})
    panels = figure.subplots(1, len(lengths), squeeze=False)[0]
    for panel, length in zip(panels, lengths, strict=True):
        for name in dict.fromkeys(row["model"] for row in outcome.rows):
            mine = [row for row in outcome.rows if row["model"] == name and row["in a row"] == length]
            panel.plot([row["missing %"] for row in mine], [row["error %"] for row in mine], "o-", label=name)
        panel.set_xlabel(f"numbers missing, in runs of {length} [%]")
        panel.set_ylabel("frames wrong [%]")
        panel.grid(alpha=0.3)
    panels[-1].legend(fontsize="x-small")


MISSING = Experiment(
    "missing",
    "gestures with missing numbers: filled in, marked, or compared as distributions",
    "gesture_phase",
    MissingSettings,
    run,
    draw,
)
