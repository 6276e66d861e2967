"""Choice of penalty and kernel by data that were not trained on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from ..files.items import FileData
from ..kernels import RBF
from ._bounded import End, fit_within

FOLDS = 5
PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
WIDTHS = (0.25, 1.0, 4.0)
"""Factors of γ."""

Division = tuple[FileData, FileData]
"""What to train on, what to test on."""


class _Path(NamedTuple):
    """The scores of all penalties on one split of the data."""

    scores: list[float]
    complete: bool
    """Whether Ctrl-C did not end it."""
    warnings: list[str]


def tune(
    console: Console, name: str, estimator: Any, data: FileData, dev: FileData | None, jobs: int, seed: int
) -> Any:
    """Return the model with the settings of the best likelihood on other data: those given, or five folds.

    Models without probabilities are chosen by their errors.

    One job goes through all penalties from the largest to the smallest for one division and one kernel, each
    fit starting where the last one ended if the model can do that. Ctrl-C ends it; complete folds count.
    """
    if "penalty" not in estimator.get_params(deep=False):
        raise InputError(f"{name} has no penalty to tune.")
    divisions = [(data, dev)] if dev is not None else _folds(data, seed)
    kernels = _kernels(estimator)
    tasks = [(_with(estimator, kernel), *division) for division in divisions for kernel in kernels]
    paths: list[list[float]] = []
    warned: list[str] = []
    try:
        for path in _in_turn(tasks, jobs):
            if not path.complete:
                raise KeyboardInterrupt
            paths.append(path.scores)
            warned += path.warnings
    except KeyboardInterrupt:
        if len(paths) < len(kernels):
            raise
    complete = len(paths) // len(kernels)
    if complete < len(divisions):
        console.print(f"Interrupted: settings are chosen by {complete} of {len(divisions)} folds.")
    scores = (
        np.array(paths[: complete * len(kernels)]).reshape(complete, len(kernels), len(PENALTIES)).sum(axis=0)
    )
    positions = sum(len(testing.known) for _, testing in divisions[:complete])
    best = divmod(int(scores.argmax()), len(PENALTIES))
    if warned:
        console.print(f"{len(warned)} warnings on the way; the first: {warned[0]}")
    _show(console, _title(estimator, dev), kernels, scores / max(positions, 1), best)
    return _with(estimator, kernels[best[0]]).set_params(penalty=PENALTIES[best[1]])


def _folds(data: FileData, seed: int) -> list[Division]:
    if len(data.items) < FOLDS:
        raise InputError(f"--tune needs at least {FOLDS} {data.noun}; there are {len(data.items)}.")
    fold_of = np.random.default_rng(seed).permutation(len(data.items)) % FOLDS
    parts = [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(FOLDS)]
    return [(data.take(training), data.take(testing)) for training, testing in parts]


def _in_turn(tasks: list[tuple[Any, FileData, FileData]], jobs: int) -> Iterator[_Path]:
    if jobs == 1:
        yield from (_path(*task) for task in tasks)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=jobs, return_as="generator")(delayed(_path)(*task) for task in tasks)


def _title(estimator: Any, dev: FileData | None) -> str:
    likely = getattr(estimator, "probabilistic", True)
    what = "held-out log-likelihood per position" if likely else "minus the share of wrong labels held out"
    return f"{what}, {'cross-validated' if dev is None else 'on the data of --dev'}"


def _kernels(estimator: Any) -> list[Any]:
    """Return the kernels to try: Gaussians of several widths; otherwise the kernel there is."""
    kernel = estimator.get_params(deep=False).get("kernel")
    if isinstance(kernel, RBF):
        return [RBF(gamma=kernel.inverse_width * factor) for factor in WIDTHS]
    return [kernel]


def _with(estimator: Any, kernel: Any) -> Any:
    settings = estimator.get_params(deep=False)
    return type(estimator)(**(settings if kernel is None else settings | {"kernel": kernel}))


def _path(estimator: Any, training: FileData, testing: FileData) -> _Path:
    """Return held-out log-likelihoods by penalty; minus wrong labels if a model has no probabilities."""
    known = {*training.known, None}
    testing = testing.take([n for n, one in enumerate(testing.labels) if known.issuperset(one)])
    if "warm_start" in estimator.get_params(deep=False):
        estimator.set_params(warm_start=True)
    values: list[float] = []
    warned: list[str] = []
    for penalty in PENALTIES:
        done = fit_within(estimator.set_params(penalty=penalty), training.inputs, training.labels, None)
        if done.end is End.INTERRUPTED:
            return _Path(values, complete=False, warnings=warned)
        warned += done.warnings
        if not getattr(estimator, "probabilistic", True):
            values.append(-_wrong(estimator, testing))
            continue
        log_proba = estimator.sequence_log_proba(testing.inputs, testing.labels)
        values.append(float(np.sum(np.maximum(log_proba, -1e6))))
    return _Path(values, complete=True, warnings=warned)


def _wrong(estimator: Any, data: FileData) -> float:
    pairs = zip(estimator.predict(data.inputs), data.labels, strict=True)
    return float(
        sum(a != b for one, truth in pairs for a, b in zip(one, truth, strict=True) if b is not None)
    )


def _show(console: Console, title: str, kernels: list[Any], scores: Any, best: tuple[int, int]) -> None:
    table = Table("kernel", *(f"λ = {penalty:g}" for penalty in PENALTIES), title=title)
    for row, kernel in enumerate(kernels):
        cells = [
            Text(f"{value:.4f}", "bold" if (row, c) == best else "") for c, value in enumerate(scores[row])
        ]
        name = f"rbf, γ = {kernel.gamma:.3g}" if isinstance(kernel, RBF) else str(kernel or "-")
        table.add_row(name, *cells)
    console.print(table)
