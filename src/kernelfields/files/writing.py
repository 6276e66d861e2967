"""Sequences written in the formats that ``kf`` reads."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..io.conll import Sentence, write_conll
from ..io.csv import Frames
from ..io.jsonl import Record, write_jsonl
from ..io.replacing import replacing, replacing_text
from .documents import DOCUMENT_WRITERS, text_fields
from .items import LINKS, Item


class NumberTable(NamedTuple):
    """The numbers of one sequence, with column names."""

    columns: tuple[str, ...]
    numbers: Array


def to_conll(items: list[Item], path: Path) -> None:
    """Write columns of text, the label last."""
    require_sequences(items, "conll")
    sentences = []
    for n, item in enumerate(items):
        columns = columns_of(item, n)
        if item.y is not None:
            columns.append([_label(label, n, "_", "conll") for label in item.y])
        source = item.source if isinstance(item.source, Sentence) else None
        before = () if source is None else source.comments
        sentences.append(Sentence(columns, before, None if source is None else source.document))
    tabs = any(" " in field or not field for one in sentences for column in one.columns for field in column)
    write_conll(sentences, path, separator="\t" if tabs else " ", comments=None)


def to_jsonl(items: list[Item], path: Path) -> None:
    """Write an object for every sequence; several columns of a token are lists, numbers objects."""
    write_jsonl((record_of(item) for item in items), path)


def to_csv(items: list[Item], path: Path) -> None:
    """Write a row for every position."""
    require_sequences(items, "csv")
    tables = _tables(items, "csv")
    labelled = all(item.y is not None for item in items)
    taken = {"sequence", *(["label"] if labelled else [])} & set(tables[0].columns)
    if taken:
        raise InputError(f"A column of numbers is called {min(taken)!r}, which has a meaning in csv.")
    with replacing_text(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["sequence", *(["label"] if labelled else []), *tables[0].columns])
        for n, (item, table) in enumerate(zip(items, tables, strict=True)):
            name = item.source.name if isinstance(item.source, Frames) else str(n)
            for t, numbers in enumerate(table.numbers.tolist()):
                known = [_label(item.y[t], n, "", "csv")] if item.y is not None and labelled else []
                rows.writerow([name, *known, *("" if x != x else repr(x) for x in numbers)])


def to_npz(items: list[Item], path: Path) -> None:
    """Write X, lengths and, if there are labels, y."""
    require_sequences(items, "npz")
    tables = _tables(items, "npz")
    arrays: dict[str, Any] = {
        "X": np.concatenate([table.numbers for table in tables]),
        "lengths": np.array([len(table.numbers) for table in tables], dtype=np.int64),
    }
    if all(item.y is not None for item in items):
        arrays["y"] = _label_array([label for item in items for label in item.y or []])
    with replacing(path) as file:
        np.savez(file, **arrays)


WRITERS: Mapping[str, Callable[[list[Item], Path], None]] = {
    "conll": to_conll,
    "jsonl": to_jsonl,
    "csv": to_csv,
    "npz": to_npz,
    **DOCUMENT_WRITERS,
}


def require_sequences(items: list[Item], kind: str) -> None:
    """Refuse trees and graphs where a format has no place for parents and edges."""
    for item in items:
        if item.structure in LINKS:
            links = f"{LINKS[item.structure].capitalize()} of {item.structure}s"
            raise InputError(f"{links} have no place in {kind}; choose jsonl.")


def columns_of(item: Item, n: int) -> list[list[str]]:
    """Return columns of text: tokens, their columns, or features that all objects have."""
    if isinstance(item.x, np.ndarray):
        raise InputError(f"Sequence {n} has numbers, which conll has no place for; choose jsonl, csv or npz.")
    rows = [[token] if isinstance(token, str) else token for token in item.x]
    rows = [list(row.values()) if isinstance(row, dict) else list(row) for row in rows]
    names = {
        tuple(token) if isinstance(token, dict) else len(token)
        for token in item.x
        if not isinstance(token, str)
    }
    if len(names) > 1 or not all(isinstance(field, str) for row in rows for field in row):
        raise InputError(f"Sequence {n} has objects of features, but columns of text are needed.")
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[]]


def _label(label: Any, n: int, missing: str, kind: str) -> str:
    """Return a label as a text; an unobserved label has a text too."""
    if label is None:
        return missing
    if str(label) == missing:
        raise InputError(f"Sequence {n} has the label {missing!r}, which stands for a missing one in {kind}.")
    return str(label)


def _label_array(labels: list[Any]) -> Array:
    """Return labels as an array; NaN among numbers, or an empty text, is an unobserved label."""
    known = [label for label in labels if label is not None]
    if len(known) < len(labels) and all(type(label) in (int, float) for label in known):
        return np.array([np.nan if label is None else label for label in labels], dtype=np.float64)
    if len(known) < len(labels) or not all(type(label) is type(known[0]) for label in known):
        return np.array([_label(label, 0, "", "npz") for label in labels], dtype=np.str_)
    result = np.array(known)
    if result.dtype.kind not in "biufU":
        raise InputError("Labels are neither texts nor numbers, which npz has no place for.")
    return result


def record_of(item: Item) -> Record:
    """Return a sequence or tree as JSON lines have it."""
    other = item.source.other if isinstance(item.source, Record) else text_fields(item)
    return Record([_token(token, item) for token in item.x], item.y, other, item.parents, item.edges)


def _token(token: Any, item: Item) -> Any:
    if isinstance(token, str | dict):
        return token
    if isinstance(token, tuple):
        return list(token)
    names = _names(item)
    return {name: float(x) for name, x in zip(names, token, strict=True) if x == x}


def _names(item: Item) -> tuple[str, ...]:
    if isinstance(item.source, Frames):
        return item.source.columns
    return tuple(f"x{d}" for d in range(item.x.shape[1]))


def _tables(items: list[Item], kind: str) -> list[NumberTable]:
    """Return the numbers of all sequences, in the columns of the first."""
    columns = next(
        (_names(i) if isinstance(i.x, np.ndarray) else tuple(i.x[0]) for i in items if len(i.x)), ()
    )
    return [_table(item, n, columns, kind) for n, item in enumerate(items)]


def _table(item: Item, n: int, columns: tuple[str, ...], kind: str) -> NumberTable:
    if isinstance(item.x, np.ndarray):
        return NumberTable(columns, np.asarray(item.x, dtype=np.float64))
    for t, token in enumerate(item.x):
        if not isinstance(token, dict) or not all(isinstance(value, Real) for value in token.values()):
            raise InputError(
                f"Sequence {n} has tokens, which {kind} has no place for; choose conll or jsonl."
            )
        if set(token) != set(columns):
            raise InputError(
                f"Position {t} of sequence {n} has other names than the first one; "
                f"{kind} has the same columns everywhere."
            )
    rows = [[float(token[name]) for name in columns] for token in item.x]
    return NumberTable(columns, np.array(rows, dtype=np.float64).reshape(len(rows), len(columns)))
