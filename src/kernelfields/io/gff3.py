"""Features of sequences: GFF3 is read and written, BED is written.

    chr1<tab>kernelfields<tab>CDS<tab>190<tab>255<tab>0.9731<tab>+<tab>.<tab>ID=chr1.1

GFF3 counts positions from 1 and includes the last one; BED counts from 0 and names the position behind the
last. In Python, both are as in BED.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import NamedTuple
from urllib.parse import unquote

from ..checks import require_number, require_whole
from ..errors import InputError, quoted
from .lines import Source, TextLine, read_lines, write_lines

HEADER = "##gff-version 3"
STRANDS = "+-.?"
NOTHING = "."
_NUMBER = re.compile(r"[1-9]\d{0,11}", re.ASCII)


class SequenceFeature(NamedTuple):
    """A part of a sequence with a type."""

    sequence: str
    """The name of the sequence."""
    start: int
    """Its first position, counted from 0."""
    end: int
    """The position after its last one."""
    type: str
    strand: str = NOTHING
    """"+", "-", "." if there is none, "?" if it is not known."""
    score: float | None = None
    attributes: Mapping[str, str] = {}
    source: str = NOTHING
    """Who says so."""
    phase: str = NOTHING
    line: int = 0
    """In the file, counted from 1."""


def read_gff3(source: Source) -> Iterator[SequenceFeature]:
    """Read features one by one, up to ``##FASTA`` or a line that begins with ">".

    Other lines that begin with "#" are skipped.

    Malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    """
    for line in read_lines(source, "utf-8"):
        if line.text.startswith(("##FASTA", ">")):  # the latter implies the former
            return
        if line.text.strip() and not line.text.startswith("#"):
            yield _feature(line)


def write_gff3(features: Iterable[SequenceFeature], target: Source) -> None:
    """Write features.

    Parameters
    ----------
    features : iterable of SequenceFeature
        In the order in which they are written.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    """
    write_lines((HEADER, *map(gff3_line, features)), target, "utf-8")


def write_bed(features: Iterable[SequenceFeature], target: Source) -> None:
    """Write features in six columns; the score is 1000 times that of the feature.

    Parameters
    ----------
    features : iterable of SequenceFeature
        In the order in which they are written.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    """
    write_lines(map(bed_line, features), target, "utf-8")


def gff3_line(one: SequenceFeature) -> str:
    """Return a feature as a line of GFF3."""
    _require(one)
    score = NOTHING if one.score is None else f"{one.score:.6g}"
    attributes = ";".join(f"{_escaped(key)}={_escaped(value)}" for key, value in one.attributes.items())
    names = (_escaped(one.sequence), _escaped(one.source), _escaped(one.type))
    place = (str(one.start + 1), str(one.end), score, one.strand, one.phase, attributes or NOTHING)
    return "\t".join((*names, *place))


def bed_line(one: SequenceFeature) -> str:
    """Return a feature as a line of BED."""
    _require(one)
    for name in (one.sequence, one.type):
        if not name or name != name.strip() or not name.isprintable():
            raise InputError(f"{quoted(name, 40)} cannot be a name in BED.")
    score = 0 if one.score is None else min(1000, max(0, round(1000 * one.score)))
    strand = one.strand if one.strand in "+-" else NOTHING
    return "\t".join((one.sequence, str(one.start), str(one.end), one.type, str(score), strand))


def _require(one: SequenceFeature) -> None:
    what = f"of a feature of {quoted(one.sequence, 40)}"
    for side, place in (("start", one.start), ("end", one.end)):
        require_whole(f"The {side} {what}", place, 0, 10**12)
    if one.start >= one.end:
        raise InputError(f"A feature of {quoted(one.sequence, 40)} goes from {one.start} to {one.end}.")
    if one.score is not None:
        require_number(f"The score {what}", one.score)
    if one.strand not in tuple(STRANDS):
        raise InputError(f"A feature of {quoted(one.sequence, 40)} has the strand {one.strand!r}.")


def _escaped(text: str) -> str:
    """Return a text in which characters with a meaning are written by their codes."""
    if not text:
        raise InputError("A name in GFF3 cannot be empty.")
    return re.sub(r"[\x00-\x20%;=&,\x7f>]", lambda found: f"%{ord(found[0]):02X}", text)


def _feature(line: TextLine) -> SequenceFeature:
    fields = line.text.split("\t")
    if len(fields) != 9:
        raise line.error(f"expected 9 columns between tabs, but found {len(fields)}: {quoted(line.text)}.")
    name, source, kind, start, end, score, strand, phase, attributes = fields
    for what, text in (("start", start), ("end", end)):
        if not _NUMBER.fullmatch(text):
            raise line.error(f"the {what} is {quoted(text, 40)}, not a whole number from 1 on.")
    if int(start) > int(end):
        raise line.error(f"the feature ends, at {end}, before it starts, at {start}.")
    if strand not in tuple(STRANDS):
        raise line.error(f"the strand is {quoted(strand, 40)}, not one of '+', '-', '.', '?'.")
    if not name or not kind:
        raise line.error("the name of the sequence or the type is empty.")
    known = _score(line, score)
    pairs = _attributes(line, attributes)
    place = (int(start) - 1, int(end), unquote(kind), strand, known, pairs)
    return SequenceFeature(unquote(name), *place, unquote(source), phase, line.number)


def _score(line: TextLine, text: str) -> float | None:
    if text == NOTHING:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or "_" in text:
        raise line.error(f"the score is {quoted(text, 40)}, neither a number nor '.'.")
    return value


def _attributes(line: TextLine, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in text.split(";") if text != NOTHING else []:
        key, equals, value = part.strip().partition("=")
        if key and not equals:
            raise line.error(f"the attribute {quoted(part, 40)} has no '='.")
        if key:
            pairs[unquote(key)] = unquote(value)
    return pairs
