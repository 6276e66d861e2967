"""Which label is taken for which, as a heat map."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...metrics import Confusion
from ..markup import element, escape
from .frame import drawing

LIMIT = 30
"""Labels shown at most, those with most errors."""
SIZE = 400.0
SMALLEST = 6.0
"""Size of numbers that can be read."""
LETTERS = 10
"""Letters of a name shown at most."""


def plot_confusion(table: Confusion) -> str:
    """Draw shares of every true label: answered right in one colour, wrong in another."""
    chosen = most_confused(table)
    names = [str(table.labels[k]) for k in chosen]
    counts = table.counts[np.ix_(chosen, chosen)]
    totals = table.counts.sum(axis=1)[chosen]
    margin = 14.0 + 6.2 * min(max(map(len, names)), LETTERS)
    cell = min((SIZE - margin - 2) / len(chosen), 44.0)
    width = margin + cell * len(chosen) + 2
    cells = [
        _cell(names, counts[i, j], int(totals[i]), i, j, margin, cell)
        for i, j in zip(*np.nonzero(counts), strict=True)
    ]
    size = min(11.0, cell * 0.85)
    marks = [mark for k, name in enumerate(names) for mark in _names(name, k, margin, cell, size)]
    whole = cell * len(chosen)
    back = element("rect", x=margin, y=margin, width=whole, height=whole, class_="back")
    about = "Rows: true labels. Columns: answers. Darker: a greater share of the true label."
    return drawing(max(width, 240.0), width, back, *cells, *marks, about=about)


def most_confused(table: Confusion) -> list[int]:
    """Labels with most errors, given or received, in their own order."""
    wrong: Array = table.counts - np.diag(np.diag(table.counts))
    order = np.argsort(-(wrong.sum(axis=0) + wrong.sum(axis=1)), kind="stable")
    return sorted(order[:LIMIT].tolist())


def _cell(names: list[str], count: int, total: int, i: int, j: int, margin: float, cell: float) -> str:
    share = count / total
    what = "right" if i == j else f"answered {names[j]}"
    note = element("title", escape(f"{names[i]}, {what}: {count} of {total} ({share:.1%})"))
    # Errors are few: the square root makes them visible.
    place = {"x": margin + cell * j, "y": margin + cell * i, "width": cell, "height": cell}
    strength = float(max(np.sqrt(share), 0.12)) if i != j else max(share, 0.12)
    kind = "right" if i == j else "wrong"
    square = element("rect", note, **place, class_=kind, fill_opacity=strength)
    text, size = f"{count}", min(11.0, cell * 0.36, 1.6 * cell / len(f"{count}"))
    if size < SMALLEST:
        return square
    middle = {"x": place["x"] + cell / 2, "y": place["y"] + cell / 2 + size / 3}
    number = element("text", text, **middle, text_anchor="middle", font_size=size, class_="count")
    return square + number


def _names(name: str, k: int, margin: float, cell: float, size: float) -> list[str]:
    short = escape(name if len(name) <= LETTERS else name[: LETTERS - 1] + "…")
    middle = margin + cell * (k + 0.5)
    row = element(
        "text", short, x=margin - 5, y=middle + size / 3, text_anchor="end", font_size=size, class_="tick"
    )
    place = f"translate({middle + size / 3:.1f} {margin - 5:.1f}) rotate(-90)"
    column = element("text", short, transform=place, font_size=size, class_="tick")
    return [row, column]
