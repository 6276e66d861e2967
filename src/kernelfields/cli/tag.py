"""``kf tag``: label sequences with a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..files.folders import files_of
from ._errors import plain_errors
from ._options import (
    MAX_SIZE,
    MISSING,
    Columns,
    Confidence,
    Debug,
    Dense,
    Drop,
    Encoding,
    ErrorAtMost,
    Flat,
    Format,
    Group,
    LabelColumn,
    MaxSize,
    Missing,
    Parents,
    SequenceColumn,
    reading_of,
    table_of,
)
from ._tag_files import tag_files
from ._tagging import STREAM, Promise, Tagging


def tag(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    data: Annotated[
        list[str] | None, typer.Argument(help="Files to label, of sequences or trees; standard input.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Where to write: a file; of several files, a folder.")
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(help="Leave labels less probable than this open.", min=0.0, max=1.0)
    ] = None,
    error_at_most: ErrorAtMost = None,
    confidence: Confidence = None,
    kbest: Annotated[int | None, typer.Option(help="Also print the k best labellings.", min=1)] = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Also print the probability of every label.")
    ] = False,
    allowed: Annotated[
        bool,
        typer.Option("--allowed", help="The last column, or labels, say what is known; _ and null is open."),
    ] = False,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="The last column has labels; it is kept.")
    ] = False,
    data_format: Format = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="Of the output: conll, conllu, jsonl, csv, brat, doccano, labelstudio, prodigy, gff3, bed; "
            "as -o ends, or as the input."
        ),
    ] = None,
    background: Annotated[
        str | None, typer.Option(help="Of gff3 and bed: labels that are no features, as in N,O; O.")
    ] = None,
    encoding: Encoding = "utf-8",
    missing: Missing = MISSING,
    columns: Columns = None,
    sequence_column: SequenceColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    parents: Parents = None,
    flat: Flat = False,
    group: Group = None,
    dense: Dense = None,
    max_size: MaxSize = MAX_SIZE,
    jobs: Annotated[int | None, typer.Option(help="Files at a time; 1.", min=1)] = None,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers share several files.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON lines, as --to jsonl does.")] = False,
    debug: Debug = False,
) -> None:
    """Label sequences or trees as they come, with probabilities; what was read is kept beside the labels.

    The standard input is answered sequence by sequence, as soon as one is complete. Models that learn no
    probabilities (ssvm, perceptron) give a softmax of their scores, and say so. Answers to several files go
    to files of the same names in a folder.

    For example:
        kf tag ner.kf news.conll
        cat news.conll | kf tag ner.kf --abstain 0.9
        kf tag ner.kf news.jsonl --kbest 3 -o tagged.jsonl
        kf tag ner.kf news.conll --error-at-most 0.05
        kf tag ner.kf news/*.conll -o tagged --jobs 2
        kf tag ner.kf news.txt --format text -o news.jsonl
        kf tag genes.kf genome.fa -o genes.gff3
    """
    with plain_errors(debug):
        limits = (columns, max_size, parents)
        table = table_of(sequence_column, label_column, drop)
        reading = reading_of(data_format, encoding, missing, *limits, group=group, dense=dense, table=table)
        promise = Promise(error_at_most, confidence)
        if as_json and to not in (None, "jsonl"):
            raise InputError(f"--json writes JSON lines, but --to says {to}.")
        to = "jsonl" if as_json else to
        options = (abstain, kbest, marginals, allowed, labelled, flat, promise, background)
        asked = Tagging(model, reading, to, *options)
        data = [str(file) for file in files_of(map(Path, data or []), reading)]
        one_folder = len(data) == 1 and Path(data[0]).is_dir()  # of brat
        if data and not one_folder and (len(data) > 1 or (out is not None and out.is_dir())):
            tag_files(asked, data, out, jobs, dask)
            return
        for option, given in (("jobs", jobs), ("dask", dask)):
            if given is not None:
                raise InputError(f"--{option} is for several files.")
        asked.run(data[0] if data else STREAM, out)
