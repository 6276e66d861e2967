"""A fit with a live line, and the state that it keeps on disk."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from ..errors import InputError
from ..fitting.run import heeds
from ..trials.preparing import inner, prefix_of
from ._progress import LiveLine


class ShownFit(NamedTuple):
    """A model, and how its training went."""

    model: Any
    seconds: float
    notes: list[str]
    """What was warned about."""


def fit_shown(
    console: Console, estimator: Any, X: Any, y: Any, judge: Callable[[Any], float] | None
) -> ShownFit:
    """Fit with a live line; ``judge`` gives the error of a model on held-out data."""
    return shown(console, estimator, lambda: estimator.fit(X, y), judge)


def shown(
    console: Console, estimator: Any, fit: Callable[[], Any], judge: Callable[[Any], float] | None
) -> ShownFit:
    """Let an estimator fit with a live line."""
    started = time.perf_counter()
    settings, key = inner(estimator).get_params(deep=False), f"{prefix_of(estimator)}run__callback"
    watched = heeds(inner(estimator), "callback")
    # Drafts of a model inside a pipeline cannot judge sequences as they were before it.
    line = LiveLine(console, settings.get("tol"), judge if inner(estimator) is estimator else None)
    with warnings.catch_warnings(record=True) as caught, line:
        warnings.simplefilter("always")
        if watched:
            estimator.set_params(**{key: line})
        fit()
    if watched:
        estimator.set_params(**{key: None})
    return ShownFit(estimator, time.perf_counter() - started, [str(w.message) for w in caught])


def require_folder(out: Path) -> None:
    """Refuse a place where no file can be written."""
    if out.is_dir():
        raise InputError(f"{out} cannot be written: it is a folder.")
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out} cannot be written: there is no folder {out.parent}.")


class Keeping(NamedTuple):
    """How the state of training is kept."""

    folder: Path | None
    seconds: float
    resume: bool


def set_checkpoint(estimator: Any, name: str, keep: Keeping) -> None:
    """Let the search keep its state in a file of a folder."""
    folder, seconds, resume = keep
    if folder is None:
        if resume:
            raise InputError("--resume needs --checkpoint FOLDER.")
        return
    estimator = inner(estimator)
    if not heeds(estimator, "checkpoint"):
        raise InputError(f"{name} keeps no checkpoints; crf and kernel-crf do.")
    file = folder / f"{name}.checkpoint"
    if file.exists() and not resume:
        raise InputError(f"{file} is there from an earlier run: add --resume to go on, or remove it.")
    folder.mkdir(parents=True, exist_ok=True)
    estimator.set_params(run__checkpoint=file, run__checkpoint_seconds=seconds)
