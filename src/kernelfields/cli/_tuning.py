"""Choice of penalty and kernel by data that were not trained on, as the command line shows it."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from ..files.items import FileData
from ..trials.clock import duration
from ..trials.preparing import inner
from ..trials.text_tables import SHOWN, TUNING, tuning_rows
from ..trials.tuning import Tuning
from ..trials.tuning import tune as search
from ._status import StatusLine

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
