"""Sequences of words from raw texts with marked spans, and such texts from sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..io.brat import read_brat, write_brat
from ..io.doccano import read_doccano, write_doccano
from ..io.jsonl import Record
from ..io.label_studio import read_label_studio, write_label_studio
from ..io.prodigy import read_prodigy, write_prodigy
from ..io.raw_text import read_text
from ..io.text_documents import TextDocument
from .items import Item
from .options import Reading
from .tagged_text import TaggedText, marked_text, spaced_text, tagged_text

SHOWN = 3
"""Faults that a note tells in full."""


def read_marked(source: Any, kind: str, reading: Reading) -> Iterator[TextDocument]:
    """Read texts as they are."""
    if kind == "brat":
        if not isinstance(source, Path):
            raise InputError("Files of brat cannot be read from a stream.")
        return read_brat(source)
    if kind == "text":
        return read_text(source, encoding=reading.encoding)
    if kind == "doccano":
        return read_doccano(source, offsets=reading.offsets)
    return read_prodigy(source) if kind == "prodigy" else read_label_studio(source)


def read_tagged(source: Any, kind: str, reading: Reading, labelled: bool) -> Iterator[Item]:
    """Read texts as words, with tags if they are ``labelled`` and somebody has looked at them."""
    return (item_of(one, reading.spans, labelled) for one in read_marked(source, kind, reading))


def item_of(document: TextDocument, rule: str = "refuse", labelled: bool = True) -> Item:
    """Return a text as a sequence of words."""
    found = tagged_text(document, rule) if labelled else TaggedText(document, document.places, None)
    words = [document.text[start:end] for start, end in found.places]
    return Item(words, found.tags, words, found)


def marked_items(items: Iterable[Item]) -> list[Item]:
    """Leave out texts without marks, as `notes_of` says, unless no text is to have any."""
    every = list(items)
    texts = [item for item in every if isinstance(item.source, TaggedText)]
    if all(item.y is None for item in texts):
        return every
    return [item for item in every if not isinstance(item.source, TaggedText) or item.y is not None]


def notes_of(items: Iterable[Item]) -> tuple[str, ...]:
    """Say how many texts have no marks, and which spans are not as they were."""
    every = [item.source for item in items if isinstance(item.source, TaggedText)]
    bare = sum(one.tags is None for one in every)
    faults = [fault for one in every for fault in one.faults]
    some = 0 < bare < len(every)
    notes = [f"{bare:,} of {len(every):,} texts have no marks and are left out."] if some else []
    if faults:
        more = f" And {len(faults) - SHOWN:,} more such spans." if len(faults) > SHOWN else ""
        notes.append(" ".join(faults[:SHOWN]) + more)
    return tuple(notes)


def document_of(item: Item, n: int) -> TextDocument:
    """Return a sequence of words as a text, with the spans that its labels say."""
    if isinstance(item.source, TaggedText):
        return item.source.document
    document, places = spaced_document(item, n)
    return document if item.y is None else marked_text(document, places, item.y)


def spaced_document(item: Item, n: int) -> tuple[TextDocument, Sequence[tuple[int, int]]]:
    """Return the words of a sequence with spaces between them, and their places; no marks."""
    if isinstance(item.source, TaggedText):
        return item.source.document, item.source.places
    if isinstance(item.x, np.ndarray) or not all(isinstance(token, str | tuple) for token in item.x):
        raise InputError(f"Sequence {n} has no words, but numbers or features; a text is made of words.")
    text, places = _told(item) or spaced_text(item.texts)
    return TextDocument(text, None, tuple(places)), places


def text_fields(item: Item) -> dict[str, Any]:
    """Return what JSON lines keep of a text beside its words: the text, and where they are."""
    if not isinstance(item.source, TaggedText):
        return {}
    return {"text": item.source.document.text, "offsets": [list(place) for place in item.source.places]}


def _told(item: Item) -> tuple[str, list[tuple[int, int]]] | None:
    """Return text and places that JSON lines have kept, if they fit the words."""
    other = item.source.other if isinstance(item.source, Record) else {}
    text, offsets = other.get("text"), other.get("offsets")
    if not isinstance(text, str) or not isinstance(offsets, list) or len(offsets) != len(item.texts):
        return None
    pairs = [pair for pair in offsets if isinstance(pair, list) and len(pair) == 2]
    places = [(a, b) for a, b in pairs if type(a) is int and type(b) is int and 0 <= a < b <= len(text)]
    return (text, places) if [text[a:b] for a, b in places] == item.texts else None


def _writer(write: Callable[[Iterable[TextDocument], Path], None]) -> Callable[[list[Item], Path], None]:
    def written(items: list[Item], path: Path) -> None:
        write([document_of(item, n) for n, item in enumerate(items)], path)

    return written


MARKED_WRITERS: Mapping[str, Callable[[Iterable[TextDocument], Path], None]] = {
    "brat": write_brat,
    "doccano": write_doccano,
    "labelstudio": write_label_studio,
    "prodigy": write_prodigy,
}
DOCUMENT_WRITERS = {kind: _writer(write) for kind, write in MARKED_WRITERS.items()}
