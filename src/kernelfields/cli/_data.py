"""Labelled sequences from any file that ``kf`` reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import InputError
from ..io.conll import Sentence, read_conll
from ..io.csv import Frames, read_csv
from ..io.jsonl import Record, read_jsonl
from ..io.npz import read_npz

Source = Path | IO[bytes]
FORMATS = ("conll", "jsonl", "csv", "npz")


@dataclass(frozen=True)
class Item:
    """One sequence."""

    x: Any
    """What models take: tokens (strings, tuples of columns, dictionaries) or a (T, D) array."""
    y: list[Any] | None
    texts: list[str]
    """What to show of every position."""
    source: Any
    """As it was read, to be written again with labels."""


@dataclass(frozen=True)
class Data:
    """All sequences of a file."""

    items: list[Item]
    kind: str

    @property
    def inputs(self) -> list[Any]:
        """Inputs."""
        return [item.x for item in self.items]

    @property
    def labels(self) -> list[list[Any]]:
        """Labels."""
        return [item.y or [] for item in self.items]

    @property
    def texts(self) -> list[list[str]]:
        """What to show."""
        return [item.texts for item in self.items]

    @property
    def is_text(self) -> bool:
        """Whether positions are tokens of text, not numbers or dictionaries of features."""
        first = next((item.x[0] for item in self.items if len(item.x)), None)
        return isinstance(first, str | tuple)

    @property
    def is_sparse(self) -> bool:
        """Whether features are many and mostly absent: those of tokens."""
        first = next((item.x[0] for item in self.items if len(item.x)), None)
        return isinstance(first, str | tuple | dict)

    @property
    def n_positions(self) -> int:
        """Positions of all sequences."""
        return sum(len(item.x) for item in self.items)

    @property
    def n_columns(self) -> int:
        """Columns of a token."""
        first = next((item.x[0] for item in self.items if len(item.x)), "")
        return len(first) if isinstance(first, tuple) else 1

    def take(self, ids: Any) -> Data:
        """Give some of the sequences."""
        return Data([self.items[i] for i in ids], self.kind)


def format_of(path: str, given: str | None) -> str:
    """Tell the format by the end of a name; columns of text if it says nothing."""
    if given is not None:
        if given not in FORMATS:
            raise InputError(f"There is no format {given!r}; choose one of {', '.join(FORMATS)}.")
        return given
    ending = Path(path.removesuffix(".gz")).suffix.removeprefix(".").lower()
    return {"json": "jsonl", "tsv": "conll"}.get(ending, ending if ending in FORMATS else "conll")


def read_items(
    source: Source,
    kind: str,
    *,
    labelled: bool,
    sequence: str = "sequence",
    label: str = "label",
    encoding: str = "utf-8",
) -> Iterator[Item]:
    """Read sequences one by one; with ``labelled``, the last column of text is the label."""
    if kind == "conll":
        return (_from_sentence(one, labelled) for one in read_conll(source, encoding=encoding))
    if kind == "jsonl":
        return (_from_record(one) for one in read_jsonl(source))
    if kind == "csv":
        return (_from_frames(one) for one in read_csv(source, sequence=sequence, label=label))
    if not isinstance(source, Path):
        raise InputError("Arrays (.npz) cannot be read from a stream.")
    return _from_arrays(source)


def read_data(path: Path, given: str | None = None, *, labelled: bool = True, **options: Any) -> Data:
    """Read all sequences of a file; with ``labelled``, each must have labels."""
    kind = format_of(path.name, given)
    items = list(read_items(path, kind, labelled=labelled, **options))
    if not items:
        raise InputError(f"{path} has no sequences.")
    if labelled:
        bare = next((n for n, item in enumerate(items) if item.y is None), None)
        if bare is not None:
            raise InputError(f"{path}: sequence {bare} has no labels.")
    return Data(items, kind)


def batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """Give some items at a time."""
    while batch := list(islice(items, size)):
        yield batch


def _from_sentence(sentence: Sentence, labelled: bool) -> Item:
    columns = sentence.columns
    if labelled and len(columns) < 2:
        raise InputError("The file has one column only: no labels beside the tokens.")
    inputs = columns[:-1] if labelled else columns
    x: list[Any] = list(inputs[0]) if len(inputs) == 1 else list(zip(*inputs, strict=True))
    return Item(x, list(columns[-1]) if labelled else None, list(columns[0]), sentence)


def _from_record(record: Record) -> Item:
    texts = [token if isinstance(token, str) else str(token.get("word", token)) for token in record.tokens]
    return Item(record.tokens, record.labels, texts, record)


def _from_frames(frames: Frames) -> Item:
    return Item(
        frames.numbers,
        None if frames.labels is None else list(frames.labels),
        [str(t) for t in range(len(frames.numbers))],
        frames,
    )


def _from_arrays(path: Path) -> Iterator[Item]:
    arrays = read_npz(path)
    ends = np.cumsum(arrays.lengths)
    for a, b in zip(ends - arrays.lengths, ends, strict=True):
        y = None if arrays.y is None else arrays.y[a:b].tolist()
        yield Item(arrays.X[a:b], y, [str(t) for t in range(b - a)], None)
