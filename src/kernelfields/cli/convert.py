"""``kf convert``: models of CRFsuite to model files of ours, and data from one format to another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..compat.convert import convert_model
from ..errors import InputError
from ..files.documents import MARKED_WRITERS, marked_items, notes_of, read_marked
from ..files.items import FileData
from ..files.kinds import DOCUMENTS, ending_of, kind_of_name, require_kind
from ..files.reading import read_items
from ..files.writing import WRITERS
from ..io.opening import opened_file
from ._errors import plain_errors, say
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

CRFSUITE = b"lCRF"
"""What model files of CRFsuite begin with."""


def convert(
    source: Annotated[Path, typer.Argument(help="A model file of CRFsuite, or sequences.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")],
    data_format: Format = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="conll, jsonl, csv, npz, brat, doccano, labelstudio or prodigy; by the name of the file."
        ),
    ] = None,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="CoNLL columns have no labels in the last one.")
    ] = False,
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
    """Turn a model that CRFsuite trained into one of kernelfields, or sequences into another format.

    The model gives the same tags and probabilities. Tokens go between conll and jsonl, numbers between csv,
    npz and jsonl, where each position is an object of named numbers. A label that was not observed is _ in
    conll, null in jsonl, empty in csv, NaN or empty in npz. Trees are written as jsonl only. Texts with
    marked spans go between brat, doccano, Label Studio and Prodigy with their offsets, and to conll and jsonl
    as words with IOB2 tags.

    For example:
        kf convert model.crfsuite -o model.kf
        kf convert ner.conll -o ner.jsonl
        kf convert sensors.csv -o sensors.npz
        kf convert notes/ -o notes.jsonl --to prodigy
    """
    with plain_errors(debug):
        model_wanted = data_format is None and to is None and out.suffix == ".kf"
        if model_wanted or _is_crfsuite(source):
            model = convert_model(source, out)
            _say(as_json, out, labels=len(model.classes_), attributes=model.n_features_in_)
            return
        texts = (spans, offsets, labels, types)
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents, *texts)
        given = reading.kind(source)
        kind = _kind(out.name, to, given)
        if given in DOCUMENTS and kind in MARKED_WRITERS:
            documents = list(read_marked(source, given, reading))
            MARKED_WRITERS[kind](documents, out)
            _say(as_json, out, texts=len(documents), spans=sum(len(one.spans or ()) for one in documents))
            return
        items = list(read_items(source, given, reading, labelled=not unlabelled))
        if not items:
            raise InputError(f"{source} has no sequences.")
        for note in notes_of(items):
            say(note)
        items = marked_items(items)
        if not items:
            raise InputError(f"{source} has no marked texts.")
        WRITERS[kind](items, out)
        data = FileData(items, kind)
        _say(as_json, out, **{data.noun: len(items)}, positions=data.n_positions)


def _say(as_json: bool, out: Path, **counts: Any) -> None:
    """Print what was written."""
    words = ", ".join(f"{count} {noun}" for noun, count in counts.items())
    typer.echo(json.dumps({"out": str(out), **counts}) if as_json else f"{out}: {words}.")


def _kind(name: str, to: str | None, given: str) -> str:
    """Tell the format to write; unlike those read, a name must say it."""
    kind = kind_of_name(name) if to is None else require_kind(to)
    if kind is None:
        raise InputError(f"{name} does not say the format to write; add --to, one of {', '.join(WRITERS)}.")
    if to is None and ending_of(name) == "json" and given == "labelstudio":
        return given
    if kind not in WRITERS:
        raise InputError(f"Files of {kind} are only read; choose one of {', '.join(WRITERS)}.")
    return kind


def _is_crfsuite(path: Path) -> bool:
    if path.is_dir():
        return False
    with opened_file(path) as file:
        return file.read(len(CRFSUITE)) == CRFSUITE
