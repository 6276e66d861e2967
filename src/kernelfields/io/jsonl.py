"""Sequences as JSON: one object per line, with tokens and optionally labels.

{"tokens": ["Melbourne", "("], "labels": ["B-LOC", "O"]}
{"tokens": [["Sydney", "NP"], ["is", "V"]], "labels": ["B-LOC", null]}
{"tokens": [{"word": "Sydney", "capital": true}], "source": "any other keys"}
{"tokens": ["dogs", "bark", "loudly"], "labels": ["NOUN", "VERB", "ADV"], "parents": [1, -1, 1]}
{"tokens": [{"size": 2.5}, {"size": 1}, {"size": 3}], "labels": ["a", "b", "a"], "edges": [[0, 1], [1, 2]]}

Tokens are strings, lists of columns, or objects of features; an unobserved label is null. Parents of
a tree are numbers of tokens, counted from 0; the parent of a root is -1. Edges of a graph are pairs of
tokens.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError, quoted
from .edges import require_edges
from .lines import LONGEST_TEXT, Source, read_lines, require_short, write_lines
from .parents import require_parents

Scalar = str | int | float | bool | None
KEYS = ("tokens", "labels", "parents", "edges")
"""Keys with a meaning."""


@dataclass(frozen=True)
class Record:
    """One sequence, one tree, or one graph."""

    tokens: list[str] | list[list[str]] | list[dict[str, Any]]
    """T strings, T lists of equally many columns, or T dictionaries of features."""
    labels: list[Scalar] | None = None
    """T labels, None (null) for unobserved ones; or None if there are no labels."""
    other: dict[str, Any] = field(default_factory=dict)
    """All other keys of the object."""
    parents: list[int] | None = None
    """The parent of each of the T tokens of a tree, −1 for a root; None for a sequence."""
    edges: list[list[int]] | None = None
    """Pairs of tokens that an edge of a graph joins; None for sequences and trees."""


def read_jsonl(source: Source) -> Iterator[Record]:
    """Read sequences or trees one by one from UTF-8.

    Empty lines are skipped. Malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.

    Examples
    --------
    >>> from io import StringIO
    >>> [record] = read_jsonl(StringIO('{"tokens": ["a", "b"], "labels": [0, 1]}'))
    >>> record.labels
    [0, 1]
    """
    for line in read_lines(source, "utf-8"):
        if not line.text.strip():
            continue
        try:
            record = _record(parse_value(line.text, unique_keys))
            if len(line.text) > LONGEST_TEXT:
                _require_short([record.tokens, record.labels])
            yield record
        except InputError as error:
            raise line.error(str(error)) from error


def write_jsonl(records: Iterable[Record], target: Source) -> None:
    """Write sequences or trees as UTF-8, one per line.

    Parameters
    ----------
    records : iterable of Record
        Labels and features must be JSON values: strings, finite numbers, booleans, None.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    """
    write_lines((_text(record, n) for n, record in enumerate(records)), target, "utf-8")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a key that is given twice, and would lose a value, is an `InputError`."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(f"the key {quoted(key, 40)} is given twice.")
            seen.add(key)
    return found


def parse_value(text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Read a JSON value; what is none is an `InputError` that names the column.

    Objects are made by ``pairs``, if it is given: `unique_keys` refuses keys that are repeated.
    """

    def refuse(constant: str) -> None:
        raise InputError(f"{constant} is not JSON.")

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}.") from error
    except InputError:
        raise
    except ValueError as error:  # a number with thousands of digits
        raise InputError(f"{error}.") from error
    except RecursionError as error:
        raise InputError("brackets are nested too deeply.") from error


def _record(value: Any) -> Record:
    if not isinstance(value, dict):
        raise InputError(f"expected an object with tokens, but found {kind_of(value)}.")
    if "tokens" not in value:
        raise InputError('the object has no "tokens".')
    other = {key: item for key, item in value.items() if key not in KEYS}
    record = Record(value["tokens"], value.get("labels"), other, value.get("parents"), value.get("edges"))
    _check(record)
    return record


def _check(record: Record) -> None:
    tokens, labels = record.tokens, record.labels
    if not isinstance(tokens, list):
        raise InputError(f'"tokens" is {kind_of(tokens)}, not a list.')
    _check_tokens(tokens)
    if record.parents is not None:
        require_parents(record.parents, len(tokens))
    if record.edges is not None:
        require_edges(record.edges, len(tokens))
        if record.parents is not None:
            raise InputError("there are parents and edges; a tree has the former, a graph the latter.")
    if labels is not None:
        _check_labels(labels, tokens)


def _check_labels(labels: Any, tokens: list[Any]) -> None:
    if not isinstance(labels, list):
        raise InputError(f'"labels" is {kind_of(labels)}, not a list.')
    if len(labels) != len(tokens):
        raise InputError(f"there are {len(tokens)} tokens, but {len(labels)} labels.")
    for t, label in enumerate(labels):
        if not isinstance(label, (str, int, float, bool, type(None))):
            raise InputError(f"label {t} is {kind_of(label)}, not a string or a number.")
        if isinstance(label, float) and not math.isfinite(label):  # 1e999, say
            raise InputError(f"label {t} is {label}, not a finite number.")


def _check_tokens(tokens: list[Any]) -> None:
    for t, token in enumerate(tokens):
        if not isinstance(token, (str, list, dict)):
            raise InputError(
                f"token {t} is {kind_of(token)}: neither a string, a list of columns "
                "nor an object of features."
            )
        if type(token) is not type(tokens[0]):
            raise InputError(f"token {t} is {kind_of(token)}, but token 0 is {kind_of(tokens[0])}.")
        if isinstance(token, list):
            if not token or not all(isinstance(column, str) for column in token):
                raise InputError(f"token {t} is a list of columns, all of which must be strings.")
            if len(token) != len(tokens[0]):
                raise InputError(f"token {t} has {len(token)} columns, but token 0 has {len(tokens[0])}.")


def _require_short(value: Any) -> None:
    """Refuse tokens and labels with texts that are too long."""
    if isinstance(value, str):
        require_short(value, "a text")
    inside = (
        [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    )
    for one in inside:
        _require_short(one)


def _text(record: Record, n: int) -> str:
    try:
        _check(record)
        if taken := set(KEYS) & record.other.keys():
            raise InputError(f'"{min(taken)}" cannot be another key.')
        given = {"labels": record.labels, "parents": record.parents, "edges": record.edges}
        present = {key: item for key, item in given.items() if item is not None}
        value = {"tokens": record.tokens, **present, **record.other}
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (InputError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"Record {n} cannot be written: {error}") from error


def kind_of(value: Any) -> str:
    """Return the kind of a value, as JSON calls it."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    names |= {int: "a number", float: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")
