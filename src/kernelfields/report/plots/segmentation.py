"""A grid of labels beside what a model says about it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...arrays import Array
from ..markup import element, escape
from .colours import colour_of, legend
from .frame import drawing

WIDTH, GAP, TITLE = 640.0, 20.0, 18.0
MOST = 10_000
"""Pixels of a grid that is drawn."""


def plot_segmentation(
    shape: tuple[int, int],
    true: Sequence[Hashable],
    answers: Sequence[Hashable],
    marginals: Array,
    classes: Sequence[Hashable],
) -> str:
    """Draw true labels, answers, and answers as pale as they are improbable."""
    height, width = shape
    cell = min((WIDTH - 2 * GAP) / (3 * width), 24.0)
    index = {label: k for k, label in enumerate(classes)}
    sure = [float(p[index[answer]]) for p, answer in zip(marginals, answers, strict=True)]
    panels = (
        ("true labels", true, None),
        ("answers", answers, None),
        ("answers by probability", answers, sure),
    )
    parts = []
    for n, (title, labels, strength) in enumerate(panels):
        left = n * (width * cell + GAP)
        parts.append(element("text", escape(title), x=left, y=TITLE - 6, class_="title"))
        parts += [
            _pixel(
                left + cell * (t % width),
                TITLE + cell * (t // width),
                cell,
                label,
                classes,
                None if strength is None else strength[t],
            )
            for t, label in enumerate(labels)
        ]
    about = "Grids of labels: the true ones, the answers, and answers paler where they are less probable."
    whole = drawing(3 * width * cell + 2 * GAP, TITLE + height * cell, *parts, about=about)
    return whole + legend(classes, [*true, *answers])


def _pixel(
    x: float, y: float, cell: float, label: Hashable, classes: Sequence[Hashable], share: float | None
) -> str:
    said = "not known" if label is None else str(label)
    note = element("title", escape(said if share is None else f"{said}, {share:.1%}"))
    place = {"x": x, "y": y, "width": cell, "height": cell}
    strength = {} if share is None else {"fill_opacity": share}
    return element("rect", note, **place, fill=colour_of(label, classes), **strength)
