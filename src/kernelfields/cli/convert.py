"""``kf convert``: models of CRFsuite to model files of ours, and data from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..compat.convert import convert_model
from ..errors import InputError
from ._data import FORMATS, format_of, read_items
from ._errors import plain_errors
from ._formats import WRITERS

CRFSUITE = b"lCRF"
"""What model files of CRFsuite begin with."""


def convert(
    source: Annotated[Path, typer.Argument(help="A model file of CRFsuite, or sequences.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")],
    data_format: Annotated[
        str | None, typer.Option("--format", help="Of the sequences: conll, jsonl, csv, npz; by the name.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Format to write: conll, jsonl, csv, npz; by the name of the file.")
    ] = None,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="CoNLL columns have no labels in the last one.")
    ] = False,
    encoding: Annotated[str, typer.Option(help="Of CoNLL columns.")] = "utf-8",
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Turn a model that CRFsuite trained into one of kernelfields, or sequences into another format.

    The model gives the same tags and probabilities. Tokens go between conll and jsonl, numbers between csv,
    npz and jsonl, where each position is an object of named numbers.

    Examples: kf convert model.crfsuite -o model.kf, kf convert ner.conll -o ner.jsonl, kf convert
    sensors.csv -o sensors.npz
    """
    with plain_errors(debug):
        kind = None if data_format is None and to is None and out.suffix == ".kf" else _kind(out.name, to)
        if kind is None or _is_crfsuite(source):
            model = convert_model(source, out)
            typer.echo(f"{out}: {len(model.classes_)} labels, {model.n_features_in_} attributes.")
            return
        read = format_of(source.name, data_format)
        items = list(read_items(source, read, labelled=not unlabelled, encoding=encoding))
        if not items:
            raise InputError(f"{source} has no sequences.")
        WRITERS[kind](items, out)
        typer.echo(f"{out}: {len(items)} sequences, {sum(len(item.x) for item in items)} positions.")


def _kind(name: str, given: str | None) -> str:
    """Tell the format to write; unlike those read, a name must say it."""
    ending = name.removesuffix(".gz").rpartition(".")[2].lower()
    if given is None and ending not in (*FORMATS, "json", "tsv"):
        raise InputError(f"{name} does not say the format to write; add --to, one of {', '.join(FORMATS)}.")
    return format_of(name, given)


def _is_crfsuite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(CRFSUITE)) == CRFSUITE
