"""A dependency tree: arcs above the words that were found, arcs below them that were missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..markup import element, escape
from .words import centres_of, sized, word_row

STEP, ROOT_HEIGHT, TEXT = 22.0, 26.0, 16.0
FAINTEST = 0.3
"""How visible an arc remains that is not probable at all."""
MOST = 60
"""Words of a sentence that is drawn."""


class DrawnArc(NamedTuple):
    """An arc from a head to a word."""

    head: int
    """Counted from 1; 0 for the root."""
    word: int
    relation: str = ""
    kind: str = "right"
    """"right", "wrong" or "missed"."""
    probability: float | None = None
    note: str = ""

    @property
    def ends(self) -> tuple[int, int]:
        """Its leftmost and its rightmost word."""
        return min(self.head, self.word), max(self.head, self.word)


def plot_arcs(
    words: Sequence[str],
    tags: Sequence[str] | None,
    found: Sequence[DrawnArc],
    missed: Sequence[DrawnArc] = (),
) -> str:
    """Draw arcs above and below words, paler where they are less probable."""
    *places, width = centres_of(words)
    above, below = levels_of(found), levels_of(missed)
    top = 8 + STEP * max([*above, 1]) + TEXT
    foot = top + 2 * TEXT + 4
    height = foot + (8 + STEP * max([*below, 1]) + TEXT if missed else 0)
    parts = [_arc(arc, level, places, top, -1.0) for arc, level in zip(found, above, strict=True)]
    parts += [_arc(arc, level, places, foot, 1.0) for arc, level in zip(missed, below, strict=True)]
    parts += word_row(words, places, top + TEXT)
    parts += word_row(tags, places, top + 2 * TEXT - 2, "tag") if tags is not None else []
    about = "A dependency tree: " + "; ".join(arc.note for arc in found) + "."
    return sized(width, height, *parts, about=about)


def levels_of(arcs: Sequence[DrawnArc]) -> list[int]:
    """Return how high each arc is drawn: above all arcs within it; 1 for the lowest and for the root."""
    levels = [1] * len(arcs)
    inner = sorted(
        (n for n, arc in enumerate(arcs) if arc.head), key=lambda n: arcs[n].ends[1] - arcs[n].ends[0]
    )
    for k, n in enumerate(inner):
        first, last = arcs[n].ends
        within = [
            levels[other]
            for other in inner[:k]
            if first <= arcs[other].ends[0] and arcs[other].ends[1] <= last
        ]
        levels[n] = 1 + max(within, default=0)
    return levels


def _arc(arc: DrawnArc, level: int, places: Sequence[float], y: float, side: float) -> str:
    """Draw one arc, upwards or downwards, with its relation at the summit."""
    x = places[arc.word - 1]
    tip = y - 2 if side < 0 else y + 2
    lift = side * STEP * level
    if arc.head == 0:
        lift = side * ROOT_HEIGHT
        way, summit = f"M {x:.1f} {tip + lift:.1f} L {x:.1f} {tip:.1f}", x
    else:
        start = places[arc.head - 1] + (5 if arc.head < arc.word else -5)
        way = (
            f"M {start:.1f} {tip:.1f} C {start:.1f} {tip + 4 / 3 * lift:.1f} "
            f"{x:.1f} {tip + 4 / 3 * lift:.1f} {x:.1f} {tip:.1f}"
        )
        summit = (start + x) / 2
    name = "root" if arc.head == 0 and not arc.relation else arc.relation
    point = f"{x - 3.5:.1f},{tip + side * 7:.1f} {x + 3.5:.1f},{tip + side * 7:.1f} {x:.1f},{tip:.1f}"
    label = tip + lift - 3 if side < 0 else tip + lift + 11
    return element(
        "g",
        element("title", escape(arc.note)),
        element("path", d=way, class_="way"),
        element("polygon", points=point, class_="point"),
        element("text", escape(name), x=summit, y=label, text_anchor="middle", class_="relation"),
        class_=f"arc {arc.kind}",
        opacity=1.0 if arc.probability is None else max(arc.probability, FAINTEST),
    )
