"""``kf train`` for labels of positions: of sequences, trees and graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from ..errors import InputError
from ..files.items import FileData
from ..files.reading import Reading, note_of, read_files, require_alike
from ..metrics import token_error
from ..report import evaluate
from ._cluster import backed_by, shared_by
from ._evidence import evident, set_posterior
from ._fitting import Keeping, fit_shown, set_checkpoint
from ._models import Choice, build
from ._panel import choose_model
from ._structures import shaped
from ._suited import Suit
from ._summary import held_out_summary, summary_of
from ._tuning import tune

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
                fitted, spent, notes = fit_shown(self.console, estimator, inputs, self.training.labels, by)
        fitted.save(out)
        return summary_of(fitted, out, spent, notes) | self._held_out_summary(fitted)

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
    count = round(holdout * len(data.items))
    if holdout == 0:
        return data, None
    if count == 0:
        raise InputError(f"--holdout {holdout:g} holds out none of {len(data.items)} {data.noun}.")
    order = np.random.default_rng(seed).permutation(len(data.items))
    if count == len(order):
        raise InputError("Nothing is left to train on; hold out less.")
    return data.take(np.sort(order[count:])), data.take(np.sort(order[:count]))


def _error(held_out: FileData, model: Any) -> float:
    """Return the share of held-out positions labelled wrong."""
    return token_error(held_out.labels, model.predict(Suit(model, lambda _: None)(held_out.inputs)))
