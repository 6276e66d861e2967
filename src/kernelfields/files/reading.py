"""Sequences and trees from any file that ``kf`` reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import InputError, quoted
from ..io.conll import Sentence, read_conll
from ..io.csv import Frames, read_csv
from ..io.jsonl import Record, read_jsonl
from ..io.npz import read_npz
from ..io.parents import require_parents
from ..io.parquet import LABELS, read_parquet
from .dense import with_arrays
from .documents import notes_of, read_tagged
from .folders import files_of
from .items import LINKS, FileData, Item, NamedColumns, Place
from .kinds import DOCUMENTS, PROFILES, ending_of
from .options import Reading as Reading
from .positions import read_letters, read_profiles

Source = Path | IO[bytes]
TABLES = ("csv", "parquet")
"""Formats whose columns have names."""
CONLLU = 10
"""Columns of CoNLL-U."""
MOST_NUMBERS = 20
"""Different fractions that may be labels; more of them are measurements."""


def read_items(source: Source, kind: str, reading: Reading, *, labelled: bool) -> Iterator[Item]:
    """Read sequences one by one; with ``labelled``, the last column of text is the label."""
    _require_place(kind, reading)
    items = _read_items(source, kind, reading, labelled)
    if reading.group is not None:
        items = (grouped(n, item, str(reading.group)) for n, item in enumerate(items))
    return items if reading.dense is None else with_arrays(items, source, reading.dense, reading.limit)


def _read_items(source: Source, kind: str, reading: Reading, labelled: bool) -> Iterator[Item]:
    if kind in DOCUMENTS:
        return read_tagged(source, kind, reading, labelled)
    if kind == "fasta":
        return read_letters(source, reading, labelled)
    if kind in PROFILES:
        return read_profiles(source, kind, reading, labelled)
    if kind == "conll":
        sentences = read_conll(source, comments=None, encoding=reading.encoding)
        if isinstance(source, Path) and ending_of(source.name) == "conllu":
            sentences = filter(None, map(words_of, sentences))
        return (from_sentence(n, one, labelled, reading) for n, one in enumerate(sentences))
    if kind == "jsonl":
        return (_from_record(one) for one in read_jsonl(source))
    if kind == "csv":
        return map(_from_frames, _read_table(source, reading))
    if not isinstance(source, Path):
        raise InputError(f"Files of {kind} cannot be read from a stream.")
    if kind == "parquet":
        label, drop = reading.named.label or LABELS, reading.named.drop
        return map(
            _from_record, read_parquet(source, label=label, drop=drop, required=reading.table.required)
        )
    return _from_arrays(source, reading.limit)


def _read_table(source: Source, reading: Reading) -> Iterator[Frames]:
    named = reading.named
    return read_csv(
        source,
        sequence=named.sequence or "sequence",
        label=named.label or "label",
        group=reading.group,
        drop=named.drop,
        required=reading.table.required,
    )


def _require_place(kind: str, reading: Reading) -> None:
    """Refuse options that a format has no use for."""
    letters = ("fasta", *PROFILES)
    uses = {
        "columns": (reading.columns is None, ("conll",), "columns of text"),
        "parents": (reading.parents is None, ("conll",), "columns of text"),
        "labels": (reading.labels is None, letters, "FASTA files and profiles"),
        "types": (reading.types is None, letters, "FASTA files and profiles"),
        "spans": (reading.spans == "refuse", DOCUMENTS, "texts with marked spans"),
        "group": (reading.group is None, KINDS, ", ".join(KINDS)),
        "offsets": (reading.offsets == "characters", ("doccano",), "doccano"),
        "sequence-column": (reading.table.sequence is None, ("csv",), "tables"),
        "label-column": (reading.table.label is None, TABLES, "tables"),
        "drop": (not reading.table.drop, TABLES, "tables"),
    }
    for option, (silent, kinds, what) in uses.items():
        if not silent and kind not in kinds:
            raise InputError(f"--{option} is for {what}, not for {kind}.")


def read_data(path: Path, reading: Reading | None = None) -> FileData:
    """Read all sequences of a file; each must have labels, though some may be missing."""
    reading = reading or Reading()
    kind = reading.kind(path)
    every = [
        replace(item, place=Place(str(path), n, _line(item)))
        for n, item in enumerate(read_items(path, kind, reading, labelled=True))
    ]
    items = [item for item in every if item.y is not None] if kind in DOCUMENTS else every
    if ending_of(path.name) == "conllu" and reading.columns is None and _is_complete(items):
        raise InputError(f"{path}: say which of the ten columns are words and labels, as in --columns 2,4.")
    if not items:
        raise InputError(f"{path} has no {'marked texts' if every else 'sequences'}.")
    bare = next((n for n, item in enumerate(items) if item.y is None), None)
    if bare is not None:
        how = "; null for a position says that its label was not observed" if kind == "jsonl" else ""
        how = "; --labels names a file with them" if kind in ("fasta", *PROFILES) else how
        how = f"; --label-column names the column of labels{_columns(items[bare])}" if kind in TABLES else how
        raise InputError(f"{path}: sequence {bare} has no labels{how}.")
    data = FileData(items, kind, notes_of(every) if kind in DOCUMENTS else ())
    structure = data.structure  # which looks at all items
    loose = next((n for n, item in enumerate(items) if item.structure != structure), None)
    if loose is not None:
        raise InputError(f"{path}: item {loose} has no {LINKS[structure]}, but others have.")
    _require_classes(data, path, reading)
    return data


def _line(item: Item) -> int | None:
    """Return the line of the first position of a sentence whose lines are all tokens."""
    whole = isinstance(item.source, Sentence) and item.source.every is None
    return item.source.line if whole else None


def _columns(item: Item) -> str:
    """Return the columns of a table among which labels may be."""
    names = getattr(item.source, "columns", ())
    return f", one of {quoted(', '.join(names))[1:-1]}" if names else ""


def read_files(paths: Sequence[Path], reading: Reading) -> FileData:
    """Read all sequences of some files, and of those in folders, which must be alike."""
    paths = files_of(paths, reading)
    first, *others = (read_data(path, reading) for path in paths)
    for path, other in zip(paths[1:], others, strict=True):
        require_alike(first, paths[0], other, path)
    every = (first, *others)
    notes = tuple(note for data in every for note in data.notes)
    return FileData([item for data in every for item in data.items], first.kind, notes)


def require_alike(data: FileData, path: Path, other: FileData, other_path: Path) -> None:
    """Refuse two files whose sequences no model could take together."""
    if other.form != data.form:
        raise InputError(f"{path} has {data.form}, but {other_path} has {other.form}.")
    if other.structure != data.structure:
        raise InputError(f"{path} has {data.noun}, but {other_path} has {other.noun}.")


def _is_complete(items: list[Item]) -> bool:
    """Return whether sentences have all columns of CoNLL-U, the last of which is not a label."""
    return bool(items) and len(items[0].source.columns) == CONLLU


def _require_classes(data: FileData, path: Path, reading: Reading) -> None:
    """Refuse labels that are all missing, or look like measured numbers."""
    known = data.known
    if not known and data.n_positions:
        said = f" (--missing says which, now {reading.missing!r})" if data.kind == "conll" else ""
        raise InputError(f"{path}: no label was observed, all are missing{said}.")
    values = set(map(str, known))
    if len(values) <= MOST_NUMBERS:
        return
    try:
        fractions = [value for value in values if float(value) % 1]
    except ValueError:
        return
    if fractions:
        raise InputError(
            f"{path}: the labels are {len(values)} different numbers such as {min(fractions)}, not classes; "
            "a table of numbers needs a header with the columns sequence and label."
        )


def note_of(data: FileData, reading: Reading) -> str | None:
    """Say how many labels are missing, which a user may not have meant."""
    count, notes = data.n_positions - len(data.known), list(data.notes)
    if count == 0:
        return " ".join(notes) or None
    forms = {"jsonl": "null", "csv": "empty", "npz": "NaN or empty"}
    what = forms.get(data.kind, f"{quoted(reading.missing)}; --missing '' would make it a label")
    return " ".join([*notes, f"{count:,} of {data.n_positions:,} labels were not observed ({what})."])


def _from_record(record: Record) -> Item:
    tokens = record.tokens
    x = [tuple(token) if isinstance(token, list) else token for token in tokens]
    return Item(x, record.labels, [_shown(token) for token in tokens], record, record.parents, record.edges)


def _shown(token: str | list[str] | dict[str, Any]) -> str:
    if isinstance(token, str):
        return token
    return token[0] if isinstance(token, list) else str(token.get("word", token))


def _from_frames(frames: Frames) -> Item:
    y = None if frames.labels is None else list(frames.labels)
    x = NamedColumns.of(frames.numbers, frames.columns)
    return Item(x, y, [str(t) for t in range(len(x))], frames)


def _from_arrays(path: Path, limit: int) -> Iterator[Item]:
    arrays = read_npz(path, limit=limit)
    ends = np.cumsum(arrays.lengths)
    for a, b in zip(ends - arrays.lengths, ends, strict=True):
        y = None
        if arrays.y is not None:
            y = [None if label == "" or label != label else label for label in arrays.y[a:b].tolist()]
        yield Item(arrays.X[a:b], y, [str(t) for t in range(b - a)], None)


KINDS = ("conll", "jsonl", "csv")
"""Formats that can say it."""


def grouped(n: int, item: Item, name: str) -> Item:
    """Return item ``n`` with the group that a column, a key or a comment of a name says."""
    found = _group(item.source, name)
    if found is None or found == "":
        raise InputError(f"Sequence {n} has no {name!r}, which --group asks for.")
    if not isinstance(found, str | int | float):
        raise InputError(f"Sequence {n} has a {name!r} that is neither a text nor a number.")
    return replace(item, group=str(found))


def _group(source: Any, name: str) -> Any:
    if isinstance(source, Frames):
        return source.group
    if isinstance(source, Record):
        return source.other.get(name)
    if isinstance(source, Sentence):
        pairs = (comment.removeprefix("#").partition("=") for comment in source.comments)
        return next((value.strip() for key, _, value in pairs if key.strip() == name), None)
    return None


NO_WORD = re.compile(r"\d+[-.]\d+")


def words_of(sentence: Sentence) -> Sentence | None:
    """Return a sentence of CoNLL-U without lines for several words or for none: 3-4 and 3.1 in column one."""
    rows = [row for row in zip(*sentence.columns, strict=True) if not NO_WORD.fullmatch(row[0])]
    if not rows:
        return None
    every = sentence.columns if len(rows) < len(sentence.columns[0]) else None
    return sentence._replace(columns=[list(column) for column in zip(*rows, strict=True)], every=every)


def from_sentence(n: int, sentence: Sentence, labelled: bool, reading: Reading) -> Item:
    """Return sentence ``n`` as a sequence or tree; with ``labelled``, its last column has the labels."""
    columns, parents = _chosen(sentence.columns, reading), None
    if reading.parents is not None:
        parents = _parents(n, _column(sentence.columns, reading.parents, "--parents"))
    if labelled and len(columns) < 2:
        raise InputError("There is one column only: no labels beside the tokens.")
    inputs = columns[:-1] if labelled else columns
    x: list[Any] = list(inputs[0]) if len(inputs) == 1 else list(zip(*inputs, strict=True))
    y = [None if label == reading.missing else label for label in columns[-1]] if labelled else None
    return Item(x, y, list(columns[0]), sentence, parents)


def _chosen(columns: list[list[str]], reading: Reading) -> list[list[str]]:
    """Return the columns that hold tokens and labels."""
    if reading.columns is not None:
        return [_column(columns, c, "--columns") for c in reading.columns]
    return [column for c, column in enumerate(columns, 1) if c != reading.parents]


def _column(columns: list[list[str]], number: int, option: str) -> list[str]:
    if number > len(columns):
        raise InputError(f"{option} names column {number}, but there are {len(columns)}.")
    return columns[number - 1]


def _parents(n: int, column: list[str]) -> list[int]:
    """Return parents counted from 0, from a column in which tokens are counted from 1."""
    for t, text in enumerate(column):
        if not (text.isascii() and text.isdecimal()):
            raise InputError(
                f"Tree {n}: the parent of token {t} is {quoted(text, 40)}, expected 0 to {len(column)}."
            )
    parents = [int(text) - 1 for text in column]
    try:
        require_parents(parents, len(column))
    except InputError as error:
        raise InputError(f"Tree {n}, tokens counted from 0: {error}") from error
    return parents
