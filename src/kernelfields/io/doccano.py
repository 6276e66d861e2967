"""The JSON lines of doccano: a text with spans of characters.

{"id": 1, "text": "Ana saw Rome", "label": [[0, 3, "PER"], [8, 12, "LOC"]]}
{"id": 1, "text": "Ana saw Rome", "entities": [{"id": 7, "label": "PER", "start_offset": 0, "end_offset": 3}]}

The first form is that of sequence labelling, the second that of projects with relations. All other keys are
kept. Versions of doccano differ in what offsets count: characters, or units of UTF-16, in which an emoji is
two; nothing in the file tells, hence the argument ``offsets``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from ..errors import InputError
from .json_documents import list_of, object_of, read_documents, write_documents
from .lines import Source
from .text_documents import TextDocument, TextSpan, converter, require_whole_spans, text_of, whole_offset

TOOL = "doccano"
LISTS = ("label", "labels")
OBJECTS = "entities"


def read_doccano(source: Source, *, offsets: str = "characters") -> Iterator[TextDocument]:
    """Read documents one by one; malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        JSON lines in UTF-8; a path that ends with .gz is decompressed.
    offsets : "characters" or "utf-16"
        What offsets count.

    Examples
    --------
    >>> from io import StringIO
    >>> [document] = read_doccano(StringIO('{"text": "Ana saw Rome", "label": [[0, 3, "PER"]]}'))
    >>> document.spans[0].label, document.words
    ('PER', ['Ana', 'saw', 'Rome'])
    """
    return read_documents(source, partial(doccano_document, offsets=offsets))


def write_doccano(documents: Iterable[TextDocument], target: Source) -> None:
    """Write documents, in the form in which they were read if that was one of doccano's.

    Offsets count characters. Spans with gaps have no place there and are refused.

    Parameters
    ----------
    documents : iterable of TextDocument
        Those without marks are written without a list of spans.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    """
    write_documents(documents, target, doccano_value)


def doccano_document(value: dict[str, Any], offsets: str = "characters") -> TextDocument:
    """Return the document that an object describes."""
    text = text_of(value.get("text", value.get("data")), '"text"')
    placed = converter(text, offsets)
    key = next((key for key in (*LISTS, OBJECTS) if value.get(key) is not None), None)
    if key is None:
        return TextDocument(text, None, kept=value, tool=TOOL)
    made = _from_object if key == OBJECTS else _from_list
    spans = []
    for n, one in enumerate(list_of(value, key)):
        span = made(one, f"span {n}")
        spans.append(span._replace(start=placed(span.start), end=placed(span.end)))
    return TextDocument(text, tuple(spans), kept=value, tool=TOOL)


def _from_list(one: Any, what: str) -> TextSpan:
    if not isinstance(one, list) or len(one) != 3:
        raise InputError(f"{what} is not a list of start, end and label.")
    start, end = (whole_offset(offset, f"an offset of {what}") for offset in one[:2])
    return TextSpan(start, end, text_of(one[2], f"the label of {what}"))


def _from_object(one: Any, what: str) -> TextSpan:
    entry = object_of(one, what)
    start, end = (
        whole_offset(entry.get(f"{side}_offset"), f"{side}_offset of {what}") for side in ("start", "end")
    )
    return TextSpan(
        start, end, text_of(entry.get("label"), f"the label of {what}"), name=str(entry.get("id", ""))
    )


def doccano_value(document: TextDocument) -> dict[str, Any]:
    """Return the object that describes a document."""
    had = document.kept_of(TOOL)
    kept = {k: v for k, v in had.items() if k not in (*LISTS, OBJECTS, "text", "data")}
    if document.spans is None:
        return {"text": document.text, **kept}
    require_whole_spans(document, "doccano")
    if had.get(OBJECTS) is not None:
        return {"text": document.text, OBJECTS: _objects(document, had[OBJECTS]), **kept}
    key = next((key for key in LISTS if had.get(key) is not None), LISTS[0])
    return {
        "text": document.text,
        key: [[span.start, span.end, span.label] for span in document.spans],
        **kept,
    }


def _objects(document: TextDocument, entries: list[Any]) -> list[dict[str, Any]]:
    """Return spans as objects with their numbers, to which relations refer."""
    given = [entry for entry in entries if isinstance(entry, dict)]
    known = {str(entry.get("id", "")): entry.get("id") for entry in given}
    top = max((one for one in known.values() if type(one) is int), default=0)
    result = []
    for n, span in enumerate(document.spans or ()):
        number = known.get(span.name, top + 1 + n) if span.name else top + 1 + n
        result.append({"id": number, "label": span.label, "start_offset": span.start, "end_offset": span.end})
    return result
