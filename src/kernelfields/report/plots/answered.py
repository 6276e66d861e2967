"""Error against share answered."""

from __future__ import annotations

import math

from ...metrics import AnsweredCurve
from ..markup import element
from .frame import Axis, Frame, Point, percent


def plot_answered(curve: AnsweredCurve, chosen: int, noun: str = "label") -> tuple[str, list[Point | None]]:
    """Draw the curve with a mark at the chosen threshold; ``noun`` is what an answer is called.

    Returns
    -------
    str, list
        The picture, and the place of the mark for every threshold; None where nothing is answered.
    """
    points = [
        (float(a), float(e)) for a, e in zip(curve.answered, curve.error, strict=True) if math.isfinite(e)
    ]
    highest = max([error for _, error in points] + [0.001]) * 1.1
    frame = Frame(
        Axis(0.0, 1.0, f"share of {noun}s answered", percent),
        Axis(0.0, highest, "wrong among them", percent),
    )
    # Without abstaining at all: what leaving out labels at random would give.
    flat = [(0.0, points[0][1]), (1.0, points[0][1])]
    marks: list[Point | None] = [
        frame.at(float(a), float(e)) if math.isfinite(e) else None
        for a, e in zip(curve.answered, curve.error, strict=True)
    ]
    x, y = marks[chosen] or (0.0, 0.0)
    mark = element("circle", id="mark", cx=x, cy=y, r=6, class_="mark" if marks[chosen] else "mark hidden")
    about = f"Error against the share of {noun}s answered, one point per threshold."
    return frame.draw(frame.line(flat, "flat"), frame.line(points, "main"), mark, about=about), marks
