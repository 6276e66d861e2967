"""Texts with marked spans, whatever tool they were marked with."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from math import isfinite
from typing import Any, NamedTuple

from ..checks import require_share, require_whole
from ..errors import InputError, quoted
from .lines import require_short
from .word_places import Place, word_places

OFFSETS = ("characters", "utf-16")
"""What offsets count: characters as Python does, or pairs of bytes of UTF-16 as JavaScript does."""


class TextSpan(NamedTuple):
    """A part of a text with a label."""

    start: int
    """Its first character, counted from 0."""
    end: int
    """The character after its last one."""
    label: str
    probability: float | None = None
    """How sure a model is of it, if one said so."""
    pieces: tuple[Place, ...] = ()
    """Of a span with gaps, start and end of every piece; empty if there are no gaps."""
    name: str = ""
    """What the file calls it, such as T1."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Start and end of every piece."""
        return self.pieces or ((self.start, self.end),)


@dataclass(frozen=True)
class TextDocument:
    """A text, and what was marked in it."""

    text: str
    spans: tuple[TextSpan, ...] | None = ()
    """None if nobody has looked at the text: not the same as a text in which nothing was found."""
    tokens: tuple[Place, ...] | None = None
    """Where the words are, if the file says it."""
    where: str = ""
    """File and line, for messages."""
    name: str = ""
    """What the file calls it, if it does."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What else the file had, to be written again in the same format."""
    tool: str = ""
    """Whose format that was."""

    def kept_of(self, tool: str) -> dict[str, Any]:
        """Return what else the file had if it was one of that tool."""
        return self.kept if self.tool == tool else {}

    @property
    def places(self) -> list[Place]:
        """Where the words are: as the file says, or by `word_places`."""
        return word_places(self.text) if self.tokens is None else list(self.tokens)

    @property
    def words(self) -> list[str]:
        """The words."""
        return [self.text[start:end] for start, end in self.places]


def checked_document(document: TextDocument) -> TextDocument:
    """Return a document; refuse words and spans that are not within the text, or out of order."""
    try:
        document.text.encode("utf-8")
    except UnicodeEncodeError as error:  # half of a pair, which JSON can say
        raise InputError(f"the text has half a character at offset {error.start}.") from None
    before = 0
    for n, (start, end) in enumerate(document.tokens or ()):
        if not before <= start < end <= len(document.text):
            raise InputError(
                f"token {n} has the offsets {start} and {end}, after {before} and in a text of "
                f"{len(document.text)} characters."
            )
        before = end
    for start, end in document.places if len(document.text) > 1000 else ():
        if end - start > 1000:
            require_short(document.text[start:end], f"the word at offset {start}")
    for span in document.spans or ():
        require_span(span, len(document.text))
    return document


def require_span(span: TextSpan, length: int) -> None:
    """Refuse a span that is not within a text of some length, or has no label."""
    for piece in ((span.start, span.end), *span.pieces):
        for name, place in zip(("start", "end"), piece, strict=True):
            require_whole(f"The {name} of a span", place, 0)
    if span.probability is not None:
        require_share("The probability of a span", span.probability)
    before = -1
    for start, end in span.places:
        if not max(0, before) <= start < end <= length:
            raise InputError(
                f"the span {quoted(span.label, 40)} goes from start {start} to end {end} in a text of "
                f"{length} characters."
            )
        before = end
    if not span.label or span.label.strip() != span.label or not span.label.isprintable():
        raise InputError(f"the span at offset {span.start} has the label {quoted(span.label, 40)}.")
    require_short(span.label, f"the label of the span at offset {span.start}")


def require_document(document: TextDocument, n: int) -> TextDocument:
    """Return document ``n`` of those to be written, or refuse it."""
    try:
        return checked_document(document)
    except InputError as error:
        raise InputError(f"Document {n} cannot be written: {error}") from None


def require_whole_spans(document: TextDocument, tool: str) -> None:
    """Refuse spans with gaps, which most tools have no place for."""
    for span in document.spans or ():
        if span.pieces:
            raise InputError(
                f"The span {quoted(span.label, 40)} at offset {span.start} has gaps, "
                f"which {tool} has no place for."
            )


def whole_offset(value: Any, what: str) -> int:
    """Return an offset of a file, or refuse what is no whole number from 0 on."""
    if type(value) is not int or not 0 <= value < 2**53:
        raise InputError(f"{what} is {quoted(str(value), 40)}, not a whole number from 0 on.")
    return value


def text_of(value: Any, what: str) -> str:
    """Return a text of a file, or refuse what is none."""
    if not isinstance(value, str):
        raise InputError(f"{what} is not a text.")
    return value


def probability_of(value: Any) -> float | None:
    """Return a score of a file; None for what is not between 0 and 1, which is no probability."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if fits and 0 <= value <= 1 else None


def converter(text: str, offsets: str) -> Callable[[int], int]:
    """Return what turns offsets of a file into those of characters."""
    if offsets not in OFFSETS:
        raise InputError(f"offsets is {offsets!r}; it must be one of {', '.join(map(repr, OFFSETS))}.")
    if offsets == "characters" or max(text, default="") <= "\uffff":
        return lambda offset: offset
    ends = list(accumulate(1 + (character > "\uffff") for character in text))
    units = [0, *ends]

    def converted(offset: int) -> int:
        place = bisect_left(units, offset)
        if place == len(units) or units[place] != offset:
            raise InputError(f"offset {offset} of UTF-16 is inside of a character, or behind the text.")
        return place

    return converted
