"""``kf compare``: a panel of models by cross-validation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from ..errors import InputError
from ._console import plain_console
from ._data import Data, read_data
from ._errors import plain_errors
from ._models import MODELS, Choice
from ._panel import PANEL, panel, try_model


def compare(
    data: Annotated[Path, typer.Argument(help="Labelled sequences.")],
    models: Annotated[
        str | None, typer.Option(help="Which, with commas; those of `auto` if not given.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Number of folds.", min=2)] = 5,
    features: Annotated[str | None, typer.Option(help="For tokens: ner, pos, chunking, or a file.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the folds.")] = 0,
    data_format: Annotated[str | None, typer.Option("--format", help="conll, jsonl, csv, npz.")] = None,
    encoding: Annotated[str, typer.Option(help="Of CoNLL columns.")] = "utf-8",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, the last line.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Compare models on the same folds: errors with standard errors, and paired tests against the best.

    {panel} --models takes any of {models}.

    Examples: kf compare sensors.csv, kf compare ner.conll --models crf,perceptron --folds 10
    """
    console = plain_console(stderr=as_json)
    with plain_errors(debug):
        sequences = read_data(data, data_format, encoding=encoding)
        names = models.split(",") if models else panel(sequences)
        if folds > len(sequences.items):
            raise InputError(f"There are {len(sequences.items)} sequences, too few for {folds} folds.")
        rows = cross_validate(names, sequences, Choice(features=features, seed=seed), folds, jobs)
        console.print(_table(rows))
        if as_json:
            typer.echo(json.dumps({"folds": folds, "models": rows}))


compare.__doc__ = str(compare.__doc__).format(panel=PANEL, models=", ".join(MODELS))


def cross_validate(names: list[str], data: Data, choice: Choice, folds: int, jobs: int) -> dict[str, Any]:
    """Fit every model on every fold; differences from the best model are tested sequence by sequence."""
    from joblib import Parallel, delayed

    fold_of = np.random.default_rng(choice.seed).permutation(len(data.items)) % folds
    tasks = [(name, fold) for name in names for fold in range(folds)]
    found = Parallel(n_jobs=jobs)(delayed(_one)(name, data, fold_of == fold, choice) for name, fold in tasks)
    lengths = np.array([len(item.x) for item in data.items])
    errors = {name: np.zeros(len(lengths)) for name in names}
    seconds = dict.fromkeys(names, 0.0)
    for (name, fold), (wrong, spent) in zip(tasks, found, strict=True):
        errors[name][fold_of == fold] = wrong
        seconds[name] += spent / folds
    best = min(names, key=lambda name: errors[name].sum())
    return {name: _row(errors[name], errors[best], lengths, seconds[name]) for name in names}


def _one(name: str, data: Data, testing: Any, choice: Choice) -> tuple[list[int], float]:
    row = try_model(name, data.take(np.flatnonzero(~testing)), data.take(np.flatnonzero(testing)), choice)
    return row["wrong"], row["seconds"]


def _row(wrong: Any, best: Any, lengths: Any, seconds: float) -> dict[str, float]:
    """Error per token with its standard error over sequences, and a paired t-test against the best model."""
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


def _table(rows: dict[str, dict[str, float]]) -> Table:
    table = Table("model", "token error", "± s.e.", "above the best", "p", "seconds a fit")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, r in sorted(rows.items(), key=lambda row: row[1]["token_error"]):
        table.add_row(
            name,
            f"{r['token_error']:.2%}",
            f"{r['standard_error']:.2%}",
            f"{r['above_best']:.2%}",
            f"{r['p_value']:.3f}",
            f"{r['seconds']:.1f}",
        )
    return table
