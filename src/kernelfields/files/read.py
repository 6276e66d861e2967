"""Any file that ``kf`` reads, as what models take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..checks import require_whole
from ..errors import InputError
from ..io.conllu import COLUMNS
from ..io.opening import reading_once
from ..io.table_columns import TableColumns
from .items import Item
from .kinds import DOCUMENTS
from .options import Reading
from .reading import read_items

Named = str | os.PathLike[str]


def read(
    path: Named | Sequence[Named],
    *,
    format: str | None = None,
    labelled: bool = True,
    columns: Sequence[int | str] | None = None,
    parents: int | None = None,
    missing: str = "_",
    encoding: str = "utf-8",
    spans: str = "refuse",
    offsets: str = "characters",
    labels: Named | None = None,
    types: Sequence[str] | None = None,
    sequence_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
) -> tuple[list[Any], list[list[Any]] | None]:
    """Return the sequences, trees or graphs of a file, and their labels.

    Parameters
    ----------
    path : path, or list of paths
        A file, several of one format, or a folder of brat.
    format : str, optional
        "conll", "jsonl", "csv", "npz", "parquet", "brat", "doccano", "labelstudio", "prodigy", "text",
        "fasta", "pssm", "hhm" or "stockholm"; otherwise the end of the name tells and, of JSON, the
        first line, which also tells JSON lines in a nameless pipe from columns.
    labelled : bool
        Whether the last column of CoNLL files is the labels, and the marks of texts are to be read.
    columns : list of int or str, optional
        Columns of CoNLL files to take, the labels last, counted from 1; names in CoNLL-U: ["form", "upos"].
    parents : int, optional
        Column of CoNLL files with the number of a token's parent, counted from 1: trees.
    missing : str
        The label that stands for none in CoNLL files, and in FASTA files of labels.
    encoding : str
        Of CoNLL files and plain texts.
    spans : "refuse", "mend" or "drop"
        What happens to marked spans that cut words, overlap or have gaps.
    offsets : "characters" or "utf-16"
        What offsets of doccano count.
    labels : path, optional
        Labels of a FASTA file or of profiles: FASTA with a letter per position, or GFF3.
    types : list of str, optional
        Types of features of the GFF3 file that are labels.
    sequence_column, label_column : str, optional
        Names of these columns of a table; "sequence" and "label", of Parquet files "labels".
    drop : list of str
        Names of columns of a table that are no features.

    Returns
    -------
    X : list
        A list of tokens or a (T, D) array per sequence; pairs with parents or edges of trees and graphs.
    y : list of lists, or None
        Labels, None where one was not observed; None if the file has no labels at all.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = file.write_text('{"text": "Ana saw Rome", "label": [[0, 3, "PER"]]}')
    >>> read(file)
    ([['Ana', 'saw', 'Rome']], [['B-PER', 'O', 'O']])
    """
    paths = [Path(path)] if isinstance(path, str | os.PathLike) else [Path(one) for one in path]
    chosen = None if columns is None else tuple(_column(one) for one in columns)
    above = None if parents is None else require_whole("parents", parents, 1, 1000)
    beside = None if labels is None else Path(labels)
    reading = Reading(
        format=format,
        encoding=encoding,
        missing=missing,
        columns=chosen,
        parents=above,
        spans=spans,
        offsets=offsets,
        labels=beside,
        types=None if types is None else tuple(types),
        table=TableColumns(sequence_column, label_column, tuple([drop] if isinstance(drop, str) else drop)),
    )
    with reading_once():
        items = [item for one in paths for item in _items(one, reading, labelled)]
    if all(item.y is None for item in items):
        return [item.input for item in items], None
    return [item.input for item in items], [item.y or [None] * len(item.x) for item in items]


def _items(path: Path, reading: Reading, labelled: bool) -> list[Item]:
    kind = reading.kind(path)
    items = list(read_items(path, kind, reading, labelled=labelled))
    bare = [item.y is None for item in items]
    if kind not in DOCUMENTS and any(bare) and not all(bare):
        raise InputError(f"{path}: sequence {bare.index(True)} has no labels, but others have.")
    return items


def _column(given: int | str) -> int:
    """Return the number of a column."""
    if isinstance(given, str):
        if given.upper() not in COLUMNS:
            raise InputError(f"columns has {given!r}; names are those of CoNLL-U: {', '.join(COLUMNS)}.")
        return COLUMNS.index(given.upper()) + 1
    return require_whole("columns", given, 1, 1000)
