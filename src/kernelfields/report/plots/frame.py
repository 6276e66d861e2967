"""Axes: numbers to places, ticks, and the frame around a plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..markup import element, escape

WIDTH, HEIGHT = 400.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 378.0, 14.0, 226.0

Point = tuple[float, float]

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """Numbers between two limits, on a line or on a logarithmic one."""

    low: float
    high: float
    title: str
    label: Callable[[float], str]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Where a number is: 0 at the low limit, 1 at the high one; no farther."""
        low, high, value = (self._warped(number) for number in (self.low, self.high, value))
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def ticks(self) -> list[float]:
        """Round numbers between the limits."""
        return _powers(self.low, self.high) if self.logarithmic else _round(self.low, self.high)

    def _warped(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value


@dataclass(frozen=True)
class Frame:
    """A plot's axes."""

    x: Axis
    y: Axis

    def at(self, x: float, y: float) -> Point:
        """Where a point is."""
        return LEFT + self.x.share(x) * (RIGHT - LEFT), BOTTOM - self.y.share(y) * (BOTTOM - TOP)

    def line(self, points: Iterable[Point], kind: str) -> str:
        """Draw a line through points."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.at(*point) for point in points))
        return element("polyline", points=places, class_=f"line {kind}")

    def dot(self, x: float, y: float, radius: float, kind: str, note: str = "") -> str:
        """Draw a point; the note is shown when it is pointed at."""
        cx, cy = self.at(x, y)
        title = [element("title", escape(note))] if note else []
        return element("circle", *title, cx=cx, cy=cy, r=radius, class_=kind)

    def draw(self, *content: str, about: str) -> str:
        """Draw the axes with something in them; ``about`` is for those who cannot see it."""
        return drawing(WIDTH, HEIGHT, *self._across(), *self._down(), *content, about=about)

    def _across(self) -> list[str]:
        marks = []
        for tick in self.x.ticks():
            x, _ = self.at(tick, self.y.low)
            marks.append(element("line", x1=x, x2=x, y1=TOP, y2=BOTTOM, class_="grid"))
            marks.append(_text(self.x.label(tick), x, BOTTOM + 16, "middle"))
        marks.append(_text(self.x.title, (LEFT + RIGHT) / 2, HEIGHT - 8, "middle", "title"))
        return marks

    def _down(self) -> list[str]:
        marks = []
        for tick in self.y.ticks():
            _, y = self.at(self.x.low, tick)
            marks.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="grid"))
            marks.append(_text(self.y.label(tick), LEFT - 6, y + 4, "end"))
        marks.append(_text(self.y.title, LEFT + 4, TOP - 3, "start", "title"))
        return marks


def drawing(width: float, height: float, *content: str, about: str) -> str:
    """Return a picture that is as wide as its place on the page."""
    box = f"0 0 {width:g} {height:g}"
    return element("svg", *content, viewBox=box, role="img", aria_label=about, class_="plot")


def percent(value: float) -> str:
    """Return a share as a percentage, with as many digits as a round number needs."""
    return f"{100 * value:.4g} %"


def power(value: float) -> str:
    """Return a power of ten as such."""
    exponent = round(math.log10(value))
    return "10" + str(exponent).translate(_RAISED)


def thinned(items: list[Point], limit: int = 250) -> list[Point]:
    """Some of many points, evenly spread, the first and the last among them."""
    if len(items) <= limit:
        return items
    return [items[round(n * (len(items) - 1) / (limit - 1))] for n in range(limit)]


def _text(content: str, x: float, y: float, anchor: str, kind: str = "tick") -> str:
    return element("text", escape(content), x=x, y=y, text_anchor=anchor, class_=kind)


def _round(low: float, high: float) -> list[float]:
    """About five multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten, at most six of them."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [10.0**k for k in range(first, last + 1, max(1, -(-(last - first + 1) // 6)))]
