"""Sentences in two languages, side by side, with or without links between their words.

    the house ||| das Haus ||| 0-0 1-1

One pair per line, "|||" or a tab between its sentences, words between spaces; links are Pharaoh's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..checks import require_whole
from ..errors import InputError, quoted
from .alignments import WordAlignment, links_of, pharaoh_text
from .lines import Source, read_lines, require_short, write_lines

MARK = "|||"


class SentencePair(NamedTuple):
    """Two sentences."""

    source: list[str]
    target: list[str]
    alignment: WordAlignment | None = None
    """None where the file has no links."""


def read_parallel(source: Source, *, first: int = 0, encoding: str = "utf-8") -> Iterator[SentencePair]:
    """Read pairs of sentences one by one.

    Malformed input raises an `InputError` that names file, line and reason: lines without two sentences,
    links to words that are not there.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    first : 0 or 1
        The number of the first word in links of the file.
    encoding : str
        Any encoding that contains ASCII.

    Examples
    --------
    >>> from io import StringIO
    >>> [pair] = read_parallel(StringIO("the house ||| das Haus ||| 0-0 1-1"))
    >>> pair.target, pair.alignment.sure
    (['das', 'Haus'], [(0, 0), (1, 1)])
    """
    require_whole("first", first, 0, 1)
    for line in read_lines(source, encoding):
        try:
            yield _pair(line.text, first)
        except InputError as error:
            raise line.error(str(error)) from None


def write_parallel(
    pairs: Iterable[SentencePair], target: Source, *, first: int = 0, encoding: str = "utf-8"
) -> None:
    """Write one pair per line, with "|||" between its parts.

    Parameters
    ----------
    pairs : iterable of SentencePair
        Words may not be empty, contain spaces, tabs or the end of a line, nor be "|||".
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    first : 0 or 1
        The number of the first word in links.
    encoding : str
        Any encoding that contains ASCII.
    """
    require_whole("first", first, 0, 1)
    write_lines((parallel_text(pair, n, first) for n, pair in enumerate(pairs)), target, encoding)


def parallel_text(pair: SentencePair, n: int = 0, first: int = 0) -> str:
    """Return a pair as one line."""
    for word in (*pair.source, *pair.target):
        if not word or word == MARK or re.search("[ \t\r\n]", word):
            raise InputError(f"Sentence pair {n} has {quoted(word, 40)}, which cannot be a word of a line.")
    parts = [" ".join(pair.source), " ".join(pair.target)]
    if pair.alignment is not None:
        _require_places(pair)
        parts.append(pharaoh_text(pair.alignment, first))
    return f" {MARK} ".join(parts)


def _pair(text: str, first: int) -> SentencePair:
    parts = text.split("\t") if "\t" in text else re.split(r"(?:^| )\|\|\|(?: |$)", text)
    if not 2 <= len(parts) <= 3:
        raise InputError(f"expected two sentences with {MARK!r} or a tab between them: {quoted(text)}.")
    words = [[word for word in part.split(" ") if word] for part in parts[:2]]
    for word in (word for side in words for word in side):
        require_short(word, "a word")
    pair = SentencePair(words[0], words[1], links_of(parts[2], first) if len(parts) == 3 else None)
    _require_places(pair)
    return pair


def _require_places(pair: SentencePair) -> None:
    """Refuse links to words that are not there."""
    for link in pair.alignment.links if pair.alignment else ():
        if link.source >= len(pair.source) or link.target >= len(pair.target):
            raise InputError(
                f"a link joins words {link.source} and {link.target}, counted from 0, but the sentences have "
                f"{len(pair.source)} and {len(pair.target)} words."
            )
