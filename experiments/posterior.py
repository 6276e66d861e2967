"""Averaging over the posterior, on four tasks with few labels [altun2006, 1.2.4; altun2004gp, eq. 2]."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kernelfields.approximation import Nystroem
from kernelfields.datasets import load_jpred4
from kernelfields.estimators import KernelCRF
from kernelfields.features.windows import stack_windows
from kernelfields.kernels import RBF
from kernelfields.posterior import Laplace, PosteriorMethod, Variational

from .lib.accuracy import CALIBRATION, ERROR, LIKELIHOOD, SMALLEST, SUREST, judged
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import pick
from .lib.intervals import paired_interval
from .lib.results import Outcome, Row
from .lib.uncertain_tasks import LETTERS, TASKS, UncertainTask

MODE, LAPLACE, FOLDS, VARIATIONAL = "mode", "Laplace", "Laplace, width by folds", "variational"
ABOVE = "log p above the mode"


@dataclass(frozen=True)
class PosteriorSettings:
    """Tasks, methods and sizes."""

    tasks: list[str]
    variational: list[str]
    """Tasks that the variational method is tried on, too; it takes longest."""
    n_samples: int
    n_folds: int
    max_train: int
    max_test: int
    """Sequences of each task, at most."""
    sizes: list[int]
    """Positions for the table of costs."""
    rank: int
    """Landmarks there."""
    tol: float
    seed: int


def run(settings: PosteriorSettings, report: Report) -> Outcome:
    """Fit every task with every method, then time three of them on growing data."""
    rows: list[Row] = []
    ends: dict[str, tuple[float, float]] = {}
    # all of them first: data that are missing are missed at once
    tasks = {name: TASKS[name](settings.tol, settings.seed) for name in settings.tasks}
    for name, whole in tasks.items():
        task = whole.first(settings.max_train, settings.max_test)
        found: dict[str, list[float]] = {}
        for label, method in _methods(name, settings).items():
            report(f"{name}: {label}")
            row, found[label] = _tested(task, method)
            differences = [a - b for a, b in zip(found[label], found[MODE], strict=True)]
            low, high = paired_interval(differences)
            row[ABOVE] = None if label == MODE else f"{low:+.4f} … {high:+.4f}"
            rows.append({"task": name, "method": label, **row})
            report(str(rows[-1]))
            if label == FOLDS:
                ends[name] = (low, high)
    costs = _costs(settings, report)
    details = {"intervals": {name: list(pair) for name, pair in ends.items()}}
    claims = _claims(rows, ends, settings.tol)
    return Outcome("posterior", claims, [*rows, *costs], details, _notes(settings))


def _methods(task: str, settings: PosteriorSettings) -> dict[str, PosteriorMethod | None]:
    count = settings.n_samples
    methods: dict[str, PosteriorMethod | None] = {
        MODE: None,
        LAPLACE: Laplace(n_samples=count, evidence=False),
        FOLDS: Laplace(n_samples=count, evidence=False, folds=settings.n_folds),
    }
    if task in settings.variational:
        methods[VARIATIONAL] = Variational(n_samples=count)
    return methods


def _tested(task: UncertainTask, method: PosteriorMethod | None) -> tuple[dict[str, Any], list[float]]:
    """Return the figures of a method, and the mean log-probability of the labels of every sequence."""
    from sklearn.base import clone

    started = perf_counter()
    model = clone(task.model).set_params(posterior=method).fit(task.X, task.y)
    seconds = perf_counter() - started
    marginals = model.predict_marginals(task.X_test)
    figures = judged(task.y_test, marginals, model.classes_)
    scaling = vars(model).get("scaling_")
    row = {
        ERROR: figures[ERROR],
        SUREST: figures[SUREST],
        LIKELIHOOD: figures[LIKELIHOOD],
        f"{CALIBRATION} %": 100 * figures[CALIBRATION],
        "scale": None if method is None else model.posterior_.residual,
        "temperature": None if scaling is None else scaling.temperature,
        "seconds": seconds,
        "gap": model.certificate_.relative_gap,
    }
    column = {label: k for k, label in enumerate(model.classes_.tolist())}
    return row, [_mean_log(p, y, column) for p, y in zip(marginals, task.y_test, strict=True)]


def _mean_log(p: Any, y: Any, column: dict[Any, int]) -> float:
    own = [p[t, column[label]] if label in column else 0.0 for t, label in enumerate(y) if label is not None]
    return float(np.log(np.maximum(own, SMALLEST)).mean())


def _costs(settings: PosteriorSettings, report: Report) -> list[Row]:
    """Return seconds of mode, Laplace's approximation and the variational one on growing parts of JPred4."""
    from sklearn.base import clone

    if not settings.sizes:
        return []
    data = load_jpred4()
    known = [i for i, labels in enumerate(data.labels) if data.fold[i] and None not in labels]
    ends = np.cumsum([len(data.labels[i]) for i in known])
    rows: list[Row] = []
    for size in settings.sizes:
        ids = np.array(known[: int(np.searchsorted(ends, size)) + 1])
        X, y = stack_windows(pick(data.profiles, ids), 15), pick(data.labels, ids)
        subspace = Nystroem(settings.rank)
        base = KernelCRF(RBF(0.01), penalty=1.0, basis=subspace, tol=settings.tol, random_state=0)
        row: dict[str, Any] = {"task": f"proteins, {sum(map(len, y))} positions", "method": "seconds"}
        for label, method in (
            (MODE, None),
            (LAPLACE, Laplace(n_samples=settings.n_samples, evidence=False)),
            (VARIATIONAL, Variational(n_samples=settings.n_samples, rounds=2)),
        ):
            report(f"{row['task']}: {label}")
            started = perf_counter()
            clone(base).set_params(posterior=method).fit(X, y)
            row[f"{label}, s"] = perf_counter() - started
        rows.append(row)
    return rows


def _claims(rows: list[Row], ends: dict[str, tuple[float, float]], tol: float) -> list[Claim]:
    by = {(row["task"], row["method"]): row for row in rows}
    higher = sum(by[name, FOLDS][LIKELIHOOD] > by[name, MODE][LIKELIHOOD] for name in ends)
    plain = sum(by[name, LAPLACE][LIKELIHOOD] > by[name, MODE][LIKELIHOOD] for name in ends)
    claims = [
        Claim("tasks_with_higher_likelihood", float(higher), at_least=3.0),
        Claim("least_upper_end_of_gains", min(high for _, high in ends.values()), at_least=0.0),
        Claim("tasks_with_higher_likelihood_of_laplace_as_it_is", float(plain), at_least=3.0),
        Claim("largest_relative_gap", max(row["gap"] for row in rows), at_most=tol),
    ]
    if LETTERS in ends:
        figure = by[LETTERS, FOLDS][f"{CALIBRATION} %"]
        claims.insert(0, Claim("letters_calibration_error", figure, at_most=2.0))
    return claims


def _notes(settings: PosteriorSettings) -> list[str]:
    return [
        "Letters: pixels of fold 0, tested on the nine others. Entities: 300 Spanish sentences, tested on "
        "testb. Proteins: 15 chains of JPred4, tested on 60. Gestures: three videos, tested on four. Models "
        "and penalties are those of other experiments, the same in all rows of a task; all answer the most "
        "probable label of every position.",
        f"Laplace: {settings.n_samples} functions drawn from N(f̂, H⁻¹), with what the prior says outside of "
        f"the basis. By folds: share of the variance (scale) and temperature that make the labels of "
        f"{settings.n_folds} folds of the training set most probable to models of the others; nothing is "
        "held out of the fit itself. Intervals: mean over sequences of differences per label.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw log-likelihood above the mode, and calibration error, by task and method."""
    panels = figure.subplots(1, 2)
    rows = [row for row in outcome.rows if row["method"] != "seconds"]
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    of_mode = {row["task"]: row[LIKELIHOOD] for row in rows if row["method"] == MODE}
    for number, method in enumerate(methods):
        mine = {row["task"]: row for row in rows if row["method"] == method}
        places = [tasks.index(name) + 0.2 * (number - 1.5) for name in mine]
        gains = [row[LIKELIHOOD] - of_mode[name] for name, row in mine.items()]
        panels[0].bar(places, gains, 0.2, label=method)
        panels[1].bar(places, [row[f"{CALIBRATION} %"] for row in mine.values()], 0.2, label=method)
    for panel, title in zip(panels, ("log p per label above the mode", "calibration error, %"), strict=True):
        panel.set_xticks(range(len(tasks)), tasks)
        panel.set_title(title)
        panel.grid(axis="y", alpha=0.3)
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)


POSTERIOR = Experiment(
    "posterior",
    "Averaging over the posterior on four tasks: Laplace, its width by folds, variational; costs",
    "conll2002 and jpred4 and gesture_phase",
    PosteriorSettings,
    run,
    draw,
)
