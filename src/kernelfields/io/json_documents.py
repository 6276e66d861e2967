"""Texts with spans, one JSON object per line: what the formats of doccano and Prodigy have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..errors import InputError
from .jsonl import kind_of, parse_value, unique_keys
from .lines import Source, read_lines, write_lines
from .text_documents import TextDocument, checked_document, require_document

Made = Callable[[dict[str, Any]], TextDocument]
"""Makes a document of an object."""


def read_documents(source: Source, made: Made) -> Iterator[TextDocument]:
    """Read a document from every line of a file that is not empty; errors name file and line."""
    for line in read_lines(source, "utf-8"):
        if not line.text.strip():
            continue
        where = f"{line.file}, line {line.number}"
        try:
            yield document_of(parse_value(line.text, unique_keys), made, where)
        except InputError as error:
            raise line.error(str(error)) from error


def document_of(value: Any, made: Made, where: str) -> TextDocument:
    """Make a document of a JSON value, and check it."""
    if not isinstance(value, dict):
        raise InputError(f"expected an object with a text, but found {kind_of(value)}.")
    return replace(checked_document(made(value)), where=where)


def list_of(value: dict[str, Any], key: str) -> list[Any]:
    """Return the list that an object has under a key; an empty one for null or nothing."""
    found = value.get(key)
    if found is not None and not isinstance(found, list):
        raise InputError(f'"{key}" is {kind_of(found)}, not a list.')
    return found or []


def object_of(value: Any, what: str) -> dict[str, Any]:
    """Return an object of a file, or refuse what is none."""
    if not isinstance(value, dict):
        raise InputError(f"{what} is {kind_of(value)}, not an object.")
    return value


def write_documents(
    documents: Iterable[TextDocument], target: Source, made: Callable[[TextDocument], Any]
) -> None:
    """Write an object per document."""
    texts = (json_text(made(require_document(one, n)), n) for n, one in enumerate(documents))
    write_lines(texts, target, "utf-8")


def json_text(value: Any, n: int = 0) -> str:
    """Return a value as one line of JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"Document {n} cannot be written: {error}.") from None
