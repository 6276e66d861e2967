"""Sequences of numbers in time, as a report draws them."""

from __future__ import annotations

from .evaluation import Evaluation, TestSequences
from .markup import element, escape
from .plots.colours import legend
from .plots.timeline import plot_timeline
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
