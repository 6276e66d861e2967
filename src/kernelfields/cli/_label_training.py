"""``kf train`` for labels of positions: of sequences, trees and graphs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from ..files.items import FileData
from ..files.reading import Reading, note_of, read_files, require_alike
from ..fitting.evidence_tuning import tune_by_evidence
from ..kernels import RBF
from ..metrics import token_error
from ..observations import stacked
from ..posterior import Laplace, PosteriorMethod, Variational
from ..report import evaluate
from ..spaces import as_floats
from ..trials.clock import duration
from ..trials.preparing import inner, prepared
from ..trials.text_tables import SHOWN, TUNING, tuning_rows
from ..trials.tuning import Tuning, search_in_subspace
from ..trials.tuning import tune as search
from ._baseline import baseline_warning, training_warning
from ._cluster import backed_by, shared_by
from ._fitting import Keeping, ShownFit, fit_shown, set_checkpoint
from ._loaded import remember_reading
from ._models import OPTIONS, Choice, build, preparation_for
from ._panel import choose_model
from ._scaling import recalibrate_by_folds, scaling_options
from ._status import StatusLine
from ._structures import shaped
from ._suited import Suit
from ._summary import held_out_summary, summary_of
from ._tag_rules import IOB2_NAME, REPAIR, checked_tags

UNTUNED = ("perceptron", "hmm", "gp")
"""Models without a penalty that `tune` could set."""


class ModelTrials(NamedTuple):
    """How settings and models are chosen."""

    tune: bool
    by_dev: bool
    """By held-out data that a user named, instead of cross-validation."""
    jobs: int
    """Fits at a time."""
    budget: float
    """Seconds to choose in."""
    by_evidence: bool = False
    """By the evidence of the training set, instead of either."""
    posterior: str | None = None
    """What probabilities are averaged over."""
    recalibrate: str | None = None
    """How scores are rescaled by folds."""


class LabelTask(NamedTuple):
    """What is to be learnt from what."""

    console: Console
    model: str
    choice: Choice
    training: FileData
    held_out: FileData | None

    def train(
        self, out: Path, reading: Reading, trials: ModelTrials, keep: Keeping, dask: str | None
    ) -> dict[str, Any]:
        """Train a model and write it; return what there is to say about it."""
        if trials.recalibrate is not None:
            scaling_options(trials.recalibrate)
        note = note_of(self.training, reading)
        if note is not None:
            self.console.print(note)
        task, fitted, spent, notes = self, None, 0.0, list[str]()
        if self.model == "auto":
            task, fitted = self._chosen(trials)
            trials = trials._replace(tune=task._can_tune(trials.tune))
        if fitted is None:
            estimator = task._estimator(trials, dask)
            set_checkpoint(estimator, task.model, keep)
            inputs = Suit(estimator, self.console.print)(self.training.inputs)
            by = None if self.held_out is None else partial(_error, self.held_out)
            with shared_by(dask):
                fitted, spent, notes = self._fitted(estimator, inputs, by, trials.tune)
        if trials.recalibrate is not None:
            notes += self._recalibrated(fitted, trials.recalibrate)
        remember_reading(fitted, reading, self.training.kind)
        fitted.save(out)
        held_out = self._held_out_summary(fitted)
        notes += filter(None, [self._baseline(fitted, held_out)])
        return summary_of(fitted, out, spent, notes) | held_out

    def with_checked_tags(self) -> LabelTask:
        """Return the same with training labels that obey constraints; also held-out ones, if repaired."""
        asked, say = self.choice.constraints, self.console.print
        if self.model != "auto" and "constraints" not in OPTIONS[self.model]:
            return self
        training, held_out = checked_tags(self.training, asked, say), self.held_out
        if asked != REPAIR:
            return self._replace(training=training)
        if held_out is not None:
            held_out = checked_tags(held_out, asked, say)
        choice = replace(self.choice, constraints=IOB2_NAME)
        return self._replace(choice=choice, training=training, held_out=held_out)

    def _fitted(self, estimator: Any, X: Any, judge: Callable[[Any], float] | None, tuned: bool) -> ShownFit:
        """Fit to all data; after a search, Ctrl-C before the first iteration leaves one with landmarks."""
        y = self.training.labels
        try:
            return fit_shown(self.console, estimator, X, y, judge)
        except KeyboardInterrupt:
            if not tuned or not search_in_subspace(inner(estimator), self.training.n_positions):
                raise
            self.console.print(
                "Interrupted before the first iteration: fitted with landmarks, as in the search."
            )
            return fit_shown(self.console, estimator, X, y, judge)

    def _recalibrated(self, fitted: Any, how: str) -> list[str]:
        """Rescale scores by folds of the training set; say what came of it."""
        inputs = Suit(fitted, lambda _: None)(self.training.inputs)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            said = recalibrate_by_folds(fitted, inputs, self.training.labels, self.training.groups, how)
        self.console.print(said)
        return [str(one.message) for one in caught]

    def _baseline(self, fitted: Any, held_out: dict[str, Any]) -> str | None:
        """Warn of a model that is no better than the most frequent label."""
        if self.held_out is None:
            return training_warning(fitted, self.training)
        return baseline_warning(self.held_out, held_out["held_out_token_error"], "In held-out data,")

    def _chosen(self, trials: ModelTrials) -> tuple[LabelTask, Any]:
        """Return the same with the best model of the panel, and that model if it was fitted to all data."""
        name, fitted = choose_model(
            self.console, self.training, self.held_out, self.choice, trials.budget, trials.jobs
        )
        return self._replace(model=name, choice=self.choice.fitting(name)), fitted

    def _can_tune(self, wanted: bool) -> bool:
        if wanted and self.model in UNTUNED:
            self.console.print(f"{self.model} has no penalty to tune.")
        return wanted and self.model not in UNTUNED

    def _estimator(self, trials: ModelTrials, dask: str | None) -> Any:
        estimator = build(self.model, self.training, self.choice)
        told = preparation_for(self.model, self.training, self.choice).told
        if told is not None:
            self.console.print(told)
        if trials.by_evidence:
            estimator = evident(self.console, estimator, self.training)
        set_posterior(estimator, self.model, trials.posterior)
        if not trials.tune or trials.by_evidence:
            return estimator
        held_out = self.held_out if trials.by_dev else None
        with backed_by(dask) as workers:
            jobs, seed = workers or trials.jobs, self.choice.seed
            return tune(
                self.console, self.model, estimator, self.training, held_out, jobs, seed, trials.budget
            )

    def _held_out_summary(self, fitted: Any) -> dict[str, Any]:
        if self.held_out is None:
            return {}
        inputs = Suit(fitted, lambda _: None)(self.held_out.inputs)
        return held_out_summary(evaluate(fitted, inputs, self.held_out.labels, self.held_out.texts))


def split_data(
    paths: Sequence[Path],
    dev: Path | None,
    holdout: float,
    seed: int,
    reading: Reading,
    structure: str | None,
) -> tuple[FileData, FileData | None]:
    """Return training and held-out sequences, trees or graphs."""
    if dev is not None and holdout:
        raise InputError("--dev and --holdout exclude each other.")
    data = shaped(read_files(paths, reading), structure)
    if dev is not None:
        held_out = shaped(read_files([dev], reading), structure)
        require_alike(data, paths[0], held_out, dev)
        return data, held_out
    if holdout == 0:
        return data, None
    return held_out_part(data, holdout, seed)


def held_out_part(data: FileData, share: float, seed: int) -> tuple[FileData, FileData]:
    """Return what to train on, and a share of the items, or of their groups, drawn at random."""
    names = range(len(data.items)) if data.groups is None else data.groups
    group = np.unique(names, return_inverse=True)[1]
    n_groups = int(group.max()) + 1
    what = data.noun if data.groups is None else "groups"
    count = round(share * n_groups)
    if count == 0:
        raise InputError(f"--holdout {share:g} holds out none of {n_groups} {what}.")
    if count == n_groups:
        raise InputError("Nothing is left to train on; hold out less.")
    held = np.isin(group, np.random.default_rng(seed).permutation(n_groups)[:count])
    return data.take(np.flatnonzero(~held)), data.take(np.flatnonzero(held))


def _error(held_out: FileData, model: Any) -> float:
    """Return the share of held-out positions labelled wrong."""
    return token_error(held_out.labels, model.predict(Suit(model, lambda _: None)(held_out.inputs)))


POSTERIORS: dict[str, PosteriorMethod] = {
    "laplace": Laplace(),
    "folds": Laplace(folds=3),
    "variational": Variational(),
}


def evident(console: Console, estimator: Any, data: FileData) -> Any:
    """Return a model with the settings of the highest evidence, after a table of what was tried."""
    whole, inputs = estimator, data.inputs
    estimator, inputs, _ = prepared(estimator, inputs, data.labels, [])
    kernel = estimator.get_params(deep=False).get("kernel")
    if isinstance(kernel, RBF):
        # a number, which the evidence can change: the width that the kernel has on these observations
        settled = kernel.on(stacked([as_floats(one) for one in inputs])) if kernel.looks_first else kernel
        estimator.set_params(kernel=RBF(gamma=float(settled.inverse_width)))
    found = tune_by_evidence(estimator, inputs, data.labels, refit=False)
    names = list(found.settings)
    table = Table(*(name.replace("kernel__gamma", "γ") for name in names), "log-evidence", title="evidence")
    for step in found.path:
        cells = [f"{step.settings[name]:.3g}" for name in names]
        value = f"{step.log_evidence:.1f}"
        table.add_row(*cells, value, style="bold" if step.log_evidence == found.log_evidence else "")
    console.print(table)
    estimator.set_params(**found.settings)
    return whole


def set_posterior(estimator: Any, name: str, posterior: str | None) -> None:
    """Let a model average over its posterior, if it has one."""
    if posterior is None:
        return
    if posterior not in POSTERIORS:
        raise InputError(f"--posterior is {posterior!r}; it must be one of {', '.join(POSTERIORS)}.")
    estimator = inner(estimator)
    if "posterior" not in estimator.get_params(deep=False):
        raise InputError(f"{name} has no posterior to average over.")
    estimator.set_params(posterior=POSTERIORS[posterior])


FOLDS = 5


def tune(
    console: Console,
    name: str,
    estimator: Any,
    data: FileData,
    dev: FileData | None,
    jobs: int,
    seed: int,
    budget: float,
) -> Any:
    """Return the model with the best settings on other data: those given, or five folds."""
    if "penalty" not in inner(estimator).get_params(deep=False):
        raise InputError(f"{name} has no penalty to tune.")
    count = len(data.items if data.groups is None else set(data.groups))
    if dev is None and count < FOLDS:
        what = data.noun if data.groups is None else "groups"
        raise InputError(f"--tune needs at least {FOLDS} {what}; there are {count}.")
    most = f"for {duration(budget)} at most (--budget)"
    console.print(f"Choosing settings of {name}, {most}; Ctrl-C takes the best so far.")
    held_out: dict[str, Any] = {} if dev is None else {"X_dev": dev.inputs, "y_dev": dev.labels}
    with StatusLine(console) as line:
        found = search(
            estimator,
            data.inputs,
            data.labels,
            groups=data.groups,
            folds=FOLDS,
            budget=budget,
            refit=False,
            n_jobs=jobs,
            random_state=seed,
            callback=line,
            **held_out,
        )
    _show(console, found, "cross-validated" if dev is None else "on the data of --dev")
    return found.model


def _show(console: Console, found: Tuning, how: str) -> None:
    table = Table(*TUNING, title=f"{found.criterion}, {how}")
    for column in table.columns[1:]:
        column.justify = "right"
    for n, cells in enumerate(tuning_rows(found.tried, found.tried[0].folds)):
        table.add_row(*(Text(cell, "" if n else "bold") for cell in cells))
    console.print(table)
    left = len(found.tried) - SHOWN
    if left > 0:
        console.print(f"{left} more were sorted out.")
    for note in (found.sentence, *found.notes):
        console.print(note)
