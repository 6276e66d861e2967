"""A small graph with what a model says about its vertices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ...arrays import Array
from ..markup import element, escape
from .colours import colour_of, legend
from .frame import drawing

SIZE, MARGIN = 400.0, 24.0
MOST = 80
"""Vertices of a graph that is drawn."""
STEPS = 200


def plot_network(
    edges: Array,
    names: Sequence[str],
    true: Sequence[Hashable],
    answers: Sequence[Hashable],
    marginals: Array,
    classes: Sequence[Hashable],
) -> str:
    """Draw vertices in the colours of their answers, paler where these are less probable.

    A ring in another colour is the true label of an answer that is wrong.
    """
    places = MARGIN + (SIZE - 2 * MARGIN) * layout(len(names), edges)
    lines = [
        element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="joint")
        for (x1, y1), (x2, y2) in (places[list(pair)].tolist() for pair in np.unique(np.sort(edges), axis=0))
    ]
    radius = 14.0 if len(names) <= 20 else 8.0
    dots = [
        _vertex(place, radius, name, truth, answer, p, classes)
        for place, name, truth, answer, p in zip(
            places.tolist(), names, true, answers, marginals, strict=True
        )
    ]
    about = "A graph. Colours: labels answered; paler ones are less probable. Rings: true labels of errors."
    return drawing(SIZE, SIZE, *lines, *dots, about=about) + legend(classes, [*true, *answers])


def _vertex(
    place: list[float],
    radius: float,
    name: str,
    truth: Hashable,
    answer: Hashable,
    p: Array,
    classes: Sequence[Hashable],
) -> str:
    said = ", ".join(f"{classes[k]} {p[k]:.1%}" for k in np.argsort(-p, kind="stable")[:4])
    known = "not known" if truth is None else str(truth)
    note = element("title", escape(f"{name}: answer {answer}, true label {known}; {said}"))
    x, y = place
    share = float(p[list(classes).index(answer)])
    dot = element(
        "circle",
        note,
        cx=x,
        cy=y,
        r=radius,
        fill=colour_of(answer, classes),
        fill_opacity=max(share, 0.1),
        class_="vertex",
    )
    if truth is None or truth == answer:
        return dot
    ring = element("circle", cx=x, cy=y, r=radius + 3, stroke=colour_of(truth, classes), class_="ring")
    return ring + dot


def layout(count: int, edges: Array) -> Array:
    """Return places in the unit square: all vertices push each other away, edges pull."""
    angle = 2 * np.pi * np.arange(count) / max(count, 1)
    places = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    distance = 1.5 / np.sqrt(max(count, 1))
    tails, heads = np.reshape(edges, (-1, 2)).astype(int).T
    for step in range(STEPS):
        apart = places[:, None] - places[None]
        square = np.maximum((apart**2).sum(axis=-1), 1e-6)
        push = (apart * (distance**2 / square)[..., None]).sum(axis=1) - 0.6 * distance * places
        pull = places[tails] - places[heads]
        pull *= np.sqrt((pull**2).sum(axis=1, keepdims=True)) / distance
        np.subtract.at(push, tails, pull)
        np.add.at(push, heads, pull)
        length = np.sqrt((push**2).sum(axis=1, keepdims=True))
        places = places + push / np.maximum(length, 1e-9) * np.minimum(length, 0.3 * (1 - step / STEPS))
    if count == 0:
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - (low + high) / 2) / max(float((high - low).max()), 1e-9) + 0.5)
