"""A row of words below or above a picture."""

from __future__ import annotations

from collections.abc import Sequence

from ..markup import element, escape

LETTER, GAP, LEAST = 7.6, 18.0, 40.0
"""Width of a letter, of the space between words, and of the shortest word."""
LONGEST = 24
"""Letters that are shown of a word."""


def shortened(word: str) -> str:
    """Return a word, or the beginning of a long one."""
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"


def centres_of(words: Sequence[str]) -> list[float]:
    """Return where words stand in a row, the middle of each, and the end of the row."""
    places, x = [], GAP / 2
    for word in words:
        width = max(LETTER * len(shortened(word)), LEAST)
        places.append(x + width / 2)
        x += width + GAP
    return [*places, x]


def word_row(words: Sequence[str], places: Sequence[float], y: float, kind: str = "word") -> list[str]:
    """Draw words in a row."""
    return [
        element("text", escape(shortened(word)), x=x, y=y, text_anchor="middle", class_=kind)
        for word, x in zip(words, places, strict=False)
    ]


def sized(width: float, height: float, *content: str, about: str) -> str:
    """Return a picture in its own size: what is wider than the page scrolls."""
    box = f"0 0 {width:g} {height:g}"
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    picture = element("svg", *content, viewBox=box, **size, role="img", aria_label=about, class_="parse")
    return element("div", picture, class_="scroll")
