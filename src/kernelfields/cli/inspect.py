"""``kf inspect``: what is in a model file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ..io.opening import opened_file
from ..report import describe
from ..report.description import Description
from ._console import plain_console
from ._errors import plain_errors
from ._loaded import read_model

MOST_LABELS = 30
"""More do not fit on a screen; --json has them."""


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file, as save writes it.")],
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="How many features or basis functions per label.")
    ] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Show what is in a model file: structure, labels, transitions, strongest features, basis, provenance.

    Basis functions of kernel models come with the sequence and position of the training set, counted
    from 0, where their observation occurs first. The exit code is 2 if the file cannot be read.

    For example:
        kf inspect model.kf
        kf inspect model.kf -n 20
        kf inspect model.kf --json
    """
    with plain_errors(debug):
        found = read_model(model, lambda fitted: describe(fitted, count))
        with opened_file(model) as file:
            size = file.seek(0, os.SEEK_END)  # pipes do not say it
        if as_json:
            typer.echo(json.dumps({"file": str(model), "bytes": size, **found.as_json()}))
            return
        console = plain_console()
        console.print(_summary(found, str(model), size))
        for one in (found, *found.parts):
            if one is not found:
                console.print(_summary(one, "within", None))
            for table in (_trials(one), _transitions(one), _ends(one), _weights(one), _basis(one)):
                if table is not None:
                    console.print(table)


def _summary(found: Description, path: str, size: int | None) -> Table:
    table = Table("", path, title=found.estimator, title_justify="left")
    rows: dict[str, Any] = {
        "structure": found.structure,
        "labels": ", ".join(map(str, found.labels)),
        "settings": found.settings,
        "kernel": found.kernel,
        "templates": None if found.templates is None else ", ".join(found.templates),
        "features": found.n_features,
        "weights that are not zero": found.n_weights,
        "basis functions": found.n_basis,
        "size": None if size is None else f"{size:,} bytes",
        **{name.replace("_", " "): value for name, value in found.certificate.items()},
        **{name.replace("_", " "): value for name, value in found.trust.items()},
        **{name.replace("_", " "): value for name, value in found.provenance.items()},
    }
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, _text(value))
    return table


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _trials(found: Description) -> Table | None:
    """Return the candidates of a structure learner that were fitted, or too large; --json has the others."""
    seen = [trial for trial in found.trials if trial["verdict"] != "not fitted"]
    if not seen:
        return None
    table = Table("round", "candidate", "at most", "gained", "held out", "", title="Candidates")
    table.title_justify = "left"
    for column in table.columns[2:5]:
        column.justify = "right"
    for trial in seen:
        numbers = (trial[name] for name in ("bound", "gain", "held_out"))
        cells = ("" if value is None else f"{value:.4g}" for value in numbers)
        table.add_row(str(trial["round"]), trial["name"], *cells, trial["verdict"])
    return table


def _transitions(found: Description) -> Table | None:
    if found.transitions is None or len(found.labels) > MOST_LABELS:
        return None
    table = Table(
        {"tree": "parent \\ child", "graph": "label \\ neighbour"}.get(found.structure, "from \\ to"),
        *(str(label) for label in found.labels),
        title=f"{found.steps.capitalize()} of label pairs",
    )
    table.title_justify = "left"
    for label, row in zip(found.labels, found.transitions, strict=True):
        table.add_row(str(label), *(f"{value:.2f}" for value in row))
    return table


def _ends(found: Description) -> Table | None:
    if not found.ends or len(found.labels) > MOST_LABELS:
        return None
    named = " and ".join(f"{name} labels" for name in found.ends)
    table = Table("label", *found.ends, title=f"{found.steps.capitalize()} of {named}", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for label, *scores in zip(found.labels, *found.ends.values(), strict=True):
        table.add_row(str(label), *(f"{value:.2f}" for value in scores))
    return table


def _weights(found: Description) -> Table | None:
    groups = found.features
    if not groups:
        return None
    table = Table("label", "feature", found.strength, title="Strongest features", title_justify="left")
    table.columns[2].justify = "right"
    for group in groups:
        for n, one in enumerate(group):
            last = n == len(group) - 1
            label = str(one.label) if n == 0 else ""
            table.add_row(label, one.name, f"{one.weight:.3f}", end_section=last)
    return table


def _basis(found: Description) -> Table | None:
    if not found.basis:
        return None
    table = Table("label", "basis function", "from", "coefficient", title="Strongest basis functions")
    noun = found.structure if found.structure in ("tree", "graph") else "sequence"
    table.title_justify, table.columns[3].justify = "left", "right"
    for group in found.basis:
        for n, one in enumerate(group):
            place = (
                "no observation" if one.sequence < 0 else f"{noun} {one.sequence}, position {one.position}"
            )
            label = str(one.label) if n == 0 else ""
            last = n == len(group) - 1
            table.add_row(label, one.observation, place, f"{one.coefficient:.3f}", end_section=last)
    return table
