"""FASTA: letters of proteins or nucleic acids, or one label per letter, below a line with their name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..errors import InputError, quoted
from .lines import Source, TextLine, read_lines, write_lines

WIDTH = 60
"""Letters on a line that is written."""


class LetterSequence(NamedTuple):
    """A named sequence of letters."""

    name: str
    """The first word behind ">"."""
    letters: str
    description: str = ""
    """The rest of that line."""


def read_fasta(source: Source) -> Iterator[LetterSequence]:
    r"""Read sequences one by one.

    Letters are any visible ASCII characters and stay as they are. Lines that are empty or begin with ";" are
    skipped. Malformed input raises an `InputError` that names file, line and reason: letters before the first
    name, spaces among letters, a name that is missing or there twice, a sequence without letters.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.

    Examples
    --------
    >>> from io import StringIO
    >>> [one] = read_fasta(StringIO(">chr1 a plasmid\nACGT\nAC\n"))
    >>> one.name, one.letters
    ('chr1', 'ACGTAC')
    """
    seen: set[str] = set()
    head: TextLine | None = None
    parts: list[str] = []
    for line in read_lines(source, "utf-8"):
        if line.text.startswith(">"):
            if head is not None:
                yield _sequence(head, parts)
            head, parts = line, []
            name = _name(line)
            if name in seen:
                raise line.error(f"the name {quoted(name, 40)} is there twice.")
            seen.add(name)
        elif line.text.strip() and not line.text.startswith(";"):
            if head is None:
                raise line.error(
                    f"expected '>' and a name before the letters, but found {quoted(line.text, 40)}."
                )
            parts.append(_letters(line))
    if head is not None:
        yield _sequence(head, parts)


def write_fasta(sequences: Iterable[LetterSequence], target: Source) -> None:
    """Write sequences, 60 letters on a line.

    Parameters
    ----------
    sequences : iterable of LetterSequence
        Their names must not contain spaces.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    """
    write_lines((line for one in sequences for line in _lines(one)), target, "utf-8")


def _lines(one: LetterSequence) -> Iterator[str]:
    head = f">{one.name} {one.description}".rstrip()
    if not one.name or len(one.name.split()) != 1 or "\n" in head or "\r" in head:
        raise InputError(f"{quoted(one.name, 40)} cannot be the name of a sequence in FASTA.")
    if (
        not one.letters
        or not (one.letters.isascii() and one.letters.isprintable())
        or set(one.letters) & set(" >;")
    ):
        raise InputError(f"The letters of {quoted(one.name, 40)} cannot be written in FASTA.")
    yield head
    yield from (one.letters[a : a + WIDTH] for a in range(0, len(one.letters), WIDTH))


def _name(line: TextLine) -> str:
    words = line.text[1:].split(maxsplit=1)
    if not words:
        raise line.error("no name follows '>'.")
    return words[0]


def _sequence(head: TextLine, parts: list[str]) -> LetterSequence:
    name = _name(head)
    if not parts:
        raise head.error(f"{quoted(name, 40)} has no letters.")
    rest = head.text[1:].split(maxsplit=1)[1:]
    return LetterSequence(name, "".join(parts), rest[0].rstrip() if rest else "")


def _letters(line: TextLine) -> str:
    letters = line.text.rstrip()
    if not letters.isascii() or not letters.isprintable() or " " in letters:
        bad = next(one for one in letters if not "!" <= one <= "~")
        raise line.error(f"{bad!r} is not a letter of a sequence.")
    return letters
