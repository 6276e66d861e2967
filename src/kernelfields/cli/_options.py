"""Options that several commands have, written once."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import InputError
from ..files.reading import Reading
from ..io.npz import LIMIT

GIGABYTE = 2**30

Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="conll, jsonl, csv, npz or parquet, if the name of the file does not say it."
    ),
]
Encoding = Annotated[str, typer.Option(help="Of CoNLL columns.")]
Missing = Annotated[
    str, typer.Option(help="In CoNLL columns, the label of tokens whose label was not observed; '' for none.")
]
Columns = Annotated[
    str | None, typer.Option(help="CoNLL columns to take, counted from 1 and the label last, as in 2,4.")
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
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, the last line.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
MISSING = "_"
MAX_SIZE = LIMIT / GIGABYTE


def reading_of(
    data_format: str | None,
    encoding: str,
    missing: str,
    columns: str | None,
    max_size: float,
    parents: int | None = None,
) -> Reading:
    """Return how files are to be read, by the options above."""
    return Reading(data_format, encoding, missing, _numbers(columns), parents, int(max_size * GIGABYTE))


def _numbers(columns: str | None) -> tuple[int, ...] | None:
    if columns is None:
        return None
    words = columns.split(",")
    if not all(word.isascii() and word.isdecimal() and 0 < int(word) <= 1000 for word in words):
        raise InputError(
            f"--columns {columns!r} must be a list of numbers, counted from 1 and separated by commas."
        )
    return tuple(map(int, words))
