"""``python -m experiments``: the papers' tables and figures, ours beside theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kernelfields.cli._console import plain_console, printable
from kernelfields.cli._errors import plain_errors
from kernelfields.cli._interrupts import ending
from kernelfields.cli._lazy import as_app
from kernelfields.cli._session import session
from kernelfields.errors import InputError

from . import (
    EXPERIMENTS,
    Claim,
    Experiment,
    Outcome,
    claims_of,
    columns_of,
    last_result,
    reproduce,
    text_of,
)

PROGRAM = "python -m experiments"
RESULTS = Path("results")


def experiments(
    name: Annotated[str | None, typer.Argument(help="Which experiment; without it, all are listed.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A short version on little data.")] = False,
    folds: Annotated[bool, typer.Option("--folds", help="letters: train on every fold in turn.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write, results/NAME by default; without a name, where to look."),
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(help="A file of settings instead of the one that comes with it.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as one JSON object, the last line.")
    ] = False,
) -> None:
    """Run an experiment of the papers and compare; without a name, list them.

    Writes result.json, table.md and figure.png. Claims that do not hold are printed as such; the exit
    code is 0 nevertheless, and 2 if an experiment cannot be run.

    For example:
        python -m experiments
        python -m experiments letters
        python -m experiments ner-table1 --quick --json
    """
    console = plain_console(stderr=as_json)
    with ending(), session(), plain_errors():
        if name is None:
            listing = _list(out or RESULTS)
            typer.echo(json.dumps(listing)) if as_json else console.print(_listing_table(listing))
            return
        experiment = _find(name)
        folder = out or RESULTS / name
        outcome = _run(console, experiment, folder, quick, folds, settings)
        _show(console, outcome, folder, quick)
        if as_json:
            typer.echo(json.dumps(outcome.as_json()))


def _find(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise InputError(f"There is no experiment {name!r}; choose one of {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]


def _run(
    console: Console, experiment: Experiment, folder: Path, quick: bool, folds: bool, settings: Path | None
) -> Outcome:
    """Run with a line that says what is being done; without a terminal, with many lines."""
    if not console.is_terminal:
        return reproduce(
            experiment,
            folder,
            lambda line: console.print(line),
            quick=quick,
            folds=folds,
            settings=settings,
        )
    with console.status(Text(experiment.summary)) as status:
        return reproduce(
            experiment,
            folder,
            lambda line: status.update(Text(printable(line))),
            quick=quick,
            folds=folds,
            settings=settings,
        )


def _show(console: Console, outcome: Outcome, folder: Path, quick: bool) -> None:
    columns = columns_of(outcome.rows)
    table = Table(*columns, title=outcome.experiment, title_justify="left")
    for row in outcome.rows:
        table.add_row(*(text_of(row.get(column)) for column in columns))
    console.print(table, _claims_table(outcome.claims))
    for note in outcome.notes:
        console.print(note)
    if quick:
        console.print("This was the short version: whether claims hold in it says nothing.")
    console.print(f"Written to {folder}.")


def _claims_table(claims: Sequence[Claim]) -> Table:
    table = Table("claim", "here", "paper", "bound", "holds", title="Claims", title_justify="left")
    for claim in claims:
        holds = Text("yes") if claim.holds else Text("no", style="bold red")
        table.add_row(claim.name, text_of(claim.value), text_of(claim.paper), claim.bound, holds)
    return table


def _list(folder: Path) -> list[dict[str, Any]]:
    return [
        {
            "experiment": name,
            "summary": experiment.summary,
            "data": experiment.data,
            "last": last_result(folder / name),
        }
        for name, experiment in EXPERIMENTS.items()
    ]


def _listing_table(listing: Sequence[dict[str, Any]]) -> Table:
    table = Table("name", "what", "data", "last result", title=f"{PROGRAM} NAME", title_justify="left")
    for entry in listing:
        cells = entry["experiment"], entry["summary"], entry["data"], _last(entry["last"])
        table.add_row(*cells)
    return table


def _last(result: dict[str, Any] | None) -> str:
    if result is None:
        return "none yet"
    lines = [
        f"{claim.name} {text_of(claim.value)} ({claim.bound}: {'holds' if claim.holds else 'does not hold'})"
        for claim in claims_of(result)
    ]
    return "\n".join((["quick:"] if result["details"].get("quick") else []) + lines)


app = as_app("experiments", experiments, "Run an experiment of the papers; without a name, list them.")

if __name__ == "__main__":
    app(prog_name=PROGRAM)
