"""Whether probabilities come true."""

from __future__ import annotations

import numpy as np

from ...metrics import Reliability
from ..markup import element, escape
from .frame import BOTTOM, TOP, Axis, Frame, percent

TALLEST = 0.25
"""Height of the tallest bar, as a share of the plot."""


def plot_reliability(table: Reliability, noun: str = "label") -> str:
    """Draw accuracy against confidence by bins; bars say how many labels, or other answers, a bin holds."""
    frame = Frame(
        Axis(0.0, 1.0, f"probability of the {noun}", percent), Axis(0.0, 1.0, "share that is right", percent)
    )
    filled = np.flatnonzero(table.support)
    points = [(float(table.confidence[b]), float(table.accuracy[b])) for b in filled]
    dots = [
        frame.dot(x, y, 4, "dot", f"{table.support[b]} {noun}s: {percent(x)} said, {percent(y)} right")
        for b, (x, y) in zip(filled, points, strict=True)
    ]
    bars = [_bar(frame, table, int(b), noun) for b in filled]
    diagonal = frame.line([(0.0, 0.0), (1.0, 1.0)], "flat")
    about = f"Share of right {noun}s against their probability; on the diagonal, probabilities come true."
    return frame.draw(*bars, diagonal, frame.line(points, "main"), *dots, about=about)


def _bar(frame: Frame, table: Reliability, b: int, noun: str) -> str:
    share = float(table.support[b] / table.support.max())
    left, _ = frame.at(float(table.edges[b]), 0.0)
    right, _ = frame.at(float(table.edges[b + 1]), 0.0)
    height = max(share * TALLEST * (BOTTOM - TOP), 1.0)
    note = element("title", escape(f"{table.support[b]} {noun}s"))
    place = {"x": left + 1, "y": BOTTOM - height, "width": right - left - 2, "height": height}
    return element("rect", note, **place, class_="bar")
