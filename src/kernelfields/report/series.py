"""Sequences of numbers in time, as a report draws them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby

import numpy as np

from ..arrays import Array
from .evaluation import Evaluation, TestSequences
from .markup import element, escape
from .plots.colours import UNKNOWN, colour_of, legend
from .plots.frame import drawing, thinned
from .ranking import order, wrong_labels

DRAWN = 12
"""Sequences that are drawn."""
LONGEST = 20_000
"""Positions of a sequence that can be drawn."""


def are_series(sequences: TestSequences) -> bool:
    """Return whether positions are rows of numbers, which have no texts, one after the other in time."""
    plain = sequences.parents is None and sequences.edges is None and sequences.shapes is None
    texts = (tokens for tokens in sequences.tokens if tokens)
    return plain and all(tokens == [str(t) for t in range(len(tokens))] for tokens in texts)


def timelines(evaluation: Evaluation) -> str:
    """Return a section with a timeline of every sequence, those with most errors first."""
    sequences = evaluation.sequences
    if not are_series(sequences):
        return ""
    chosen = [s for s in order(sequences) if 1 < len(sequences.true[s]) <= LONGEST][:DRAWN]
    if not chosen:
        return ""
    wrong = wrong_labels(sequences)
    drawn = [
        element(
            "figure",
            element("figcaption", escape(_caption(sequences, s, wrong[s]))),
            plot_timeline(sequences.true[s], sequences.answers[s], sequences.marginals[s], sequences.classes),
        )
        for s in chosen
    ]
    used = [label for s in chosen for label in (*sequences.true[s], *sequences.answers[s])]
    said = (
        "Answers are paler where they are less probable. Most errors first. Point at a band for its numbers."
    )
    return element(
        "section",
        element("h2", "In time"),
        element("p", escape(said), class_="note"),
        legend(sequences.classes, used),
        element("div", *drawn, class_="timelines"),
    )


def _caption(sequences: TestSequences, s: int, wrong: int) -> str:
    return f"{sequences.name(s)}: {wrong:,} of {len(sequences.true[s]):,} wrong"


WIDTH, LEFT = 1100.0, 74.0
BAND, GAP, CURVE = 20.0, 4.0, 44.0
TICKS = 10
NOT_OBSERVED = "not observed"


def plot_timeline(
    true: Sequence[Hashable], answers: Sequence[Hashable], marginals: Array, classes: Sequence[Hashable]
) -> str:
    """Draw truth, answers (paler where less probable), and p(answer) as a curve, over positions.

    Parameters
    ----------
    true, answers : sequences of labels
        Of T positions; true ones may be None.
    marginals : (T, L) array
        p(y_t|x).
    classes : sequence of labels
        Those of the columns.
    """
    column = {label: k for k, label in enumerate(classes)}
    p = np.asarray(marginals)[np.arange(len(answers)), [column[label] for label in answers]]
    scale = (WIDTH - LEFT - 8) / max(len(true), 1)
    low = 2 * BAND + 2 * GAP + CURVE
    content = [
        *_band("true", true, None, classes, scale, 0.0),
        *_band("answered", answers, p, classes, scale, BAND + GAP),
        *_curve(p, scale, 2 * (BAND + GAP)),
        *_ticks(len(true), scale, low),
    ]
    about = "Bands over time: true labels, answers, and the probability of the answers."
    return drawing(WIDTH, low + 20, *content, about=about)


def _band(
    name: str,
    labels: Sequence[Hashable],
    p: Array | None,
    classes: Sequence[Hashable],
    scale: float,
    top: float,
) -> Iterator[str]:
    yield element("text", name, x=LEFT - 6, y=top + BAND * 0.7, text_anchor="end", class_="tick")
    start = 0
    for label, run in groupby(labels):
        end = start + sum(1 for _ in run)
        sure = 1.0 if p is None else float(p[start:end].mean())
        said = NOT_OBSERVED if label is None else str(label)
        said += f", positions {start} to {end - 1}" + ("" if p is None else f", probability {sure:.0%}")
        colour = UNKNOWN if label is None else colour_of(label, classes)
        place = {"x": LEFT + start * scale, "y": top, "width": (end - start) * scale, "height": BAND}
        strength = 0.25 if label is None else max(sure**2, 0.12)
        yield element("rect", element("title", escape(said)), **place, fill=colour, fill_opacity=strength)
        start = end


def _curve(p: Array, scale: float, top: float) -> Iterator[str]:
    floor = top + CURVE
    yield element("rect", x=LEFT, y=top, width=len(p) * scale, height=CURVE, class_="back")
    places = [(LEFT + (t + 0.5) * scale, floor - CURVE * float(value)) for t, value in enumerate(p)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in thinned(places, 800))
    yield element("polyline", points=points, class_="line main thin")
    for share, text in ((0.0, "0"), (1.0, "1")):
        place = floor - CURVE * share + (8 if share else 0)
        yield element("text", text, x=LEFT - 6, y=place, text_anchor="end", class_="tick")
    middle = floor - CURVE / 2 + 3
    yield element("text", "probability", x=LEFT - 6, y=middle, text_anchor="end", class_="tick")


def _ticks(length: int, scale: float, low: float) -> Iterator[str]:
    rough = max(length / TICKS, 1)
    power = 10 ** (len(str(int(rough))) - 1)
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= rough)
    for t in range(0, length, step):
        yield element("text", str(t), x=LEFT + t * scale, y=low + 14, text_anchor="middle", class_="tick")
