"""Options that several commands have, written once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..files.reading import Reading
from ..files.tagged_text import RULES
from ..io.conllu import COLUMNS
from ..io.npz import LIMIT
from ..io.table_columns import USUAL, TableColumns
from ..io.text_documents import OFFSETS
from ._completion import formats, starting

GIGABYTE = 2**30

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        autocompletion=formats,
        help="conll, jsonl, csv, npz, parquet, brat, doccano, labelstudio, prodigy, text, fasta, pssm, hhm, "
        "stockholm; if the file does not tell.",
    ),
]
Encoding = Annotated[str, typer.Option(help="Of CoNLL columns.")]
Missing = Annotated[
    str, typer.Option(help="In CoNLL columns, the label of tokens whose label was not observed; '' for none.")
]
Columns = Annotated[
    str | None,
    typer.Option(help="CoNLL columns to take, the label last, as in 2,4, or form,upos in CoNLL-U."),
]
Parents = Annotated[
    int | None,
    typer.Option(help="The CoNLL column with the number of a token's parent, 0 for a root: trees.", min=1),
]
Flat = Annotated[bool, typer.Option("--flat", help="Leave parents or edges out: take all for sequences.")]
MaxSize = Annotated[float, typer.Option(help="Gigabytes that the arrays of an .npz may take.", min=0.0)]
ErrorAtMost = Annotated[
    float | None,
    typer.Option(
        help="Of calibrated models: leave labels open so that at most this share of the others is wrong.",
        min=0.0,
        max=1.0,
    ),
]
Confidence = Annotated[
    float | None, typer.Option(help="How surely --error-at-most is to hold; 0.95.", min=0.0, max=1.0)
]
Budget = Annotated[
    str,
    typer.Option(
        help="Time for choosing, such as 30s, 2m or 1h; the last fit comes after it.",
        rich_help_panel="Options",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        autocompletion=starting(lambda: ("sequence", "columns", "none")),
        help="Of numbers: sequence (each by itself), columns, or none; as the data ask for it.",
        rich_help_panel="Measured numbers",
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        help="Rows seen together: 31, 7:5 for seven rows five apart, or none; as the data ask for it.",
        rich_help_panel="Measured numbers",
    ),
]
DecoderName = Annotated[
    str | None,
    typer.Option(
        "--decoder",
        autocompletion=starting(lambda: ("viterbi", "posterior")),
        help="viterbi, the best labelling, or posterior, the best label of every position.",
        rich_help_panel="Measured numbers",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        help="The column of a table, key of JSON lines or comment of sentences that says what a sequence "
        "belongs to, a person say: it is no feature, and groups stay together in folds."
    ),
]
Dense = Annotated[
    str | None,
    typer.Option(
        help="Numbers of every token, such as embeddings: a file .npy or .npz with a row for each, or an "
        "ending, as in .npy, of the file beside each file of tokens.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, the last line.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
Spans = Annotated[
    str,
    typer.Option(help="Of spans that cut words, overlap or have gaps: refuse the file, mend or drop them."),
]
Offsets = Annotated[str, typer.Option(help="What offsets of doccano count: characters or utf-16.")]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", help="Labels of a FASTA file or of profiles: FASTA, a letter each, or GFF3."),
]
Types = Annotated[str | None, typer.Option(help="Types of GFF3 features that are labels, as in CDS,tRNA.")]
SequenceColumn = Annotated[
    str | None,
    typer.Option(
        help="The column of a table that says which sequence a row belongs to; sequence.",
        rich_help_panel="Columns of tables",
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(help="The column of labels of a table; label.", rich_help_panel="Columns of tables"),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns of a table that are no features, as in time,notes; may be repeated.",
        rich_help_panel="Columns of tables",
    ),
]
MISSING = "_"
MAX_SIZE = LIMIT / GIGABYTE


def reading_of(
    data_format: str | None,
    encoding: str,
    missing: str,
    columns: str | None,
    max_size: float,
    parents: int | None = None,
    spans: str = "refuse",
    offsets: str = "characters",
    labels: Path | None = None,
    types: str | None = None,
    group: str | None = None,
    dense: str | None = None,
    table: TableColumns = USUAL,
) -> Reading:
    """Return how files are to be read, by the options above."""
    for option, value, known in (("spans", spans, RULES), ("offsets", offsets, OFFSETS)):
        if value not in known:
            raise InputError(f"--{option} is {value!r}; it must be one of {', '.join(known)}.")
    if max_size != max_size:
        raise InputError("--max-size is nan; it must be a number of gigabytes.")
    size, kinds = (
        int(min(max_size * GIGABYTE, sys.maxsize)),
        None if types is None else tuple(types.split(",")),
    )
    limits = (_numbers(columns), parents, size)
    return Reading(
        data_format, encoding, missing, *limits, spans, offsets, labels, kinds, group, dense, table
    )


def table_of(sequence: str | None, label: str | None, drop: Sequence[str] | None) -> TableColumns:
    """Return the names of columns of tables that a user gave."""
    dropped = tuple(dict.fromkeys(name for one in drop or () for name in one.split(",") if name))
    for option, name in (("sequence-column", sequence), ("label-column", label)):
        if name is not None and name in dropped:
            raise InputError(f"--drop leaves out {name!r}, which --{option} names.")
    if sequence is not None and sequence == label:
        raise InputError(f"--sequence-column and --label-column both name {label!r}.")
    return TableColumns(sequence, label, dropped)


def _numbers(columns: str | None) -> tuple[int, ...] | None:
    if columns is None:
        return None
    numbers = {name: str(n) for n, name in enumerate(COLUMNS, 1)}
    words = [numbers.get(word.upper(), word) for word in columns.split(",")]
    if not all(word.isascii() and word.isdecimal() and 0 < int(word) <= 1000 for word in words):
        raise InputError(
            f"--columns {columns!r} must be a list of numbers, counted from 1 and separated by commas."
        )
    return tuple(map(int, words))
