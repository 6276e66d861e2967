"""The links between two sentences as a matrix."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...arrays import Array
from ..markup import element, escape
from .words import LETTER, shortened, sized

CELL, MARGIN = 20.0, 8.0
MOST = 60
"""Words of a sentence that is drawn."""

Link = tuple[int, int]


def plot_alignment(
    source: Sequence[str],
    target: Sequence[str],
    probabilities: Array,
    predicted: Collection[Link],
    sure: Collection[Link] = (),
    possible: Collection[Link] = (),
) -> str:
    """Draw a row for every word of one sentence and a column for every word of the other.

    Cells are the darker the more probable their link is. A dot is an answer, blue if it is a true link; a
    frame is a true link, dashed if it is only possible.
    """
    left = MARGIN + LETTER * max([len(shortened(word)) for word in source], default=0) + 6
    top = MARGIN + LETTER * max([len(shortened(word)) for word in target], default=0) + 6
    parts = [
        element("text", escape(shortened(word)), x=left - 6, y=top + CELL * (i + 0.7), text_anchor="end")
        for i, word in enumerate(source)
    ]
    for j, word in enumerate(target):
        x, y = left + CELL * (j + 0.65), top - 6
        turned = f"rotate(-90 {x:.1f} {y:.1f})"
        parts.append(element("text", escape(shortened(word)), x=x, y=y, transform=turned))
    answers, certain, true = set(predicted), set(sure), {*sure, *possible}
    for i, one in enumerate(source):
        for j, other in enumerate(target):
            share = float(probabilities[i, j])
            said = f"{one} – {other}: {share:.1%}"
            said += ", answered" if (i, j) in answers else ""
            said += ", sure" if (i, j) in certain else ", possible" if (i, j) in true else ""
            x, y = left + CELL * j, top + CELL * i
            parts.append(_cell(x, y, share, (i, j) in answers, (i, j) in true, (i, j) in certain, said))
    width, height = left + CELL * len(target) + MARGIN, top + CELL * len(source) + MARGIN
    about = "Which words of two sentences belong together, with probabilities."
    return sized(width, height, *parts, about=about)


def _cell(x: float, y: float, share: float, answered: bool, true: bool, sure: bool, said: str) -> str:
    parts = [element("title", escape(said))]
    size = {"width": CELL - 1, "height": CELL - 1}
    parts.append(element("rect", x=x, y=y, **size, class_="cell"))
    parts.append(element("rect", x=x, y=y, **size, class_="share", fill_opacity=share))
    if true:
        inner = {"x": x + 1.5, "y": y + 1.5, "width": CELL - 4, "height": CELL - 4}
        parts.append(element("rect", **inner, class_="truth sure" if sure else "truth"))
    if answered:
        centre = {"cx": x + (CELL - 1) / 2, "cy": y + (CELL - 1) / 2}
        parts.append(element("circle", **centre, r=4, class_="link right" if true else "link wrong"))
    return element("g", *parts)
