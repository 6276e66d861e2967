"""Marked texts as words with IOB2 tags, and tags as spans of characters again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..errors import InputError, quoted
from ..io.text_documents import TextDocument, TextSpan
from ..io.word_places import Place
from ..metrics import entity_spans, has_entities

OUTSIDE = "O"
RULES = ("refuse", "mend", "drop")
"""What happens to spans that tags cannot tell: refuse the file; widen those that cut a word, take pieces for
spans, of overlapping ones the longest; or leave them out."""


@dataclass(frozen=True)
class TaggedText:
    """A text, where its words are, and a tag for each."""

    document: TextDocument
    places: list[Place]
    tags: list[str | None] | None
    """None if nobody has looked at the text."""
    faults: tuple[str, ...] = ()
    """What was mended or left out."""


class _CoveredWords(NamedTuple):
    """Words that a span covers."""

    first: int
    stop: int
    label: str


def tagged_text(document: TextDocument, rule: str = "refuse") -> TaggedText:
    """Return the words of a text with IOB2 tags; what happens to spans that do not fit says ``rule``."""
    if rule not in RULES:
        raise InputError(f"spans is {rule!r}; it must be one of {', '.join(map(repr, RULES))}.")
    places = document.places
    if document.spans is None:
        return TaggedText(document, places, None)
    tags: list[str | None] = [OUTSIDE] * len(places)
    faults: list[str] = []
    for one in _without_overlaps(_ranges(document, places, rule, faults), document, places, rule, faults):
        tags[one.first : one.stop] = [f"I-{one.label}"] * (one.stop - one.first)
        tags[one.first] = f"B-{one.label}"
    return TaggedText(document, places, tags, tuple(faults))


def _ranges(
    document: TextDocument, places: list[Place], rule: str, faults: list[str]
) -> Iterator[_CoveredWords]:
    """Return the words of every span."""
    starts, ends = [start for start, _ in places], [end for _, end in places]
    for span in document.spans or ():
        if span.pieces:
            _fault(document, span, "has gaps", rule, faults)
            if rule == "drop":
                continue
        for start, end in span.places:
            first, stop = bisect_right(ends, start), bisect_left(starts, end)
            if first >= stop:
                _fault(document, span, "has no word in it", rule, faults)
                continue
            if (starts[first], ends[stop - 1]) != (start, end):
                whole = document.text[starts[first] : ends[stop - 1]]
                _fault(
                    document,
                    span,
                    f"does not begin and end with words, as {quoted(whole, 40)} does",
                    rule,
                    faults,
                )
                if rule == "drop":
                    continue
            yield _CoveredWords(first, stop, span.label)


def _without_overlaps(
    ranges: Iterator[_CoveredWords], document: TextDocument, places: list[Place], rule: str, faults: list[str]
) -> list[_CoveredWords]:
    """Return spans no two of which have a word in common; the longest are taken first."""
    taken: dict[int, _CoveredWords] = {}
    kept: list[_CoveredWords] = []
    order = sorted(ranges, key=lambda one: (one.first - one.stop, one.first))
    for one in order:
        other = next((taken[t] for t in range(one.first, one.stop) if t in taken), None)
        if other is not None:
            span = TextSpan(places[one.first][0], places[one.stop - 1][1], one.label)
            _fault(document, span, f"overlaps one of {quoted(other.label, 40)}", rule, faults)
            continue
        taken |= dict.fromkeys(range(one.first, one.stop), one)
        kept.append(one)
    return kept


def _fault(document: TextDocument, span: TextSpan, reason: str, rule: str, faults: list[str]) -> None:
    """Refuse a span, or remember why it is not as it was."""
    words = quoted(document.text[span.start : span.end], 40)
    what = f"{document.where or 'A document'}: the span {words} of {quoted(span.label, 40)}, offsets "
    what += f"{span.start} to {span.end}, {reason}"
    if rule == "refuse":
        units = ", or do offsets count UTF-16 (offsets='utf-16')?" if max(document.text) > "\uffff" else "."
        raise InputError(f"{what}; spans='mend' or 'drop' (--spans) would go on{units}")
    faults.append(f"{what}.")


def marked_text(
    document: TextDocument,
    places: Sequence[Place],
    labels: Sequence[Any],
    probabilities: Sequence[float] | None = None,
) -> TextDocument:
    """Return the text with the spans that labels of its words say.

    Entities (labels such as "B-PER") are spans; of other labels every word is one, but for those that are
    "O" or None. Probabilities are those of the spans, in order.
    """
    found = label_ranges(labels)
    sure = [None] * len(found) if probabilities is None else probabilities
    spans = tuple(
        TextSpan(places[first][0], places[stop - 1][1], label, probability)
        for (first, stop, label), probability in zip(found, sure, strict=True)
    )
    return replace(document, spans=spans, tokens=tuple(places))


def label_ranges(labels: Sequence[Any]) -> list[tuple[int, int, str]]:
    """Return first position, the one after the last, and label of all spans."""
    if has_entities(labels):
        return [(first, stop, kind or "entity") for first, stop, kind in entity_spans([list(labels)])[0]]
    return [(t, t + 1, str(label)) for t, label in enumerate(labels) if label not in (OUTSIDE, None)]


def spaced_text(words: Sequence[str]) -> tuple[str, list[Place]]:
    """Return words with a space between them, and where they are."""
    places, end = [], 0
    for word in words:
        places.append((end, end + len(word)))
        end += len(word) + 1
    return " ".join(words), places
