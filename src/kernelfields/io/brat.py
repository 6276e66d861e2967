r"""Standoff annotation of brat: a text, and beside it a file of the same name with the spans.

    T1<tab>PER 0 3<tab>Ana
    T2<tab>LOC 8 13;20 24<tab>North Bank
    R1<tab>Lives Arg1:T1 Arg2:T2

Offsets count the characters of the .txt file, ends of lines among them as they are; pieces of a span with
gaps are separated by semicolons. All other lines (relations, events, attributes, notes) are kept. A
probability is a note: ``#1<tab>AnnotatorNotes T1<tab>probability 0.9731``.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import InputError, quoted
from .lines import TextLine, read_lines, write_lines
from .replacing import write_files
from .text_documents import (
    TextDocument,
    TextSpan,
    checked_document,
    probability_of,
    require_document,
    require_span,
)
from .word_places import Place

TOOL = "brat"
LARGEST = 2**28
"""Bytes of a text."""
NOTE = "AnnotatorNotes"
PROBABILITY = "probability"
OTHERS = "RE*AMN#W"
"""What lines begin with that are no spans."""
_SPAN = re.compile(r"(\S+) (\d{1,10} \d{1,10}(?:;\d{1,10} \d{1,10})*)", re.ASCII)
_NAME = re.compile(r"[\w.-]{1,100}")


def read_brat(path: str | os.PathLike[str]) -> Iterator[TextDocument]:
    """Read one document, or those of a folder in the order of their names.

    A text without a file of annotations was not looked at; with an empty one, nothing was found in it.
    Malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    path : path
        The .txt or the .ann file, or a folder of such pairs.
    """
    given = Path(path)
    if not given.is_dir():
        yield _read_pair(given.with_suffix(".txt"))
        return
    texts = sorted(given.glob("*.txt"))
    if not texts:
        raise InputError(f"{given} has no .txt files.")
    alone = next((one for one in sorted(given.glob("*.ann")) if not one.with_suffix(".txt").is_file()), None)
    if alone is not None:
        raise InputError(f"{alone} has no text beside it, {alone.with_suffix('.txt').name}.")
    for text in texts:
        yield _read_pair(text)


def write_brat(documents: Iterable[TextDocument], target: str | os.PathLike[str]) -> None:
    """Write documents, a text and a file of annotations each.

    Parameters
    ----------
    documents : iterable of TextDocument
        Those without marks are written as texts alone.
    target : path
        A folder, which is made if need be; or, for a single document, a name that ends with .ann or .txt.
    """
    path, given = Path(target), [require_document(one, n) for n, one in enumerate(documents)]
    single = path.suffix in (".ann", ".txt")
    if single and len(given) != 1:
        raise InputError(f"{path} is one document, but there are {len(given)}; name a folder.")
    if not single:
        path.mkdir(parents=True, exist_ok=True)
    bases = [path.with_suffix("")] if single else [path / name for name in _file_names(given)]
    prepared = [None if one.spans is None else list(annotation_lines(one)) for one in given]
    contents: dict[Path, bytes] = {}
    for document, base, lines in zip(given, bases, prepared, strict=True):
        contents[base.with_name(f"{base.name}.txt")] = document.text.encode("utf-8")
        if lines is not None:
            packed = io.BytesIO()
            write_lines(lines, packed, "utf-8")
            contents[base.with_name(f"{base.name}.ann")] = packed.getvalue()
    if contents:
        write_files(contents)


def annotation_lines(document: TextDocument) -> Iterator[str]:
    """Return the lines of the file of annotations."""
    names = _span_names(document)
    notes = []
    for span, name in zip(document.spans or (), names, strict=True):
        if any(letter.isspace() for letter in span.label):
            raise InputError(f"The label {span.label!r} has a space, which brat has no place for.")
        places = ";".join(f"{start} {end}" for start, end in span.places)
        yield f"{name}\t{span.label} {places}\t{_shown(document.text, span.places)}"
        if span.probability is not None:
            notes.append((name, span.probability))
    others = [line for line in document.kept_of(TOOL).get("lines", ()) if not _is_probability(line)]
    yield from others
    taken = {line.partition("\t")[0] for line in others}
    free = (f"#{n}" for n in range(1, len(taken) + len(notes) + 2) if f"#{n}" not in taken)
    for (name, probability), number in zip(notes, free, strict=False):
        yield f"{number}\t{NOTE} {name}\t{PROBABILITY} {probability:.6g}"


def _read_pair(path: Path) -> TextDocument:
    """Read a text and its annotations, if there are any."""
    text, annotations = _text(path), path.with_suffix(".ann")
    if not annotations.is_file():
        return _checked(TextDocument(text, None, where=str(path), name=path.stem))
    spans: dict[str, TextSpan] = {}
    others: list[str] = []
    for line in read_lines(annotations, "utf-8"):
        if line.text.startswith("T"):
            span = _span(line, text)
            if span.name in spans:
                raise line.error(f"{span.name} is there twice.")
            spans[span.name] = span
        elif line.text.strip():
            if line.text[0] not in OTHERS:
                raise line.error(f"not a line of brat: {quoted(line.text)}.")
            others.append(line.text)
    for note in filter(_is_probability, others):
        name, value = note.split("\t")[1].split(" ")[1], note.rpartition(" ")[2]
        if name in spans:
            spans[name] = spans[name]._replace(probability=_probability(value))
    found = tuple(spans.values())
    return _checked(TextDocument(text, found, None, str(annotations), path.stem, {"lines": others}, TOOL))


def _checked(document: TextDocument) -> TextDocument:
    try:
        return checked_document(document)
    except InputError as error:
        raise InputError(f"{document.where}: {error}") from None


def _text(path: Path) -> str:
    if path.stat().st_size > LARGEST:
        raise InputError(f"{path} has more than {LARGEST:,} bytes, which is the limit.")
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: byte {error.start + 1} of the file is not utf-8.") from None


def _span(line: TextLine, text: str) -> TextSpan:
    """Read a line for a span, and compare its text with that at its offsets."""
    fields = line.text.split("\t", 2)
    found = _SPAN.fullmatch(fields[1]) if len(fields) > 1 else None
    if found is None:
        raise line.error(f"expected 'T1<tab>LABEL start end<tab>text', but found {quoted(line.text)}.")
    bounds = [tuple(map(int, piece.split(" "))) for piece in found[2].split(";")]
    places: list[Place] = [(start, end) for start, end in bounds]
    pieces = tuple(places) if len(places) > 1 else ()
    span = TextSpan(places[0][0], places[-1][1], found[1], None, pieces, fields[0])
    try:
        require_span(span, len(text))
    except InputError as error:
        raise line.error(str(error)) from None
    if len(fields) == 3 and fields[2].split() != _shown(text, places).split():
        there = quoted(_shown(text, places), 40)
        raise line.error(f"the text at these offsets is {there}, but the line says {quoted(fields[2], 40)}.")
    return span


def _shown(text: str, places: Iterable[Place]) -> str:
    """Return the text of a span on one line."""
    return re.sub(r"[\r\n\t]", " ", " ".join(text[start:end] for start, end in places))


def _is_probability(line: str) -> bool:
    fields = line.split("\t")
    says = len(fields) == 3 and fields[1].startswith(f"{NOTE} ") and fields[1].count(" ") == 1
    return line.startswith("#") and says and re.fullmatch(rf"{PROBABILITY} [\d.e+-]+", fields[2]) is not None


def _probability(text: str) -> float | None:
    try:
        return probability_of(float(text))
    except ValueError:
        return None


def _span_names(document: TextDocument) -> list[str]:
    """Return a name for every span: its own if it is one of brat and not taken, else the next number."""
    spans = document.spans or ()
    own = [span.name if re.fullmatch(r"T\d{1,9}", span.name, re.ASCII) else "" for span in spans]
    first = {name: n for n, name in reversed(list(enumerate(own)))}
    free = (name for n in range(1, 2 * len(own) + 2) if (name := f"T{n}") not in first)
    return [name if name and first[name] == n else next(free) for n, name in enumerate(own)]


def _file_names(documents: list[TextDocument]) -> list[str]:
    """Return names of files: those of the documents if all of them have different ones."""
    names = [one.name for one in documents]
    fit = all(_NAME.fullmatch(name) and not name.startswith(".") for name in names)
    if fit and len({name.lower() for name in names}) == len(names):
        return names
    return [f"document-{n:05}" for n in range(len(names))]
