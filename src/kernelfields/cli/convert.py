"""``kf convert``: models of CRFsuite to model files of ours, and data from one format to another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..compat.convert import convert_model
from ..errors import InputError
from ..files.documents import MARKED_WRITERS, marked_items, notes_of, read_marked
from ..files.folders import files_of
from ..files.items import FileData
from ..files.kinds import DOCUMENTS, ending_of, kind_of_name, require_kind
from ..files.reading import Reading, read_items, require_alike
from ..files.writing import WRITERS
from ..io.opening import opened_file
from ..io.replacing import replacing_together
from ._errors import plain_errors, say
from ._options import (
    MAX_SIZE,
    MISSING,
    AsJson,
    Columns,
    Debug,
    Drop,
    Encoding,
    Format,
    LabelColumn,
    Labels,
    MaxSize,
    Missing,
    Offsets,
    Parents,
    SequenceColumn,
    Spans,
    Types,
    reading_of,
    table_of,
)
from ._tag_files import answer_name, require_new

CRFSUITE = b"lCRF"
"""What model files of CRFsuite begin with."""


def convert(
    source: Annotated[
        list[Path], typer.Argument(help="A model file of CRFsuite; or sequences, one file or more.")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The file to write, or, with --to, a folder for several."),
    ],
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
    sequence_column: SequenceColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
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
    as words with IOB2 tags. Several files become one, or files of the same names in a folder.

    For example:
        kf convert model.crfsuite -o model.kf
        kf convert ner.conll -o ner.jsonl
        kf convert sensors.csv -o sensors.npz
        kf convert notes/ -o notes.jsonl --to prodigy
        kf convert jan.conll feb.conll -o both.jsonl
        kf convert raw/*.conll -o converted --to jsonl
    """
    with plain_errors(debug):
        model_wanted = data_format is None and to is None and out.suffix == ".kf"
        if model_wanted or _is_crfsuite(source[0]):
            _require_one(source)
            model = convert_model(source[0], out)
            _say(as_json, out, labels=len(model.classes_), attributes=model.n_features_in_)
            return
        texts = (spans, offsets, labels, types)
        table = table_of(sequence_column, label_column, drop)
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents, *texts, table=table)
        every = files_of(source, reading)
        written = []
        with replacing_together():
            for files, target in _targets(every, out, to):
                written.append((target, _converted(files, target, to, reading, labelled=not unlabelled)))
        for target, counts in written:
            _say(as_json, target, **counts)


def _targets(files: list[Path], out: Path, to: str | None) -> list[tuple[list[Path], Path]]:
    """Return what becomes one file: all of them or, where a folder is to be written, each by itself."""
    together = to == "brat" or (kind_of_name(out.name) is not None and not out.is_dir())
    if together or (len(files) == 1 and not out.is_dir()):
        return [(files, out)]
    if to is None:
        raise InputError(f"{out} is a folder, which does not say the format to write; add --to.")
    answers = [out / answer_name(one, to) for one in files]
    require_new(list(map(str, files)), answers)
    out.mkdir(parents=True, exist_ok=True)
    return [([one], answer) for one, answer in zip(files, answers, strict=True)]


def _converted(
    files: list[Path], out: Path, to: str | None, reading: Reading, *, labelled: bool
) -> dict[str, int]:
    """Write what some files hold to one; return how much that is."""
    given = [reading.kind(one) for one in files]
    kind = _kind(out.name, to, given[0])
    if kind in MARKED_WRITERS and all(one in DOCUMENTS for one in given):
        parts = (read_marked(one, its, reading) for one, its in zip(files, given, strict=True))
        documents = [document for part in parts for document in part]
        MARKED_WRITERS[kind](documents, out)
        return {"texts": len(documents), "spans": sum(len(one.spans or ()) for one in documents)}
    data = [
        FileData(list(read_items(one, its, reading, labelled=labelled)), kind)
        for one, its in zip(files, given, strict=True)
    ]
    for path, one in zip(files, data, strict=True):
        if not one.items:
            raise InputError(f"{path} has no sequences.")
        require_alike(data[0], files[0], one, path)
    items = [item for one in data for item in one.items]
    for note in notes_of(items):
        say(note)
    items = marked_items(items)
    if not items:
        raise InputError(f"{files[0]} has no marked texts.")
    WRITERS[kind](items, out)
    whole = FileData(items, kind)
    return {whole.noun: len(items), "positions": whole.n_positions}


def _require_one(source: list[Path]) -> None:
    if len(source) > 1:
        raise InputError("Models are converted one at a time.")


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
