"""``kf compare``: a panel of models by cross-validation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..errors import InputError
from ..files.items import FileData
from ..files.reading import note_of, read_files
from ..trials.clock import BudgetClock, budget_seconds
from ..trials.comparing import COMPARISON_BUDGET, Comparison, compared
from ..trials.model_race import Contestant
from ..trials.splits import TrialSequences
from ..trials.text_tables import COMPARISON, comparison_rows
from ._completion import several_models
from ._console import plain_console
from ._errors import plain_errors
from ._interrupts import INTERRUPTED
from ._models import MODELS, Choice, preparation_for
from ._options import (
    MAX_SIZE,
    MISSING,
    AsJson,
    Budget,
    Columns,
    Debug,
    DecoderName,
    Drop,
    Encoding,
    Format,
    Group,
    LabelColumn,
    Labels,
    MaxSize,
    Missing,
    Offsets,
    Parents,
    Scale,
    SequenceColumn,
    Spans,
    Types,
    Window,
    reading_of,
    table_of,
)
from ._panel import PANEL, contestants_of, panel, require_options
from ._status import StatusLine
from ._structures import StructureName, shaped
from ._tag_rules import broken_note


def compare(
    data: Annotated[list[Path], typer.Argument(help="Labelled sequences or trees, one file or more.")],
    models: Annotated[
        str | None,
        typer.Option(autocompletion=several_models, help="Which, with commas; those of `auto` if not given."),
    ] = None,
    structure: StructureName = None,
    folds: Annotated[int, typer.Option(help="Number of folds.", min=2)] = 5,
    features: Annotated[
        str | None, typer.Option(help="For tokens: ner, pos, chunking, letters, or a file.")
    ] = None,
    scale: Scale = None,
    window: Window = None,
    decoder: DecoderName = None,
    jobs: Annotated[
        int, typer.Option(help="Number of fits at a time, each in a separate process.", min=1)
    ] = 1,
    seed: Annotated[int, typer.Option(help="Of the folds.", min=0)] = 0,
    budget: Budget = COMPARISON_BUDGET,
    data_format: Format = None,
    encoding: Encoding = "utf-8",
    missing: Missing = MISSING,
    columns: Columns = None,
    sequence_column: SequenceColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    parents: Parents = None,
    spans: Spans = "refuse",
    offsets: Offsets = "characters",
    labels: Labels = None,
    types: Types = None,
    group: Group = None,
    max_size: MaxSize = MAX_SIZE,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Compare models on the same folds: errors with standard errors, and paired tests against the best.

    {panel} --models takes any of {models}. All models are fitted to the first fold, then to the next; where
    the time is not going to suffice, the worst so far are left out first. Ctrl-C, and the end of the budget,
    compare by the folds that are complete.

    For example:
        kf compare sensors.csv
        kf compare ner.conll --models crf,perceptron --folds 10
    """
    console = plain_console(stderr=as_json)
    with plain_errors(debug):
        texts = (spans, offsets, labels, types, group)
        table = table_of(sequence_column, label_column, drop)
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents, *texts, table=table)
        sequences = shaped(read_files(data, reading), structure)
        note = note_of(sequences, reading)
        if note is not None:
            console.print(note)
        broken = broken_note(sequences)
        if broken is not None:
            console.print(broken)
        names = list(dict.fromkeys(models.split(","))) if models else panel(sequences)
        choice = Choice(
            features=features, seed=seed, structure=structure, scale=scale, window=window, decoder=decoder
        )
        require_options(names, choice, sequences)
        if folds > len(sequences.items):
            raise InputError(f"There are {len(sequences.items)} {sequences.noun}, too few for {folds} folds.")
        contestants, refused = contestants_of(names, sequences, sequences.inputs, choice)
        if not contestants:
            raise InputError("None of these models takes these data.")
        told = preparation_for(names[0], sequences, choice.fitting(names[0])).told
        if told is not None:
            console.print(told)
        limit = budget_seconds(budget)
        found = _race(console, contestants, sequences, folds, seed, limit, jobs)
        for name, reason in {**refused, **found.refused}.items():
            console.print(f"{name} was left out: {reason}")
        if found.interrupted:
            left = [one.name for one in contestants if one.name not in found.models]
            console.print("Interrupted" + (f"; without {', '.join(left)}." if left else "."))
        console.print(_table(found))
        for name, one in found.models.items():
            if one.note:
                console.print(f"{name}: {one.note}.")
        for note in found.notes:
            console.print(note)
        if as_json:
            rows = {name: row._asdict() for name, row in found.models.items()}
            typer.echo(json.dumps({"folds": folds, "models": rows, "notes": found.notes}))
        if found.interrupted:
            raise typer.Exit(INTERRUPTED)


compare.__doc__ = str(compare.__doc__).format(panel=PANEL, models=", ".join(MODELS))


def _race(
    console: Console,
    contestants: list[Contestant],
    data: FileData,
    folds: int,
    seed: int,
    budget: float,
    jobs: int,
) -> Comparison:
    sequences = TrialSequences(data.inputs, data.labels, len(data.items))
    splits = sequences.splits(folds, data.groups, seed)
    with StatusLine(console) as line:
        return compared(contestants, sequences, splits, BudgetClock(budget), jobs, line)


def _table(found: Comparison) -> Table:
    """Return the numbers, for which 80 columns suffice; notes stand below."""
    table, rows = Table(*COMPARISON[:-1]), [row[:-1] for row in comparison_rows(found.models)]
    table.columns[0].no_wrap = True
    for column, cells in zip(table.columns[1:], list(zip(*rows, strict=True))[1:], strict=True):
        column.justify = "right"
        column.min_width = max(len(word) for cell in cells for word in cell.split())
    for row in rows:
        table.add_row(*row)
    return table
