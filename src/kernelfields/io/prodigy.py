"""The JSON lines of Prodigy: a text with tokens and spans of characters.

{"text": "Ana ran", "tokens": [{"text": "Ana", "start": 0, "end": 3, "id": 0, "ws": true}, …],
 "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER", "score": 0.97}],
 "answer": "accept"}

Tokens may be missing, and so may spans: then nobody has looked at the text, which holds, too, if the answer
is "reject" or "ignore". All other keys are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import InputError
from .json_documents import list_of, object_of, read_documents, write_documents
from .lines import Source
from .text_documents import TextDocument, TextSpan, probability_of, require_whole_spans, text_of, whole_offset
from .word_places import Place

TOOL = "prodigy"
ACCEPTED = (None, "accept")


def read_prodigy(source: Source) -> Iterator[TextDocument]:
    """Read documents one by one; malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        JSON lines in UTF-8; a path that ends with .gz is decompressed.
    """
    return read_documents(source, prodigy_document)


def write_prodigy(documents: Iterable[TextDocument], target: Source) -> None:
    """Write documents with their tokens; probabilities of spans are their ``score``.

    Spans with gaps have no place there and are refused.

    Parameters
    ----------
    documents : iterable of TextDocument
        Those without marks are written without spans.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    """
    write_documents(documents, target, prodigy_value)


def prodigy_document(value: dict[str, Any]) -> TextDocument:
    """Return the document that an object describes."""
    text = text_of(value.get("text"), '"text"')
    tokens = None
    if value.get("tokens") is not None:
        tokens = tuple(_place(text, one, n) for n, one in enumerate(list_of(value, "tokens")))
    looked = value.get("spans") is not None and value.get("answer") in ACCEPTED
    spans = tuple(_span(one, n) for n, one in enumerate(list_of(value, "spans"))) if looked else None
    return TextDocument(text, spans, tokens, kept=value, tool=TOOL)


def _place(text: str, one: Any, n: int) -> Place:
    token = object_of(one, f"token {n}")
    start, end = (whole_offset(token.get(side), f'"{side}" of token {n}') for side in ("start", "end"))
    if "text" in token and text[start:end] != token["text"]:
        raise InputError(
            f"token {n} is {token['text']!r}, but at its offsets, {start} and {end}, the text differs."
        )
    return start, end


def _span(one: Any, n: int) -> TextSpan:
    entry = object_of(one, f"span {n}")
    start, end = (whole_offset(entry.get(side), f'"{side}" of span {n}') for side in ("start", "end"))
    label = text_of(entry.get("label"), f"the label of span {n}")
    return TextSpan(start, end, label, probability_of(entry.get("score")))


def prodigy_value(document: TextDocument) -> dict[str, Any]:
    """Return the object that describes a document."""
    kept = {k: v for k, v in document.kept_of(TOOL).items() if k not in ("text", "tokens", "spans")}
    text, places = document.text, document.places
    value: dict[str, Any] = {"text": text, "tokens": _tokens(document, places)}
    require_whole_spans(document, "Prodigy")
    if document.spans is not None:
        starts, ends = ({place[side]: n for n, place in enumerate(places)} for side in (0, 1))
        value["spans"] = [_entry(span, starts, ends) for span in document.spans]
    return value | kept


def _tokens(document: TextDocument, places: list[Place]) -> list[dict[str, Any]]:
    """Return tokens, with what the file had besides if it had them."""
    text, given = document.text, document.kept_of(TOOL).get("tokens")
    known = given if isinstance(given, list) and len(given) == len(places) else [{}] * len(places)
    return [
        {
            "text": text[a:b],
            "start": a,
            "end": b,
            "id": n,
            "ws": text[b : b + 1] == " ",
            **(more if isinstance(more, dict) else {}),
        }
        for n, ((a, b), more) in enumerate(zip(places, known, strict=True))
    ]


def _entry(span: TextSpan, starts: dict[int, int], ends: dict[int, int]) -> dict[str, Any]:
    entry: dict[str, Any] = {"start": span.start, "end": span.end}
    if span.start in starts and span.end in ends:
        entry |= {"token_start": starts[span.start], "token_end": ends[span.end]}
    entry["label"] = span.label
    return entry if span.probability is None else {**entry, "score": round(span.probability, 6)}
