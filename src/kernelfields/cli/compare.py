"""``kf compare``: a panel of models by cross-validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.table import Table

from ..arrays import Array
from ..errors import InputError
from ..files.items import FileData
from ..files.reading import note_of, read_data
from ._bounded import End
from ._console import plain_console
from ._errors import INTERRUPTED, plain_errors
from ._models import MODELS, Choice
from ._options import (
    MAX_SIZE,
    MISSING,
    AsJson,
    Columns,
    Debug,
    Encoding,
    Format,
    Labels,
    MaxSize,
    Missing,
    Offsets,
    Parents,
    Spans,
    Types,
    reading_of,
)
from ._panel import PANEL, SECONDS, PanelTrial, in_turn, panel, require_options
from ._structures import StructureName, shaped


class ComparisonLimits(NamedTuple):
    """Limits on the time and the parallel jobs of a comparison."""

    seconds: float
    jobs: int


def compare(
    data: Annotated[Path, typer.Argument(help="Labelled sequences or trees.")],
    models: Annotated[
        str | None, typer.Option(help="Which, with commas; those of `auto` if not given.")
    ] = None,
    structure: StructureName = None,
    folds: Annotated[int, typer.Option(help="Number of folds.", min=2)] = 5,
    features: Annotated[str | None, typer.Option(help="For tokens: ner, pos, chunking, or a file.")] = None,
    jobs: Annotated[
        int, typer.Option(help="Number of fits at a time, each in a separate process.", min=1)
    ] = 1,
    seed: Annotated[int, typer.Option(help="Of the folds.", min=0)] = 0,
    seconds: Annotated[float, typer.Option(help="Time limit of every fit.", min=0.0)] = SECONDS,
    data_format: Format = None,
    encoding: Encoding = "utf-8",
    missing: Missing = MISSING,
    columns: Columns = None,
    parents: Parents = None,
    spans: Spans = "refuse",
    offsets: Offsets = "characters",
    labels: Labels = None,
    types: Types = None,
    max_size: MaxSize = MAX_SIZE,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Compare models on the same folds: errors with standard errors, and paired tests against the best.

    {panel} --models takes any of {models}. Every model is shown when it is done; Ctrl-C compares those
    that are.

    For example:
        kf compare sensors.csv
        kf compare ner.conll --models crf,perceptron --folds 10
    """
    console = plain_console(stderr=as_json)
    with plain_errors(debug):
        texts = (spans, offsets, labels, types)
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents, *texts)
        sequences = shaped(read_data(data, reading), structure)
        note = note_of(sequences, reading)
        if note is not None:
            console.print(note)
        names = list(dict.fromkeys(models.split(","))) if models else panel(sequences)
        choice = Choice(features=features, seed=seed, structure=structure)
        require_options(names, choice, sequences)
        if folds > len(sequences.items):
            raise InputError(f"There are {len(sequences.items)} {sequences.noun}, too few for {folds} folds.")
        finished: dict[str, ComparedModel] = {}
        interrupted = False
        try:
            found = cross_validate(
                console.print, names, sequences, choice, folds, ComparisonLimits(seconds, jobs)
            )
            for name, one in found:
                finished[name] = one
                error = one.wrong.sum() / len(sequences.known)
                console.print(f"{name}: {error:.2%} wrong, {one.seconds:.1f} s a fit")
        except KeyboardInterrupt:
            if not finished:
                raise
            interrupted = True
            left = ", ".join(name for name in names if name not in finished)
            console.print(f"Interrupted; without {left}.")
        if not finished:
            raise InputError("None of these models takes these data.")
        rows = _rows(finished, sequences)
        console.print(_table(rows))
        if as_json:
            typer.echo(json.dumps({"folds": folds, "models": rows}))
        if interrupted:
            raise typer.Exit(INTERRUPTED)


compare.__doc__ = str(compare.__doc__).format(panel=PANEL, models=", ".join(MODELS))


class ComparedModel(NamedTuple):
    """The results of one model on all folds."""

    wrong: Array
    """Wrong labels of every sequence."""
    seconds: float
    """Of a fit, on average."""
    note: str


def cross_validate(
    say: Callable[[str], Any],
    names: list[str],
    data: FileData,
    choice: Choice,
    folds: int,
    limits: ComparisonLimits,
) -> Iterator[tuple[str, ComparedModel]]:
    """Fit every model on every fold, and yield each model when all its folds are done."""
    fold_of = np.random.default_rng(choice.seed).permutation(len(data.items)) % folds
    divisions = [
        (data.take(np.flatnonzero(fold_of != fold)), data.take(np.flatnonzero(fold_of == fold)))
        for fold in range(folds)
    ]
    tasks = [(name, *division, choice, limits.seconds) for name in names for division in divisions]
    trials: list[PanelTrial] = []
    for trial in in_turn(tasks, limits.jobs):
        trials.append(trial)
        if trial.end is End.INTERRUPTED:
            raise KeyboardInterrupt
        if len(trials) < folds:
            continue
        refused = next((one.refused for one in trials if one.refused is not None), None)
        if refused is not None:
            say(f"{trial.name} was left out: {refused}")
        else:
            wrong = np.zeros(len(data.items))
            for fold, one in enumerate(trials):
                wrong[fold_of == fold] = one.wrong
            note = next((one.note for one in trials if one.note), "")
            yield trial.name, ComparedModel(wrong, sum(one.seconds for one in trials) / folds, note)
        trials = []


def _rows(finished: dict[str, ComparedModel], data: FileData) -> dict[str, Any]:
    """Return the scores of all models; differences from the best are tested sequence by sequence."""
    observed = np.array([sum(label is not None for label in labels) for labels in data.labels])
    best = min(finished.values(), key=lambda one: one.wrong.sum())
    return {
        name: _row(one.wrong, best.wrong, observed, one.seconds) | {"note": one.note}
        for name, one in finished.items()
    }


def _row(wrong: Any, best: Any, lengths: Any, seconds: float) -> dict[str, Any]:
    """Return the error per token, its standard error over sequences, and a paired t-test against the best."""
    from scipy.stats import ttest_rel

    total = lengths.sum()
    rate = wrong.sum() / total
    spread = float(np.sqrt(len(wrong) * np.var(wrong - rate * lengths, ddof=1)) / total)
    same = bool((wrong == best).all())
    return {
        "token_error": float(rate),
        "standard_error": spread,
        "above_best": float((wrong - best).sum() / total),
        "p_value": 1.0 if same else float(ttest_rel(wrong, best).pvalue),
        "seconds": seconds,
    }


def _table(rows: dict[str, Any]) -> Table:
    table = Table("model", "token error", "± s.e.", "above the best", "p", "seconds a fit", "note")
    table.columns[0].no_wrap = True
    for column in table.columns[1:6]:
        column.justify = "right"
    for name, r in sorted(rows.items(), key=lambda row: row[1]["token_error"]):
        table.add_row(
            name,
            f"{r['token_error']:.2%}",
            f"{r['standard_error']:.2%}",
            f"{r['above_best']:.2%}",
            f"{r['p_value']:.3f}",
            f"{r['seconds']:.1f}",
            r["note"],
        )
    return table
