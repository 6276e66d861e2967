"""What an experiment is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from .plots import Draw, write_figure
from .results import Outcome, write
from .settings import load_settings

Report = Callable[[str], None]
"""Takes a line that says what is being done."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure from a paper: its data, how to run it, and how to draw it."""

    name: str
    summary: str
    """One line."""
    data: str
    """The data that are needed, in words."""
    settings: type[Any]
    """A frozen dataclass."""
    run: Callable[[Any, Report], Outcome]
    """From settings to what was found."""
    draw: Draw


def reproduce(
    experiment: Experiment,
    folder: Path,
    report: Report,
    *,
    quick: bool = False,
    folds: bool = False,
    settings: Path | None = None,
) -> Outcome:
    """Run an experiment and write result, table and figure into a folder.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    folder : path
        Where to write; made if need be.
    report : callable
        Told in words what is being done.
    quick : bool
        A short version on little data, whose figures mean little.
    folds : bool
        More folds, where an experiment has a version with them.
    settings : path, optional
        A file of settings instead of that in ``settings/``.
    """
    chosen = load_settings(experiment.settings, experiment.name, quick=quick, folds=folds, file=settings)
    started = perf_counter()
    found = experiment.run(chosen, report)
    about = {"quick": quick, "settings": asdict(chosen), "seconds": perf_counter() - started}
    outcome = replace(found, details={**about, **found.details})
    write(outcome, folder)
    note = write_figure(outcome, experiment.draw, folder)
    if note is not None:
        report(note)
    return outcome
