"""Sequences and trees from columns of text."""

from __future__ import annotations

import re
from typing import Any

from ..errors import InputError, quoted
from ..io.conll import Sentence
from ..io.parents import require_parents
from .items import Item
from .options import Reading

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
