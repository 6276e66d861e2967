"""Word alignments: which words of two sentences belong together.

Pharaoh's format has a line for every pair of sentences, ``0-0 1-2 2?3``: positions in the first and in the
second sentence, with "-" between them where the link is sure, and "?" or "p" where it is only possible. The
format of the NAACL 2003 shared task has a line for every link, ``18 1 2 P 0.7``: the number of the sentence
pair and two positions, counted from 1, then S or P, then a confidence; the last two may be missing.

In Python, positions are counted from 0 in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import NamedTuple

from ..checks import require_number, require_whole
from ..errors import InputError, quoted
from .lines import Source, TextLine, read_lines, write_lines

POSSIBLE = "?p"
"""What stands between the positions of a link that is only possible."""


class AlignmentLink(NamedTuple):
    """A link between two words."""

    source: int
    """Position in the first sentence, counted from 0."""
    target: int
    """Position in the second one."""
    sure: bool = True
    """Whether it is more than possible."""
    confidence: float | None = None


class WordAlignment(NamedTuple):
    """All links between two sentences, in the order of the file."""

    links: tuple[AlignmentLink, ...] = ()

    @property
    def sure(self) -> list[tuple[int, int]]:
        """Pairs of positions that surely belong together."""
        return [(link.source, link.target) for link in self.links if link.sure]

    @property
    def possible(self) -> list[tuple[int, int]]:
        """Pairs of positions that may belong together, the sure ones among them."""
        return [(link.source, link.target) for link in self.links]


def read_pharaoh(source: Source, *, first: int = 0) -> Iterator[WordAlignment]:
    """Read the links of every pair of sentences; an empty line has none.

    Malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    first : 0 or 1
        The number of the first word in the file.

    Examples
    --------
    >>> from io import StringIO
    >>> [alignment] = read_pharaoh(StringIO("0-0 1?2"))
    >>> alignment.sure, alignment.possible
    ([(0, 0)], [(0, 0), (1, 2)])
    """
    require_whole("first", first, 0, 1)
    for line in read_lines(source, "utf-8"):
        try:
            yield links_of(line.text, first)
        except InputError as error:
            raise line.error(str(error)) from None


def write_pharaoh(
    alignments: Iterable[WordAlignment], target: Source, *, first: int = 0, possible: str = "?"
) -> None:
    """Write a line for every pair of sentences; confidences have no place there, and are left out.

    Parameters
    ----------
    alignments : iterable of WordAlignment
        Links, in the order in which they are written.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    first : 0 or 1
        The number of the first word in the file.
    possible : "?" or "p"
        What stands between the positions of a link that is only possible.
    """
    require_whole("first", first, 0, 1)
    if possible not in tuple(POSSIBLE):
        raise InputError(f"possible is {possible!r}; it must be '?' or 'p'.")
    write_lines(
        (pharaoh_text(_checked(one, n), first, possible) for n, one in enumerate(alignments)), target, "utf-8"
    )


def pharaoh_text(alignment: WordAlignment, first: int = 0, possible: str = "?") -> str:
    """Return the links of a pair of sentences as one line."""
    return " ".join(
        f"{link.source + first}{'-' if link.sure else possible}{link.target + first}"
        for link in alignment.links
    )


_LINK = re.compile(r"(\d{1,9})([-?p])(\d{1,9})", re.ASCII)


def links_of(text: str, first: int = 0) -> WordAlignment:
    """Read the links of one line of Pharaoh's format."""
    links: dict[tuple[int, int], AlignmentLink] = {}
    for word in re.split("[ \t]+", text.strip(" \t")) if text.strip(" \t") else []:
        found = _LINK.fullmatch(word)
        if not found:
            raise InputError(f"{quoted(word, 40)} is not a link such as 0-1, or 0?1 for a possible one.")
        i, j = int(found[1]) - first, int(found[3]) - first
        if min(i, j) < 0:
            raise InputError(f"{quoted(word, 40)} has word 0, but words are counted from 1.")
        if (i, j) in links:
            raise InputError(f"the link {quoted(word, 40)} is there twice.")
        links[i, j] = AlignmentLink(i, j, found[2] == "-")
    return WordAlignment(tuple(links.values()))


def read_naacl(source: Source) -> dict[int, WordAlignment]:
    r"""Read the links of all pairs of sentences, by the numbers that the file gives them.

    Pairs without links are not in the file, and not in the result. A link to word 0 says that a word belongs
    to none of the other sentence; it is no link, and left out. Malformed input raises an `InputError` that
    names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.

    Examples
    --------
    >>> from io import StringIO
    >>> read_naacl(StringIO("7 1 1\n7 2 3 P 0.5\n"))[7].possible
    [(0, 0), (1, 2)]
    """
    found: dict[int, dict[tuple[int, int], AlignmentLink]] = {}
    for line in read_lines(source, "utf-8"):
        if not line.text.strip(" \t"):
            continue
        pair, link = _naacl_link(line)
        links = found.setdefault(pair, {})
        if link is None:
            continue
        if link[:2] in links:
            raise line.error(
                f"the link of words {link.source + 1} and {link.target + 1} of pair {pair} is there twice."
            )
        links[link.source, link.target] = link
    return {pair: WordAlignment(tuple(links.values())) for pair, links in found.items()}


def write_naacl(alignments: Mapping[int, WordAlignment], target: Source) -> None:
    """Write a line for every link; S or P in all of them, confidences where there are some.

    Parameters
    ----------
    alignments : mapping from numbers of sentence pairs to WordAlignment
        Of pairs without links nothing is written.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    """
    write_lines(
        (line for pair, alignment in alignments.items() for line in naacl_lines(pair, alignment)),
        target,
        "utf-8",
    )


def naacl_lines(pair: int, alignment: WordAlignment) -> Iterator[str]:
    """Return a line for every link of the pair of sentences with a number."""
    number = require_whole("The number of a sentence pair", pair, 0)
    for link in _checked(alignment, number).links:
        kind = "S" if link.sure else "P"
        confidence = "" if link.confidence is None else f" {link.confidence:.6g}"
        yield f"{number} {link.source + 1} {link.target + 1} {kind}{confidence}"


_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


def _naacl_link(line: TextLine) -> tuple[int, AlignmentLink | None]:
    """Return the number of the pair, and the link unless it is to no word."""
    fields = re.split("[ \t]+", line.text.strip(" \t"))
    if not 3 <= len(fields) <= 5 or not all(_NUMBER.fullmatch(field) for field in fields[:3]):
        raise line.error(
            f"expected 'sentence i j', with S or P and a confidence if there are any: {quoted(line.text)}."
        )
    pair, i, j = map(int, fields[:3])
    kind, sure = fields[3:4], True
    if kind and kind[0] not in ("S", "P"):
        raise line.error(f"{quoted(kind[0], 40)} is neither S (sure) nor P (possible).")
    sure = kind != ["P"]
    confidence = None if len(fields) < 5 else _confidence(line, fields[4])
    if i == 0 or j == 0:
        return pair, None
    return pair, AlignmentLink(i - 1, j - 1, sure, confidence)


def _confidence(line: TextLine, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or "_" in text:
        raise line.error(f"the confidence is {quoted(text, 40)}, which is not a number.")
    return value


def _checked(alignment: WordAlignment, n: int) -> WordAlignment:
    """Refuse links that could not be read again."""
    seen = set()
    for link in alignment.links:
        for side in ("source", "target"):
            require_whole(f"The {side} of a link of sentence pair {n}", getattr(link, side), 0, 10**9 - 2)
        if link.confidence is not None:
            require_number(f"The confidence of a link of sentence pair {n}", link.confidence)
        if link[:2] in seen:
            where = f"words {link.source} and {link.target}"
            raise InputError(f"Sentence pair {n} has the link of {where} twice.")
        seen.add(link[:2])
    return alignment
