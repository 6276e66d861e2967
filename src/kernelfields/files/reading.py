"""Sequences and trees from any file that ``kf`` reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import InputError, quoted
from ..io.conll import Sentence, read_conll
from ..io.csv import Frames, read_csv
from ..io.jsonl import Record, read_jsonl
from ..io.lines import read_lines
from ..io.npz import LIMIT, read_npz
from ..io.parents import require_parents
from ..io.parquet import ENDINGS, read_parquet
from .items import LINKS, FileData, Item, NamedColumns

Source = Path | IO[bytes]
FORMATS = ("conll", "jsonl", "csv", "npz", "parquet")
ALIASES = {"json": "jsonl", **{ending.removeprefix("."): "parquet" for ending in ENDINGS}}
"""Formats of endings that have another name."""
NO_WORD = re.compile(r"\d+[-.]\d+")
CONLLU = 10
"""Columns of CoNLL-U."""
MOST_NUMBERS = 20
"""Different fractions that may be labels; more of them are measurements."""


@dataclass(frozen=True)
class Reading:
    """Options for reading files."""

    format: str | None = None
    encoding: str = "utf-8"
    missing: str = "_"
    """The label in columns of text that stands for none; no label if empty."""
    columns: tuple[int, ...] | None = None
    """Columns of text to take, counted from 1."""
    parents: int | None = None
    """Column of text with the number of a token's parent, counted from 1; 0 for roots."""
    limit: int = LIMIT
    """Bytes that arrays may take."""

    def kind(self, path: Path | str) -> str:
        """Tell the format by the end of a name; columns of text if it says nothing."""
        if self.format is not None:
            if self.format not in FORMATS:
                raise InputError(f"There is no format {self.format!r}; choose one of {', '.join(FORMATS)}.")
            return self.format
        ending = ending_of(str(path))
        if ending == "tsv":
            return "csv" if _has_header(path) else "conll"
        return ALIASES.get(ending, ending if ending in FORMATS else "conll")


def ending_of(name: str) -> str:
    """Return what a name ends with, compressed or not."""
    return Path(name.removesuffix(".gz")).suffix.removeprefix(".").lower()


def _has_header(path: Path | str) -> bool:
    """Return whether a file with tabs has a header: a first line that names the column of sequences."""
    first = next(read_lines(path, "latin-1"), None)
    return first is not None and "sequence" in first.text.split("\t")


def read_items(source: Source, kind: str, reading: Reading, *, labelled: bool) -> Iterator[Item]:
    """Read sequences one by one; with ``labelled``, the last column of text is the label."""
    for option, given in (("columns", reading.columns), ("parents", reading.parents)):
        if given is not None and kind != "conll":
            raise InputError(f"--{option} is for columns of text, not for {kind}.")
    if kind == "conll":
        sentences = read_conll(source, comments=None, encoding=reading.encoding)
        if isinstance(source, Path) and ending_of(source.name) == "conllu":
            sentences = filter(None, map(_words_of, sentences))
        return (_from_sentence(n, one, labelled, reading) for n, one in enumerate(sentences))
    if kind == "jsonl":
        return (_from_record(one) for one in read_jsonl(source))
    if kind == "csv":
        return (_from_frames(one) for one in read_csv(source))
    if not isinstance(source, Path):
        raise InputError(f"Files of {kind} cannot be read from a stream.")
    if kind == "parquet":
        return (_from_record(one) for one in read_parquet(source))
    return _from_arrays(source, reading.limit)


def read_data(path: Path, reading: Reading | None = None) -> FileData:
    """Read all sequences of a file; each must have labels, though some may be missing."""
    reading = reading or Reading()
    kind = reading.kind(path)
    items = list(read_items(path, kind, reading, labelled=True))
    if ending_of(path.name) == "conllu" and reading.columns is None and _is_complete(items):
        raise InputError(f"{path}: say which of the ten columns are words and labels, as in --columns 2,4.")
    if not items:
        raise InputError(f"{path} has no sequences.")
    bare = next((n for n, item in enumerate(items) if item.y is None), None)
    if bare is not None:
        how = "; null for a position says that its label was not observed" if kind == "jsonl" else ""
        raise InputError(f"{path}: sequence {bare} has no labels{how}.")
    data = FileData(items, kind)
    loose = next((n for n, item in enumerate(items) if item.structure != data.structure), None)
    if loose is not None:
        raise InputError(f"{path}: item {loose} has no {LINKS[data.structure]}, but others have.")
    _require_classes(data, path, reading)
    return data


def read_files(paths: Sequence[Path], reading: Reading) -> FileData:
    """Read all sequences of some files, which must be alike."""
    first, *others = (read_data(path, reading) for path in paths)
    for path, other in zip(paths[1:], others, strict=True):
        require_alike(first, paths[0], other, path)
    return FileData([item for data in (first, *others) for item in data.items], first.kind)


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
    count = data.n_positions - len(data.known)
    if count == 0:
        return None
    forms = {"jsonl": "null", "csv": "empty", "npz": "NaN or empty"}
    what = forms.get(data.kind, f"{quoted(reading.missing)}; --missing '' would make it a label")
    return f"{count:,} of {data.n_positions:,} labels were not observed ({what})."


def _words_of(sentence: Sentence) -> Sentence | None:
    """Return a sentence of CoNLL-U without lines for several words or for none: 3-4 and 3.1 in column one."""
    rows = [row for row in zip(*sentence.columns, strict=True) if not NO_WORD.fullmatch(row[0])]
    return sentence._replace(columns=[list(column) for column in zip(*rows, strict=True)]) if rows else None


def _from_sentence(n: int, sentence: Sentence, labelled: bool, reading: Reading) -> Item:
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
