"""Cross-validated choice of penalty and kernel."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ..errors import InputError
from ..kernels import RBF
from ._data import Data

FOLDS = 5
PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
WIDTHS = (0.25, 1.0, 4.0)
"""Factors of γ."""


def tune(console: Console, name: str, estimator: Any, data: Data, jobs: int, seed: int) -> Any:
    """Give the model with the settings that have the best held-out likelihood over five folds.

    Models without probabilities are chosen by their errors.

    One job goes through all penalties from the largest to the smallest for one fold and one kernel, each
    fit starting where the last one ended if the model can do that.
    """
    from joblib import Parallel, delayed

    if "penalty" not in estimator.get_params(deep=False):
        raise InputError(f"{name} has no penalty to tune.")
    if len(data.items) < FOLDS:
        raise InputError(f"--tune needs at least {FOLDS} sequences; there are {len(data.items)}.")
    folds = np.random.default_rng(seed).permutation(len(data.items)) % FOLDS
    kernels = _kernels(estimator)
    tasks = list(product(range(len(kernels)), range(FOLDS)))
    found = Parallel(n_jobs=jobs)(
        delayed(_path)(_with(estimator, kernels[k]), data, folds == fold) for k, fold in tasks
    )
    scores = np.zeros((len(kernels), len(PENALTIES)))
    for (k, _), values in zip(tasks, found, strict=True):
        scores[k] += values
    best = divmod(int(scores.argmax()), len(PENALTIES))
    likely = getattr(estimator, "probabilistic", True)
    title = "held-out log-likelihood per position" if likely else "minus the share of wrong labels held out"
    _show(console, title, kernels, scores / data.n_positions, best)
    return _with(estimator, kernels[best[0]]).set_params(penalty=PENALTIES[best[1]])


def _kernels(estimator: Any) -> list[Any]:
    """Kernels to try: Gaussians of several widths; otherwise what there is."""
    kernel = estimator.get_params(deep=False).get("kernel")
    if isinstance(kernel, RBF):
        return [RBF(gamma=kernel.gamma * factor) for factor in WIDTHS]
    return [kernel]


def _with(estimator: Any, kernel: Any) -> Any:
    settings = estimator.get_params(deep=False)
    return type(estimator)(**(settings if kernel is None else settings | {"kernel": kernel}))


def _path(estimator: Any, data: Data, held_out: Any) -> list[float]:
    """Held-out log-likelihood at every penalty; minus wrong labels, where a model has no probabilities."""
    training, testing = data.take(np.flatnonzero(~held_out)), data.take(np.flatnonzero(held_out))
    known = {label for one in training.labels for label in one}
    testing = testing.take([n for n, one in enumerate(testing.labels) if known.issuperset(one)])
    if "warm_start" in estimator.get_params(deep=False):
        estimator.set_params(warm_start=True)
    values = []
    for penalty in PENALTIES:
        estimator.set_params(penalty=penalty).fit(training.inputs, training.labels)
        if not getattr(estimator, "probabilistic", True):
            values.append(-_wrong(estimator, testing))
            continue
        log_proba = estimator.sequence_log_proba(testing.inputs, testing.labels)
        values.append(float(np.sum(np.maximum(log_proba, -1e6))))
    return values


def _wrong(estimator: Any, data: Data) -> float:
    answers = estimator.predict(data.inputs)
    pairs = zip(answers, data.labels, strict=True)
    return float(sum(a != b for one, truth in pairs for a, b in zip(one, truth, strict=True)))


def _show(console: Console, title: str, kernels: list[Any], scores: Any, best: tuple[int, int]) -> None:
    table = Table("kernel", *(f"λ = {penalty:g}" for penalty in PENALTIES), title=title)
    for row, kernel in enumerate(kernels):
        cells = [f"{value:.4f}" for value in scores[row]]
        if row == best[0]:
            cells[best[1]] = f"[bold]{cells[best[1]]}[/bold]"
        table.add_row("-" if kernel is None else str(kernel), *cells)
    console.print(table)
