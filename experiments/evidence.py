"""Settings by the evidence, beside those of cross-validation: what they are worth, and what they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

from kernelfields.fitting.evidence_tuning import tune_by_evidence

from .lib.accuracy import ERROR, LIKELIHOOD, judged
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import folds_of, pick
from .lib.results import Outcome, Row
from .lib.uncertain_tasks import ENTITIES, TASKS, UncertainTask

CROSS, EVIDENCE = "cross-validation", "evidence"


@dataclass(frozen=True)
class EvidenceSettings:
    """Tasks, and the grid of cross-validation."""

    tasks: list[str]
    n_folds: int
    penalties: list[float]
    widths: list[float]
    """Factors of γ; of the penalty of label pairs where a model has no kernel."""
    max_fits: int
    rank: int
    max_train: int
    max_test: int
    tol: float
    seed: int


def run(settings: EvidenceSettings, report: Report) -> Outcome:
    """Choose settings both ways, fit to the whole training set, and test."""
    rows: list[Row] = []
    details: dict[str, Any] = {}
    # all of them first: data that are missing are missed at once
    tasks = {name: TASKS[name](settings.tol, settings.seed) for name in settings.tasks}
    for name, whole in tasks.items():
        task = whole.first(settings.max_train, settings.max_test)
        report(f"{name}: evidence")
        started = perf_counter()
        found = tune_by_evidence(task.model, task.X, task.y, max_fits=settings.max_fits, rank=settings.rank)
        seconds = perf_counter() - started
        rows.append(_row(name, EVIDENCE, found.model, found.settings, seconds, len(found.path) + 1, task))
        details[name] = [step._asdict() for step in found.path]
        report(str(rows[-1]))
        started = perf_counter()
        chosen, fits = _cross_validated(name, task, settings, report)
        model = _with(task.model, chosen).fit(task.X, task.y)
        seconds = perf_counter() - started
        rows.append(_row(name, CROSS, model, chosen, seconds, fits + 1, task))
        report(str(rows[-1]))
    return Outcome("evidence", _claims(rows, settings), rows, details, _notes(settings))


def _grid(name: str, task: UncertainTask, settings: EvidenceSettings) -> Iterator[dict[str, float]]:
    for penalty, width in product(settings.penalties, settings.widths):
        if name == ENTITIES:
            yield {"penalty": penalty, "parts__edges__penalty": penalty * width}
        else:
            yield {"penalty": penalty, "kernel__gamma": task.model.kernel.gamma * width}


def _with(model: Any, chosen: Mapping[str, float]) -> Any:
    from sklearn.base import clone

    return clone(model).set_params(**chosen)


def _cross_validated(
    name: str, task: UncertainTask, settings: EvidenceSettings, report: Report
) -> tuple[dict[str, float], int]:
    """Return the settings with the highest held-out likelihood of labels, and the number of fits."""
    grid, fits = list(_grid(name, task, settings)), 0
    totals = np.zeros(len(grid))
    for fold in folds_of(len(task.y), settings.n_folds, settings.seed):
        report(f"{name}: cross-validation, {fits} of {settings.n_folds * len(grid)} fits")
        for number, chosen in enumerate(grid):
            model = _with(task.model, chosen).fit(pick(task.X, fold.train), pick(task.y, fold.train))
            y = pick(task.y, fold.test)
            figures = judged(y, model.predict_marginals(pick(task.X, fold.test)), model.classes_)
            totals[number] += figures[LIKELIHOOD] * sum(map(len, y))
            fits += 1
    return grid[int(totals.argmax())], fits


def _row(
    name: str,
    how: str,
    model: Any,
    chosen: Mapping[str, float],
    seconds: float,
    fits: int,
    task: UncertainTask,
) -> Row:
    figures = judged(task.y_test, model.predict_marginals(task.X_test), model.classes_)
    return {
        "task": name,
        "settings by": how,
        "chosen": ", ".join(f"{key} {value:.3g}" for key, value in chosen.items()),
        LIKELIHOOD: figures[LIKELIHOOD],
        ERROR: figures[ERROR],
        "seconds": seconds,
        "fits": fits,
        "gap": model.certificate_.relative_gap,
    }


def _claims(rows: list[Row], settings: EvidenceSettings) -> list[Claim]:
    by = {(row["task"], row["settings by"]): row for row in rows}
    losses, times = [], []
    for name in settings.tasks:
        mine, theirs = by[name, EVIDENCE], by[name, CROSS]
        losses.append(100 * (theirs[LIKELIHOOD] - mine[LIKELIHOOD]) / abs(theirs[LIKELIHOOD]))
        times.append(mine["seconds"] / theirs["seconds"])
    each = [
        Claim(f"likelihood_loss_percent_{name}", loss, at_most=1.0)
        for name, loss in zip(settings.tasks, losses, strict=True)
    ]
    return [
        Claim("time_over_cross_validation", max(times), at_most=0.1),
        Claim("likelihood_loss_percent", max(losses), at_most=1.0),
        *each,
        Claim("largest_relative_gap", max(row["gap"] for row in rows), at_most=settings.tol),
    ]


def _notes(settings: EvidenceSettings) -> list[str]:
    return [
        f"Cross-validation: {settings.n_folds} folds, penalties {settings.penalties}, and {settings.widths} "
        "times the γ of the kernel (entities, which have none: of the penalty, for label pairs); the final "
        f"fit is counted in both. Evidence: Laplace's, at most {settings.max_fits} fits with {settings.rank} "
        "landmarks where the model itself has all positions. Likelihoods are those of the most probable "
        "function on the test part, per label; the loss is relative to that of cross-validation.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw seconds and likelihoods of both ways."""
    panels = figure.subplots(1, 2)
    tasks = list(dict.fromkeys(row["task"] for row in outcome.rows))
    for number, how in enumerate((EVIDENCE, CROSS)):
        mine = [row for row in outcome.rows if row["settings by"] == how]
        places = [tasks.index(row["task"]) + 0.4 * (number - 0.5) for row in mine]
        panels[0].bar(places, [row["seconds"] for row in mine], 0.4, label=how)
        panels[1].bar(places, [row[LIKELIHOOD] for row in mine], 0.4, label=how)
    panels[0].set(yscale="log", title="seconds to choose and fit")
    panels[1].set(title="log p per label, test part")
    for panel in panels:
        panel.set_xticks(range(len(tasks)), tasks)
        panel.grid(axis="y", alpha=0.3)
    panels[0].legend()


EVIDENCE_SEARCH = Experiment(
    "evidence",
    "Penalties and kernels by the evidence, beside five-fold cross-validation: likelihood and time",
    "conll2002 and jpred4",
    EvidenceSettings,
    run,
    draw,
)
